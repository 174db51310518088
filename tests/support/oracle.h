// Test support: expected results in FP64, with the tolerance of each, and the comparison.
// Independent of the library: written from the header's text, includes nothing of src/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mygemm/mygemm.h"

namespace mygemm_tests {

// ---- element types -----------------------------------------------------------------------------

int64_t type_bytes(mygemmDataType_t type);
const char* type_name(mygemmDataType_t type);

// The element at `element`, exactly; and the nearest element of the type, written there.
double decode(mygemmDataType_t type, const void* element);
void encode(mygemmDataType_t type, double value, void* element);

// The distance between neighbours of the type around `value`.
double ulp(mygemmDataType_t type, double value);

// ---- references --------------------------------------------------------------------------------

// Values row by row (softmax, transpose) or column by column (gemm), without padding.
struct Reference {
  std::vector<double> value;
  std::vector<double> tolerance;  // |result - value| may be at most this
  // Additional tolerance of 16-bit results before they are rounded: kernels compute exponentials to
  // 16 bits only. Empty: none.
  std::vector<double> tolerance_16_bit;
};

struct GemmArguments {
  bool transa, transb;
  int64_t m, n, k;
  float alpha;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float beta;
  const float* c;
  int64_t ldc;
  double least_bound = 0;  // in place of sum_bound(k), where that is less
};

// Error bound of a chain of FP32 operations, relative to |A||B|: the worst case for short sums, and
// for long ones several times the error of random rounding. TF32 products exceed it.
double sum_bound(int64_t terms);

// Error bound of products on tensor cores (tf32x3 kernels) for sums of any length: for the product
// of two low parts, which is left out, 8 units; for the last bits of low parts, 2 and 4; and 2 for
// every 8 k, of up to 32, whose sum is truncated and not rounded. sum_bound() is less only where k
// is so small that these kernels must be forced.
constexpr double kTensorBound = 24 * 0x1p-24;

// The sum of `count` products, and that of their magnitudes.
void sum_products(int64_t count, const double* a, const double* b, double* sum, double* magnitude);
// One element of alpha op(A) op(B) + beta C and its tolerance.
void gemm_element(const GemmArguments& gemm, int64_t i, int64_t j, double* value,
                  double* tolerance);
Reference gemm_reference(const GemmArguments& gemm);

// Inputs are dense rows x cols values as decoded. The tolerances are those of FP32 computation;
// rounding to the output's type is added by compare().
Reference softmax_reference(mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols, double scale,
                            const std::vector<double>& x);
Reference softmax_backward_reference(mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols,
                                     double scale, const std::vector<double>& y,
                                     const std::vector<double>& dy);

// A masked softmax's arguments besides its matrices; see mygemm_softmax_ex. What it masks is not
// looked at in the matrices.
struct MaskedScores {
  mygemmSoftmaxMode_t mode;
  int64_t rows, cols;
  double scale, softcap;
  bool zeros;                         // in rows with nothing left
  const std::vector<int64_t>& valid;  // the columns of each row that are not masked by number
  const std::vector<double>& mask;    // added to each element
};
Reference masked_softmax_reference(const MaskedScores& call, const std::vector<double>& x);
Reference masked_softmax_backward_reference(const MaskedScores& call, const std::vector<double>& x,
                                            const std::vector<double>& y,
                                            const std::vector<double>& dy);

// A cross entropy's arguments besides its logits; see mygemm_cross_entropy.
struct LossArguments {
  int64_t rows, cols;
  const std::vector<int64_t>& targets;
  int64_t ignore_index;
  double smoothing, z_loss;
  const std::vector<double>& weights;  // the factors of the rows' gradients
  bool all_16_bits;                    // logits and gradient
};
struct LossReference {
  Reference loss, lse;  // a value for each row
  Reference dx;
};
LossReference cross_entropy_reference(const LossArguments& call, const std::vector<double>& x);

// ---- comparison --------------------------------------------------------------------------------

// Compares results with their expected values and keeps the worst. An unexpected NaN is a failure,
// and so is a number where NaN is expected.
class Comparison {
 public:
  void add(int64_t i, int64_t j, double got, double expected, double tolerance);
  // Success, or a failure that names the worst element.
  ::testing::AssertionResult result() const;
  // The largest error over its tolerance.
  double worst_ratio() const { return worst_ratio_; }

 private:
  int64_t elements_ = 0;
  int64_t wrong_ = 0;
  double worst_ratio_ = -1;
  std::string worst_;
};

// A row-major rows x cols matrix of `type` with leading dimension `ld`, against a reference.
::testing::AssertionResult compare(mygemmDataType_t type, const void* result, int64_t rows,
                                   int64_t cols, int64_t ld, const Reference& reference);

}  // namespace mygemm_tests
