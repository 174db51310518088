// Boxes of a tensor copied by the tensor memory accelerator (cp.async.bulk.tensor). Lowest SM: 90;
// below it every function stops the kernel, and the plan chooses no kernel that calls one. Device
// only.
//
// The map is a kernel's parameter, `const __grid_constant__ CUtensorMap`: the accelerator reads it
// where the launch put it, and a copy on a thread's stack is not there. kernels/tensor_map.h makes
// maps.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace mygemm::ptx {

// prefetch.tensormap: the first copy then finds the map in the cache.
__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap* map) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

// cp.async.bulk.tensor.3d: one thread starts the copy of the map's box whose first element is
// (x, y, z), x along the innermost dimension; elements outside the tensor become zeros. The whole
// box's bytes, those zeros too, count on the barrier when they are in shared memory.
__device__ __forceinline__ void tma_load_3d(void* shared, const CUtensorMap* map, uint64_t* barrier,
                                            int x, int y, int z) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(done)
      : "memory");
#endif
}

// The same to the same place in several blocks of the cluster, bit r of `blocks` for the one of
// rank r; the bytes count on the barrier of each that is where `barrier` is here.
__device__ __forceinline__ void tma_load_3d_to_all(void* shared, const CUtensorMap* map,
                                                   uint64_t* barrier, int x, int y, int z,
                                                   unsigned blocks) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(done), "h"(static_cast<unsigned short>(blocks))
      : "memory");
#endif
}

// The copy of a box to the tensor, one of the thread's group of stores; elements outside the tensor
// are not written, but for the rest of 16 bytes at the end of a line (measured on an H200). What
// other threads wrote to shared memory is copied once each has called fence_bulk() and met the
// thread at a barrier.
__device__ __forceinline__ void tma_store_3d(const CUtensorMap* map, const void* shared, int x,
                                             int y, int z) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto from = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
#endif
}

// cp.async.bulk.commit_group: the thread's stores since the last one become a group.
__device__ __forceinline__ void tma_commit_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// cp.async.bulk.wait_group.read: until the thread's stores have read shared memory, but for those
// of the last kPending groups.
template <int kPending = 0>
__device__ __forceinline__ void tma_wait_for_reads_of_stores() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace mygemm::ptx
