// The plain structs that flow through the library: api -> validate -> plan -> launch -> kernel.
// Kernels take problems by value as they are. constexpr functions here also run on the device.
// Includes nothing of the project but the ABI; no CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mygemm/mygemm.h"

namespace mygemm {

// For a >= 0, b > 0; cannot overflow.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
// The same for b = 2^log2, which is not worth a division.
constexpr int64_t ceil_shift(int64_t a, int log2) {
  return (a >> log2) + ((a & ((int64_t{1} << log2) - 1)) != 0);
}

constexpr int64_t element_bytes(mygemmDataType_t type) { return type == MYGEMM_R_32F ? 4 : 2; }

// alpha or beta: a value known now, or a device address that the kernel reads.
struct Scalar {
  float value;           // NaN where it is not known now
  const float* address;  // as the caller gave it
  bool on_device;

  // True only where the value is known now.
  constexpr bool is(float known) const { return value == known; }
};

// One operand of a batched product: column-major matrices of an element type that is known at run
// time. Matrix i of the batch is pointers ? pointers[i] : data + i * stride elements. Within the
// library ld may be 0: all columns are the same.
struct Operand {
  void* data;  // inputs are never written through it
  void* const* pointers;
  int64_t ld;
  int64_t stride;
  mygemmDataType_t type = MYGEMM_R_32F;

  // Element: the C++ type of `type`; const for inputs.
  template <class Element>
  constexpr Element* matrix(int64_t i) const {
    return pointers ? static_cast<Element*>(pointers[i]) : static_cast<Element*>(data) + i * stride;
  }
  // The place that lies so many elements behind the first, in a strided batch.
  constexpr void* at(int64_t elements) const {
    return static_cast<char*>(data) + elements * element_bytes(type);
  }
  // Matrix i, where the type is not known.
  constexpr void* address(int64_t i) const { return pointers ? pointers[i] : at(i * stride); }
};

// How a sum of products becomes an element of D: activation(alpha * sum + beta * C + bias).
struct Epilogue {
  Scalar alpha, beta;
  const void* bias = nullptr;  // a value for each row of D, of D's type, or nullptr
  int64_t stride_bias = 0;     // elements from one matrix's bias to the next one's
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  // Floats or bits that the activation writes or reads, or nullptr. Element (i, j) of a matrix is
  // number matrix * stride_aux + i + j * ldaux.
  void* aux = nullptr;
  int64_t ldaux = 0, stride_aux = 0;

  constexpr bool is_gradient() const {
    return activation == MYGEMM_ACTIVATION_RELU_GRADIENT ||
           activation == MYGEMM_ACTIVATION_GELU_GRADIENT;
  }
  // Whether aux is written or read; gradients need it.
  constexpr bool has_aux() const { return aux != nullptr || is_gradient(); }
  // Elements of aux are bits.
  constexpr bool aux_is_bits() const {
    return activation == MYGEMM_ACTIVATION_RELU || activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  }
  // RELU leaves bits: a pass of its own over D, since a word of bits has 32 rows.
  constexpr bool stores_bits() const {
    return aux != nullptr && activation == MYGEMM_ACTIVATION_RELU;
  }
};

// The sums that a product makes besides D, each of a row of D or op(A) or of a column of op(B).
struct Sums {
  mygemmSums_t of = MYGEMM_SUMS_NONE;
  float* data = nullptr;
  int64_t stride = 0;  // elements from one matrix's sums to the next one's
};

// Rows begin <= i < end.
struct RowRange {
  int64_t begin, end;
};

struct GemmConfig;
struct GemmFigures;
struct GemmFacts;

// D = activation(alpha op(A) op(B) + beta C + bias), batch_count times. See mygemm_gemm.
struct GemmProblem {
  using Config = GemmConfig;
  using Figures = GemmFigures;
  using Facts = GemmFacts;

  bool transa, transb;
  // The epilogue is more than alpha and beta, C is not D, or a triangle: see update_fused(). Where
  // it is false, kernels look at no other field of the epilogue or C: with tests of those fields
  // instead, products of 8 to 13 us with a thin side took 1.8 us longer (H200).
  bool fused;
  bool invariant = false;  // MYGEMM_INVARIANCE_BATCH
  int64_t m, n, k;
  Operand a, b, d;
  Epilogue epilogue;
  Operand c;  // may be d
  int64_t batch_count;
  bool pointer_arrays;   // the operands are arrays of pointers, NULL or not
  bool readable_arrays;  // and the arrays are host memory
  mygemmMathMode_t math;
  mygemmFill_t fill = MYGEMM_FILL_FULL;  // the part of D that is computed: see plan/triangle.h
  bool output_is_c = false;  // D is called C by the caller: mygemm_sgemm and its siblings
  Sums sums = {};            // steps behind the product: see gemm_steps.h

