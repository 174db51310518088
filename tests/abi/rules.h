// ABI tests: the rules of mygemm.h for arguments, stated a second time from the header's text and
// in the plainest way: overlap by visiting every byte. Independent of src/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "mygemm/mygemm.h"

namespace mygemm_tests {

// The memory that holds all legal addresses.
struct Arena {
  const unsigned char* begin;
  int64_t bytes;
};

// A batch of strided matrices as an argument list gives it: `runs` runs of `run` elements.
struct Operand {
  const char* name;
  const void* data;
  int64_t runs, run, ld;
  int64_t batch, stride;
  int64_t element_bytes;
};

// The required result of a call. `culprits`: the arguments that its sentence may name.
struct Verdict {
  mygemmStatus_t status = MYGEMM_STATUS_SUCCESS;
  std::vector<std::string> culprits;
  bool nothing_to_do = false;
  bool open = false;           // the header leaves it to the library
  bool outside_arena = false;  // legal arguments, but outside the arena
  bool interleaved = false;  // the addresses of an input and the output interleave without overlap
  std::vector<bool> writes;  // by byte of the arena, of a legal call
};

struct GemmCall {
  int transa, transb;
  int64_t m, n, k;
  const float* alpha;
  const float* a;
  int64_t lda, stride_a;
  const float* b;
  int64_t ldb, stride_b;
  const float* beta;
  float* c;  // the output, which the general product calls D
  int64_t ldc, stride_c;
  int64_t batch;
  // The general product alone.
  bool general = false;
  const float* old_c = nullptr;  // C, where it is not D
  int64_t ld_old_c = 0, stride_old_c = 0;
  const float* bias = nullptr;
  int64_t stride_bias = 0;
  int types[4] = {};  // of A, B, C and D, whatever their pointers say
  int math = MYGEMM_MATH_OF_HANDLE;
  int activation = MYGEMM_ACTIVATION_NONE;
  void* aux = nullptr;
  int64_t ldaux = 0, stride_aux = 0;
  float* sums = nullptr;
  int64_t stride_sums = 0;
  int sums_of = MYGEMM_SUMS_NONE;
  int fill = MYGEMM_FILL_FULL;
  int invariance = MYGEMM_INVARIANCE_OF_HANDLE;
};

// mygemm_gemm_grouped. Where there are arrays, there are no more than kMost products.
struct GroupedCall : GemmCall {
  static constexpr int kMost = 8;
  struct Array {
    bool given = false;
    int misplaced = 0;  // bytes past a place that is aligned
    int64_t elements[kMost] = {};
  };
  Array arrays[7];  // m, n, k, lda, ldb, ldc, ldd
  int64_t total = 0;
  int index_type = MYGEMM_INDEX_32I, location = MYGEMM_POINTER_MODE_HOST;
  int stacked = 0, ends = 0;

  bool has_arrays() const {
    return std::any_of(std::begin(arrays), std::end(arrays),
                       [](const Array& array) { return array.given; });
  }
};

struct SoftmaxCall {
  bool backward;
  int mode;
  int64_t rows, cols;
  float scale;
  const void* in;  // x; backward: y
  int in_type;
  int64_t in_ld;
  const void* dy;
  int dy_type;
  int64_t dy_ld;
  void* out;  // y; backward: dx
  int out_type;
  int64_t out_ld;
};

// mygemm_softmax_ex; `in` is x, or backward y.
struct MaskedCall : SoftmaxCall {
  int64_t group_rows, batch_groups;
  float softcap;
  const void* x;  // backward with softcap
  int x_type;
  int64_t x_ld;
  const void* mask;
  int mask_type;
  int64_t mask_strides[4];
  const void* lengths;
  int lengths_type;
  int64_t lengths_strides[3];
  int backward_flag, causal, empty_rows;
  int64_t causal_offset;
};

struct LossCall {
  int64_t rows, cols;
  const void* x;
  int xtype;
  int64_t ldx;
  const void* targets;
  int target_type;
  void* dx;
  int dxtype;
  int64_t lddx;
  const float* dloss;
  int64_t stride_dloss;
  float *loss, *lse;
  float smoothing, z_loss, scale;
};

struct TransposeCall {
  size_t element_size;
  int64_t rows, cols;
  const void* in;
  int64_t ldin, stride_in;
  void* out;
  int64_t ldout, stride_out;
  int64_t batch;
};

// The general product's enumerations and element types.
Verdict type_rules(const GemmCall& call);
Verdict rules(const GemmCall& call, const Arena& arena);
Verdict rules(const GroupedCall& call, const Arena& arena);
Verdict rules(const SoftmaxCall& call, const Arena& arena);
Verdict rules(const MaskedCall& call, const Arena& arena);
Verdict rules(const LossCall& call, const Arena& arena);
Verdict rules(const TransposeCall& call, const Arena& arena);

}  // namespace mygemm_tests
