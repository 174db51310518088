// Global memory accesses with a cache hint or an order that CUDA has no intrinsic for. Any SM (70
// on for the ordered ones). Device only.
#pragma once

#include <cstdint>

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

// address + `elements`, of which the compiler does not see where it comes from: it would work out
// each of many addresses anew, with multiplications, in place of a chain of additions.
__device__ __forceinline__ const float* moved_by(const float* address, int64_t elements) {
  address += elements;
  asm volatile("" : "+l"(address));
  return address;
}

// st.release.gpu: whoever sees the value with load_acquire() sees what this thread wrote before,
// and what others wrote before a barrier that came before.
__device__ __forceinline__ void store_release(unsigned* address, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

// ld.acquire.gpu
__device__ __forceinline__ unsigned load_acquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

}  // namespace mygemm::ptx