  // Element (i, j) of D is computed; and the rows of column j that are: begin <= i < end.
  constexpr bool fills(int64_t i, int64_t j) const {
    return fill == MYGEMM_FILL_FULL || (fill == MYGEMM_FILL_LOWER ? i >= j : i <= j);
  }
  // A tile of D from element (i, j) on has such elements, if they are inside D.
  constexpr bool fills_some(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return fills(i + rows - 1, j) || fills(i, j + columns - 1);
  }
  constexpr RowRange filled_rows(int64_t j) const {
    return {fill == MYGEMM_FILL_LOWER ? j : 0, fill == MYGEMM_FILL_UPPER ? j + 1 : m};
  }
  // D does not depend on A and B.
  constexpr bool scales_only() const { return k == 0 || epilogue.alpha.is(0.0f); }
  // The matrices of C are those of D.
  constexpr bool in_place() const {
    return c.data == d.data && c.pointers == d.pointers && c.ld == d.ld && c.stride == d.stride;
  }
  constexpr bool only_scales() const {
    return epilogue.bias == nullptr && epilogue.activation == MYGEMM_ACTIVATION_NONE && in_place();
  }
  // To be called once C, D, fill or the epilogue has been set.
  constexpr void update_fused() { fused = !only_scales() || fill != MYGEMM_FILL_FULL; }
  // The extent of the contiguous dimension of A and B as stored.
  constexpr int64_t a_rows() const { return transa ? k : m; }
  constexpr int64_t a_cols() const { return transa ? m : k; }
  constexpr int64_t b_rows() const { return transb ? n : k; }
  constexpr int64_t b_cols() const { return transb ? k : n; }
};

// The size that the products of a group divide among them: see Groups.
enum class Stacked : uint8_t { kNone, kM, kN, kK };

// Whether the products' matrices A, B, or C and D, are parts of one.
constexpr bool shares_a(Stacked along) { return along == Stacked::kM || along == Stacked::kK; }
constexpr bool shares_b(Stacked along) { return along == Stacked::kN || along == Stacked::kK; }
constexpr bool shares_d(Stacked along) { return along == Stacked::kM || along == Stacked::kN; }

// Sizes and leading dimensions of the products of a batch: arrays of batch_count elements of
// `type`, or nullptr where all products have that of the problem. See mygemm_gemm_grouped.
struct Groups {
  const void *m = nullptr, *n = nullptr, *k = nullptr;
  const void *lda = nullptr, *ldb = nullptr, *ldc = nullptr, *ldd = nullptr;
  int64_t total = 0;  // of the stacked size
  mygemmIndexType_t type = MYGEMM_INDEX_32I;
  Stacked stacked = Stacked::kNone;
  bool on_device = false;
  bool ends = false;  // elements of the stacked size are sums: that of the product and those before

  constexpr int64_t element(const void* array, int64_t i) const {
    return type == MYGEMM_INDEX_32I ? static_cast<const int32_t*>(array)[i]
                                    : static_cast<const int64_t*>(array)[i];
  }
  constexpr const void* stacked_sizes() const {
    return stacked == Stacked::kM ? m : stacked == Stacked::kN ? n : k;
  }
  constexpr bool has_leading_dimensions() const { return lda || ldb || ldc || ldd; }
  // The products are those of a batch.
  constexpr bool all_alike() const { return !m && !n && !k && !has_leading_dimensions(); }
};

struct GroupedFacts;

// Products of different sizes. See mygemm_gemm_grouped and grouped_sizes.h.
struct GroupedProblem {
  using Config = GemmConfig;
  using Figures = GemmFigures;
  using Facts = GroupedFacts;

  GemmProblem most;  // batch_count products of the largest sizes that any may have
  Groups groups;
};

// A row-major matrix whose element type is known at run time; row r starts at element r * ld.
struct TypedMatrix {
  void* data;  // inputs are never written through it
  mygemmDataType_t type;
  int64_t ld;
};

// The arguments of mygemm_softmax_ex that mygemm_softmax does not have.
struct SoftmaxMasking {
  // Row `row` of group `group` of batch `batch`.
  struct Place {
    int64_t batch, group, row;
  };
  // Elements from one place to the next; may be 0, those of a mask negative.
  struct Strides {
    int64_t batch = 0, group = 0, row = 0;

    constexpr int64_t offset(const Place& at) const {
      return at.batch * batch + at.group * group + at.row * row;
    }
  };

  int64_t group_rows = 0, batch_groups = 0;  // 0: all
  float softcap = 0.0f;                      // 0: none
  float capped_scale = 0.0f;                 // scale / softcap, where there is one
  TypedMatrix x = {};                        // backward with softcap only
  const void* mask = nullptr;
  mygemmDataType_t mask_type = MYGEMM_R_32F;
  Strides mask_strides = {};
  int64_t mask_stride_col = 1;
  const void* lengths = nullptr;
  mygemmIndexType_t lengths_type = MYGEMM_INDEX_32I;
  Strides lengths_strides = {};
  bool causal = false;
  int64_t causal_offset = 0;  // within +-kMostCausalOffset
  bool empty_rows_are_zero = false;

  static constexpr int64_t kMostCausalOffset = int64_t{1} << 61;

