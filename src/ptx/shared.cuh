// Dynamic shared memory as a typed struct. Any SM. Device only.
#pragma once

namespace mygemm {

// The block's dynamic shared memory as a T; the launch must have asked for sizeof(T) bytes or
// more. No static shared memory is used anywhere, so sizeof(T) is all a kernel takes. It is aligned
// to 1024 bytes, the period of the tensor maps' swizzle, at no cost.
template <class T>
__device__ __forceinline__ T& shared_storage() {
  extern __shared__ __align__(1024) unsigned char bytes[];
  static_assert(alignof(T) <= 1024);
  return *reinterpret_cast<T*>(bytes);
}

namespace ptx {

// The address of shared memory as instructions take it, opaque to the compiler, which would compute
// it again in every loop, from a special register that is slow to read.
__device__ __forceinline__ unsigned shared_address(const void* shared) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("" : "+r"(address));
  return address;
}

// ld.shared: 4 bytes.
__device__ __forceinline__ unsigned load_shared_4(unsigned address) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
  return value;
}

// ld.shared.v2: 8 bytes from a multiple of 8.
__device__ __forceinline__ uint2 load_shared_8(unsigned address) {
  uint2 value;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "r"(address));
  return value;
}

// st.shared: 4 bytes. A float as such: taken for an unsigned, it had a second register (nvcc 13.0).
__device__ __forceinline__ void store_shared_4(unsigned address, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void store_shared_4(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

// st.shared.v2: 8 bytes to a multiple of 8.
__device__ __forceinline__ void store_shared_8(unsigned address, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(first), "f"(second)
               : "memory");
}

// ld.shared.v4: 16 bytes from a multiple of 16.
__device__ __forceinline__ float4 load_shared_16(unsigned address) {
  float4 value;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(address));
  return value;
}

}  // namespace ptx

}  // namespace mygemm
