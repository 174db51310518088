// Makes tensor maps: see tensor_map.h.
#include "kernels/tensor_map.h"

#include <cuda_runtime.h>

namespace mygemm {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// Found through the runtime: a library linked with libcuda does not load without a driver.
Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                             12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) cudaGetLastError();  // clear it: it is ours, not the caller's
  const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return usable ? reinterpret_cast<Encode>(function) : nullptr;
}

// Unsigned integers whatever the tensor holds: some of the floating-point types round or flush
// what they copy.
CUtensorMapDataType type_of(int element_bytes) {
  switch (element_bytes) {
    case 1: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case 2: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case 4: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  }
}

}  // namespace

Status encode_tensor_map(CUtensorMap* map, const TensorMapShape& shape) {
  static const Encode encode = find_encode();
  if (!encode) {
    return fail(MYGEMM_STATUS_NOT_SUPPORTED,
                "the CUDA driver has no cuTensorMapEncodeTiled; kernels with tensor maps need the "
                "driver of CUDA 12.0 or a later one");
  }
  const auto& [address, element_bytes, extents, strides, box, swizzled, fetches_256] = shape;
  const cuuint64_t dims[] = {static_cast<cuuint64_t>(extents[0]),
                             static_cast<cuuint64_t>(extents[1]),
                             static_cast<cuuint64_t>(extents[2])};
  const cuuint64_t byte_strides[] = {static_cast<cuuint64_t>(strides[0]),
                                     static_cast<cuuint64_t>(strides[1])};
  const cuuint32_t box_dims[] = {static_cast<cuuint32_t>(box[0]), static_cast<cuuint32_t>(box[1]),
                                 static_cast<cuuint32_t>(box[2])};
  const cuuint32_t every_element[] = {1, 1, 1};
  const auto encode_now = [&] {
    return encode(
        map, type_of(element_bytes), 3, const_cast<void*>(address), dims, byte_strides, box_dims,
        every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
        fetches_256 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUresult result = encode_now();
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    // The thread has called nothing of CUDA that needs a context. The runtime makes its device's
    // current by itself when a kernel is launched; the driver does not.
    int device = 0;
    if (cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
      result = encode_now();
    }
  }
  if (result == CUDA_SUCCESS) return MYGEMM_STATUS_SUCCESS;
  return fail(
      MYGEMM_STATUS_EXECUTION_FAILED,
      "cuTensorMapEncodeTiled returned error %d for %lld x %lld x %lld elements of %d bytes "
      "at %p, strides of %lld and %lld bytes, box %d x %d x %d%s",
      static_cast<int>(result), static_cast<long long>(extents[0]),
      static_cast<long long>(extents[1]), static_cast<long long>(extents[2]), element_bytes,
      address, static_cast<long long>(strides[0]), static_cast<long long>(strides[1]), box[0],
      box[1], box[2], swizzled ? ", swizzled" : "");
}

}  // namespace mygemm
