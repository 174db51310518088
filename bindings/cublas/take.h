// Decides whether mygemm takes a call, and runs it. A call that mygemm does not take has had no
// effect, and is forwarded to cuBLAS to be run or refused.
#pragma once

#include <cublas_api.h>

#include <cstdint>
#include <optional>

#include "functions.h"

namespace mygemm::cublas {

struct Operand {
  const void* matrix;  // of a pointer-batched call: the array of pointers
  int64_t ld;
  int64_t stride = 0;
  cudaDataType type = CUDA_R_32F;
};

enum class Batch { kNone, kStrided, kPointers };

// A product in cuBLAS's terms. The scalars follow the handle's pointer mode.
struct GemmCall {
  cublasOperation_t transa, transb;
  int64_t m, n, k;
  const void* alpha;
  Operand a, b;
  const void* beta;
  Operand c;
  Batch batch = Batch::kNone;
  int64_t batch_count = 1;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
};

// C = alpha op(A) + beta op(B), in cublasSgeam's terms.
struct GeamCall {
  cublasOperation_t transa, transb;
  int64_t m, n;
  const float* alpha;
  const float* a;
  int64_t lda;
  const float* beta;
  const float* b;
  int64_t ldb;
  float* c;
  int64_t ldc;
};

// A triangle of C = alpha op(A) op(B)^T + beta C, in cublasSsyrkx's terms; B is A in cublasSsyrk.
struct SyrkCall {
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  int64_t n, k;
  const float* alpha;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  const float* beta;
  float* c;
  int64_t ldc;
};

// Group i of products of one shape: group_size[i] matrices of each operand, whose addresses follow
// those of the groups before in arrays of device memory. All other arrays are host memory, but
// scalars follow the handle's pointer mode. Int: int or int64_t.
template <class Int>
struct GroupedCall {
  const cublasOperation_t *transa, *transb;
  const Int *m, *n, *k;
  const float* alpha;
  const float* const* a;
  const Int* lda;
  const float* const* b;
  const Int* ldb;
  const float* beta;
  float* const* c;
  const Int* ldc;
  Int group_count;
  const Int* group_size;
};

// The status of the call where mygemm took it; nothing where it did not. Counts it either way.
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GemmCall& call);
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GeamCall& call);
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const SyrkCall& call);
template <class Int>
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle,
                                   const GroupedCall<Int>& call);

}  // namespace mygemm::cublas
