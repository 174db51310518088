// The ones of sums.h in device memory.
#include "kernels/gemm/sums.h"

#include <cuda_runtime.h>

namespace mygemm {
namespace {

__device__ const float4 ones = {1.0f, 1.0f, 1.0f, 1.0f};

}  // namespace

Status cuda::find_ones(const float** address) {
  void* found = nullptr;
  CUDA_TRY(cudaGetSymbolAddress(&found, ones));
  *address = static_cast<const float*>(found);
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
