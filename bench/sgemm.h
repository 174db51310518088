// Matrix products: the operands of one case, every way to call on them, and ours and the libraries'
// as a contest. measure() of contest.h compares their speed, accuracy.h their errors.
#pragma once

#include <cmath>
#include <cstdint>

#include "cases.h"
#include "contest.h"
#include "machine.h"
#include "peers.h"

namespace bench {

// Refers to the case it is made from.
class Product {
 public:
  Product(const Machine& machine, const SgemmCase& c, int64_t sets);

  static int64_t bytes_of_a_set(const SgemmCase& c);

  const RotatedOperand& a_operand() const { return a_; }
  const RotatedOperand& b_operand() const { return b_; }
  const RotatedOperand& output() const { return out_; }
  const float* a(int64_t i) const { return static_cast<const float*>(a_.at(i)); }
  const float* b(int64_t i) const { return static_cast<const float*>(b_.at(i)); }
  float* out(int64_t i) const { return static_cast<float*>(out_.at(i)); }

  // mygemm's call number i, in the case's form.
  mygemmStatus_t call_ours(mygemmHandle_t handle, int64_t i) const;
  void call_cublas(Cublas* cublas, const BlasGemm& gemm, int64_t i) const;

  // A log line holds no scalars: these are used.
  static constexpr float kAlpha = 1.0f, kBeta = 0.0f;

  // The same operands as arrays of pointers; only in that form.
  const float* const* a_pointers(int64_t i) const {
    return static_cast<const float* const*>(a_pointers_.at(i));
  }
  const float* const* b_pointers(int64_t i) const {
    return static_cast<const float* const*>(b_pointers_.at(i));
  }
  float* const* out_pointers(int64_t i) const {
    return static_cast<float* const*>(out_pointers_.at(i));
  }

 private:
  const SgemmCase& c_;
  RotatedOperand a_, b_, out_;
  PointerArrays a_pointers_, b_pointers_, out_pointers_;
};

mygemmOperation_t operation(const std::string& name);  // "N", "T" or "C"

// The memory of `count` matrices of ld x columns, `stride` elements apart.
struct Extent {
  int64_t elements;  // of all of them
  int64_t lead;      // before matrix 0, where the stride is negative

  Extent(int64_t ld, int64_t columns, int64_t stride, int64_t count);
};

RotatedOperand operand(const Machine& machine, const Extent& extent, int64_t sets, uint32_t seed,
                       mygemmDataType_t type = MYGEMM_R_32F);

// The figures of a product's contest; its calls are still to be set. Refers to the product, which
// has `sets` copies of its operands.
template <class Case>
Contest contest_of(const Case& c, const Product& product, int64_t sets, int64_t set_bytes) {
  Contest contest;
  contest.sets = sets;
  contest.operation = operation_name(c);
  contest.label = label(c);
  contest.fields = fields(c);
  contest.family = Family::kGemm;
  contest.work = flops(c);
  contest.set_bytes = static_cast<double>(set_bytes);
  contest.output = &product.output();
  contest.output_type = data_type(c.dtype);
  contest.exact = false;
  // Rounding errors of k terms grow as sqrt(k); TF32 or 16-bit inputs would be far above this. And
  // two roundings of results may be apart.
  const double rounding = c.dtype == "f32" ? 0 : c.dtype == "f16" ? 0x1p-10 : 0x1p-7;
  contest.tolerance = 1e-6 * (1.0 + std::sqrt(static_cast<double>(c.k))) + rounding;
  return contest;
}

// Adds the peers, which compute the plain product, and the name of the naive kernel. same_result:
// the plain product is the result of the case.
void add_peers(Session* session, const SgemmCase& c, const Product& product, bool same_result,
               Contest* contest);

// Sizes must fit int.
BlasGemm blas_gemm(const SgemmCase& c);
// Peers take 32-bit sizes.
bool fits_int(const SgemmCase& c);

// Refers to the case and the product, which has `sets` copies of its operands.
Contest product_contest(Session* session, const SgemmCase& c, const Product& product, int64_t sets);

}  // namespace bench
