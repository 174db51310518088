// Warp-uniform values, reductions over a warp, election of a lane. Any SM. Device only.
#pragma once

namespace mygemm::ptx {

// This warp's number within the block, broadcast from one lane: the compiler then knows that it is
// warp-uniform, and keeps values that depend on it in uniform registers.
__device__ __forceinline__ int warp_number() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
}

// blockIdx.x and threadIdx.x, read again at each call: values that are derived from them before a
// loop and derived again behind it then take no registers in the loop.
__device__ __forceinline__ unsigned block_again() {
  unsigned block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}
__device__ __forceinline__ int thread_again() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

// Broadcasts a warp-uniform value from one lane, for the same reason.
__device__ __forceinline__ int warp_uniform(int value) {
  return __shfl_sync(0xffffffffu, value, 0);
}

// redux.sync: the maximum, and the minimum, over the lanes of a warp. Before SM 80 by shuffles.
__device__ __forceinline__ unsigned largest_in_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int apart = 16; apart > 0; apart /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffu, value, apart));
  }
  return value;
#else
  return __reduce_max_sync(0xffffffffu, value);
#endif
}
__device__ __forceinline__ unsigned smallest_in_warp(unsigned value) {
  return ~largest_in_warp(~value);
}

// A warp-uniform value in a uniform register, where redux.sync, unlike shfl, leaves its result:
// what is made of it is made in such registers, too.
__device__ __forceinline__ unsigned in_uniform_register(unsigned value) {
  return largest_in_warp(value);
}

// elect.sync: true for one lane of the warp. All lanes must call. From SM 90 on copies that one
// lane starts then take their operands from uniform registers without a loop over lanes.
__device__ __forceinline__ bool elect_one() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  return threadIdx.x % 32 == 0;
#else
  unsigned elected = 0;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
#endif
}

}  // namespace mygemm::ptx
