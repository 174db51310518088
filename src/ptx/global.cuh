// Global memory accesses with a cache hint, where CUDA has no intrinsic. Any SM. Device only.
#pragma once

namespace mygemm::ptx {

// ld.global.nc.L1::no_allocate: 16 bytes that nobody writes while the kernel runs and that this
// multiprocessor will not read again.
__device__ __forceinline__ uint4 load_once_16(const void* address) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

}  // namespace mygemm::ptx
