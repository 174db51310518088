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

// The status of the call where mygemm took it; nothing where it did not. Counts it either way.
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GemmCall& call);
std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const GeamCall& call);

}  // namespace mygemm::cublas
