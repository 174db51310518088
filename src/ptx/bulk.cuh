// Bytes copied by the tensor memory accelerator (cp.async.bulk). Lowest SM: 90; below it every
// function stops the kernel, and the plan chooses no kernel that calls one. Device only.
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// cp.async.bulk: one thread starts the copy of `bytes`, which count on the barrier when they are in
// shared memory. Both addresses and `bytes` are multiples of 16, bytes > 0.
__device__ __forceinline__ void bulk_load(void* shared, const void* global, unsigned bytes,
                                          uint64_t* barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(global), "r"(bytes), "r"(done)
      : "memory");
#endif
}

// fence.proxy.async: what this thread has read or written in shared memory so far comes before the
// bulk copies that are started after it. Every thread that read a buffer calls it before the
// barrier after which another thread lets a copy overwrite that buffer.
__device__ __forceinline__ void fence_bulk() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace mygemm::ptx
