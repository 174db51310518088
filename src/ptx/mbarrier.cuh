// Barriers in shared memory that count arrivals and bytes (mbarrier). Lowest SM: 90; below it every
// function stops the kernel, and the plan chooses no kernel that calls one. Device only.
//
// A barrier has phases, 0 at first. A phase is over once all its arrivals and all the bytes they
// announced are there; the next one begins by itself. One thread initialises a barrier, then comes
// mbarrier_init_fence(), then __syncthreads().
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// mbarrier.init: a phase takes `arrivals`. Once for each barrier of a block.
__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, unsigned arrivals) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
#endif
}

// fence.mbarrier_init: the barriers that this thread initialised exist for asynchronous copies too,
// which do not see a thread's writes otherwise.
__device__ __forceinline__ void mbarrier_init_fence() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// mbarrier.arrive.expect_tx: one arrival, and `bytes` more to come before the phase is over.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64_t* barrier, unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
               : "memory");
#endif
}

// mbarrier.arrive: one arrival.
__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
#endif
}

// The same for a barrier as shared_address() gives it.
__device__ __forceinline__ void mbarrier_arrive_at(unsigned barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

// The same for the barrier of the cluster's block `rank` that is where `barrier` is here. That
// block must not have ended.
__device__ __forceinline__ void mbarrier_arrive_in(unsigned rank, uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(here),
      "r"(rank)
      : "memory");
#endif
}

// mbarrier.arrive ordered behind the loads that returned `bits`, on which its address depends. An
// arrival overtakes loads from shared memory that are in flight: without this dependency a few in
// 10^7 elements of a 4096^3 product came out wrong, in nearly every run (H200). The barrier is
// given as shared_address() gives it.
__device__ __forceinline__ void mbarrier_arrive_behind(unsigned barrier, unsigned bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const unsigned zero = blockIdx.z;  // in every grid of ours, but the compiler does not know
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier + (bits & zero))
               : "memory");
#endif
}

// mbarrier.try_wait.parity, until the phase of this parity (its number modulo 2) is over. Only the
// current and the last phase can be told apart: the last one's parity returns at once.
// The barrier is given as shared_address() gives it.
__device__ __forceinline__ void mbarrier_wait_at(unsigned barrier, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  unsigned over = 0;
  while (over == 0) {  // the instruction gives up after a time of the hardware's choice
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.u32 %0, 1, 0, over;\n"
        "}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
#endif
}

__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, unsigned parity) {
  mbarrier_wait_at(static_cast<unsigned>(__cvta_generic_to_shared(barrier)), parity);
}

}  // namespace mygemm::ptx
