// Asynchronous copies from global to shared memory (cp.async). Lowest SM: 80; below it the copies
// are plain loads and stores, done when the call returns. Device only.
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// cp.async.ca 4 bytes; zeros are written, and `global` not touched, where !valid.
__device__ __forceinline__ void cp_async_4(void* shared, const void* global, bool valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<float*>(shared) = valid ? *static_cast<const float*>(global) : 0.0f;
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(global),
               "r"(valid ? 4 : 0)
               : "memory");
#endif
}

// cp.async.cg 16 bytes, both addresses multiples of 16; zeros where !valid.
__device__ __forceinline__ void cp_async_16(void* shared, const void* global, bool valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<float4*>(shared) =
      valid ? *static_cast<const float4*>(global) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
#endif
}

// cp.async.ca 16 bytes, both addresses multiples of 16: L1 keeps them.
__device__ __forceinline__ void cp_async_16_kept(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<float4*>(shared) = *static_cast<const float4*>(global);
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
#endif
}

// The same, of which the first `valid` floats, 0 to 4, are read; the others become zeros.
__device__ __forceinline__ void cp_async_first_of_16(void* shared, const void* global, int valid) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  const float* from = static_cast<const float*>(global);
  float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (valid >= 4) {
    quad = *static_cast<const float4*>(global);
  } else if (valid > 0) {
    quad.x = from[0];
    if (valid > 1) quad.y = from[1];
    if (valid > 2) quad.z = from[2];
  }
  *static_cast<float4*>(shared) = quad;
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
               "r"(4 * valid)
               : "memory");
#endif
}

// cp.async.commit_group: the copies since the last one become a group.
__device__ __forceinline__ void cp_async_commit() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// cp.async.wait_group: until at most kPending of this thread's groups are in flight.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// cp.async.wait_all: until none of this thread's copies are in flight.
__device__ __forceinline__ void cp_async_wait_all() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// cp.async.mbarrier.arrive.noinc, SM 90: one arrival at a barrier of the block (mbarrier.cuh), once
// this thread's copies so far are there.
__device__ __forceinline__ void cp_async_arrive(uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address) : "memory");
#endif
}

}  // namespace mygemm::ptx