  constexpr bool changes_nothing() const {
    return softcap == 0.0f && !mask && !lengths && !causal && !empty_rows_are_zero;
  }
  // Where row r is. Divisions of 32 bits take a fraction of the time of others.
  constexpr Place place_of(int64_t r) const {
    if (group_rows == 0 || r < group_rows) return {0, 0, r};
    const bool narrow = r <= UINT32_MAX;
    const int64_t group =
        narrow ? static_cast<uint32_t>(r) / static_cast<uint32_t>(group_rows) : r / group_rows;
    const int64_t row = r - group * group_rows;
    if (batch_groups == 0 || group < batch_groups) return {0, group, row};
    const int64_t batch = narrow
                              ? static_cast<uint32_t>(group) / static_cast<uint32_t>(batch_groups)
                              : group / batch_groups;
    return {batch, group - batch * batch_groups, row};
  }
  // The columns of a row of `cols` that are not masked by their number.
  constexpr int64_t valid_columns(const Place& at, int64_t cols) const {
    int64_t valid = cols;
    if (causal && at.row + causal_offset + 1 < valid) valid = at.row + causal_offset + 1;
    if (lengths) {
      const int64_t i = lengths_strides.offset(at);
      const int64_t length = lengths_type == MYGEMM_INDEX_32I
                                 ? static_cast<const int32_t*>(lengths)[i]
                                 : static_cast<const int64_t*>(lengths)[i];
      if (length < valid) valid = length;
    }
    return valid < 0 ? 0 : valid;
  }
};

struct SoftmaxConfig;
struct SoftmaxFigures;
struct SoftmaxFacts;

// Softmax or its gradient over rows x cols. See mygemm_softmax, mygemm_softmax_backward and
// mygemm_softmax_ex.
struct SoftmaxProblem {
  using Config = SoftmaxConfig;
  using Figures = SoftmaxFigures;
  using Facts = SoftmaxFacts;

  mygemmSoftmaxMode_t mode;
  bool backward;
  int64_t rows, cols;
  float scale;
  TypedMatrix in;   // x, or y when backward
  TypedMatrix dy;   // only when backward
  TypedMatrix out;  // y, or dx when backward
  // What mygemm_softmax_ex has more, as long as the call lasts; nullptr: nothing.
  const SoftmaxMasking* masking = nullptr;

  constexpr bool log_mode() const { return mode == MYGEMM_LOG_SOFTMAX; }
};

struct CrossEntropyConfig;
struct CrossEntropyFigures;
struct CrossEntropyFacts;

// The loss of rows x cols logits, and its gradient. See mygemm_cross_entropy.
struct CrossEntropyProblem {
  using Config = CrossEntropyConfig;
  using Figures = CrossEntropyFigures;
  using Facts = CrossEntropyFacts;

  int64_t rows, cols;
  TypedMatrix x, dx;    // dx.data may be nullptr: no gradient
  const void* targets;  // of target_type
  mygemmIndexType_t target_type;
  int64_t ignore_index;
  const float* dloss;  // or nullptr
  int64_t stride_dloss;
  float *loss, *lse;  // or nullptr
  float label_smoothing, z_loss, gradient_scale;

  constexpr bool has_gradient() const { return dx.data != nullptr; }
  constexpr bool has_output() const { return has_gradient() || loss || lse; }
  // The class of a row as the caller gave it.
  constexpr int64_t target(int64_t row) const {
    return target_type == MYGEMM_INDEX_32I ? static_cast<const int32_t*>(targets)[row]
                                           : static_cast<const int64_t*>(targets)[row];
  }
  // The factor of a row's gradient.
  constexpr float weight(int64_t row) const {
    return dloss ? gradient_scale * dloss[row * stride_dloss] : gradient_scale;
  }
  // The softmax whose results are the probabilities: rows lie as its rows do.
  constexpr SoftmaxProblem softmax() const {
    return {MYGEMM_SOFTMAX, false, rows, cols, 1.0f, x, {}, has_gradient() ? dx : x};
  }
};

struct TransposeConfig;
struct TransposeFigures;
struct TransposeFacts;

// out[c][r] = in[r][c] for rows x cols, batch_count times. See mygemm_transpose.
struct TransposeProblem {
  using Config = TransposeConfig;
  using Figures = TransposeFigures;
  using Facts = TransposeFacts;

  int64_t element_size;  // bytes: 1, 2, 4, 8 or 16
  int64_t rows, cols;
  const void* in;
  int64_t ldin, stride_in;  // elements
  void* out;
  int64_t ldout, stride_out;
  int64_t batch_count;

  constexpr bool in_place() const { return in == out; }
};

constexpr int64_t index_bytes(mygemmIndexType_t type) { return type == MYGEMM_INDEX_32I ? 4 : 8; }

// The largest power of two, at most 16, that divides both; used for the alignment of rows.
constexpr int64_t common_alignment(uintptr_t address, int64_t stride_bytes) {
  const uint64_t bits = static_cast<uint64_t>(address) | static_cast<uint64_t>(stride_bytes) | 16u;
  return static_cast<int64_t>(bits & (~bits + 1));
}

}  // namespace mygemm
