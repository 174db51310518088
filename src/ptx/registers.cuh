// Registers moved between the warpgroups of a block (setmaxnreg). SM 90a; elsewhere both functions
// stop the kernel, and the plan chooses no kernel that calls one. Device only.
//
// All warps of a warpgroup call the same function with the same count, a multiple of 8; those that
// give registers up must do so, or those that ask for more wait for ever.
#pragma once

namespace mygemm::ptx {

// setmaxnreg.inc: waits until the block has given up enough, then this warpgroup has kCount.
template <int kCount>
__device__ __forceinline__ void take_registers() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

// setmaxnreg.dec: this warpgroup keeps kCount.
template <int kCount>
__device__ __forceinline__ void give_up_registers() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();
#else
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
#endif
}

}  // namespace mygemm::ptx
