// Global memory accesses with a cache hint or an order that CUDA has no intrinsic for. Any SM (70
// on for the ordered ones). Device only.
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// address + elements, opaque to the compiler, which would otherwise keep an address, or a multiple
// of the stride, for each of unrolled loads that are a stride apart.
template <class T>
__device__ __forceinline__ T* advanced(T* address, int64_t elements) {
  address += elements;
  asm volatile("" : "+l"(address));
  return address;
}

// ld.global.nc: 4 or 16 bytes that nobody writes while the kernel runs; zeros, and `address` not
// touched, where !valid. Without a branch.
__device__ __forceinline__ float load_4(const float* address, bool valid) {
  float value;
  asm("{\n"
      ".reg .pred valid;\n"
      "setp.ne.u32 valid, %2, 0;\n"
      "mov.f32 %0, 0f00000000;\n"
      "@valid ld.global.nc.f32 %0, [%1];\n"
      "}"
      : "=f"(value)
      : "l"(address), "r"(static_cast<unsigned>(valid)));
  return value;
}

__device__ __forceinline__ float4 load_16(const float* address, bool valid) {
  float4 value;
  asm("{\n"
      ".reg .pred valid;\n"
      "setp.ne.u32 valid, %5, 0;\n"
      "mov.f32 %0, 0f00000000;\n"
      "mov.f32 %1, 0f00000000;\n"
      "mov.f32 %2, 0f00000000;\n"
      "mov.f32 %3, 0f00000000;\n"
      "@valid ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "l"(address), "r"(static_cast<unsigned>(valid)));
  return value;
}

// The same for 2, 8 or 16 bytes of any kind; 2 bytes come in the lower half of a word. The compiler
// keeps their order, and does not move them to where their values are used.
__device__ __forceinline__ unsigned load_2_bytes(const void* address, bool valid) {
  unsigned value;
  asm volatile(
      "{\n"
      ".reg .pred valid;\n"
      "setp.ne.u32 valid, %2, 0;\n"
      "mov.u32 %0, 0;\n"
      "@valid ld.global.nc.u16 %0, [%1];\n"
      "}"
      : "=r"(value)
      : "l"(address), "r"(static_cast<unsigned>(valid)));
  return value;
}

__device__ __forceinline__ uint2 load_8_bytes(const void* address, bool valid) {
  uint2 value;
  asm volatile(
      "{\n"
      ".reg .pred valid;\n"
      "setp.ne.u32 valid, %3, 0;\n"
      "mov.u32 %0, 0;\n"
      "mov.u32 %1, 0;\n"
      "@valid ld.global.nc.v2.u32 {%0, %1}, [%2];\n"
      "}"
      : "=r"(value.x), "=r"(value.y)
      : "l"(address), "r"(static_cast<unsigned>(valid)));
  return value;
}

__device__ __forceinline__ uint4 load_16_bytes(const void* address, bool valid) {
  uint4 value;
  asm volatile(
      "{\n"
      ".reg .pred valid;\n"
      "setp.ne.u32 valid, %5, 0;\n"
      "mov.u32 %0, 0;\n"
      "mov.u32 %1, 0;\n"
      "mov.u32 %2, 0;\n"
      "mov.u32 %3, 0;\n"
      "@valid ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(address), "r"(static_cast<unsigned>(valid)));
  return value;
}

// ld.global.nc.L1::no_allocate: 16 bytes that nobody writes while the kernel runs and that this
// multiprocessor will not read again.
__device__ __forceinline__ uint4 load_once_16(const void* address) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
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
