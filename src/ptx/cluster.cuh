// Clusters of thread blocks that reach each other's shared memory. Lowest SM: 90; below it every
// function stops the kernel, and the plan chooses no kernel that calls one. Device only.
//
// A block must not end while another may still write to its shared memory or read it: it ends once
// it has received all that is sent to it, or after a cluster_sync().
#pragma once

#include <cstdint>

namespace mygemm::ptx {

// The special registers of a block's cluster.
enum class ClusterRegister { kRank, kBlocks, kNumber, kCount };

template <ClusterRegister kRegister>
__device__ __forceinline__ unsigned read_cluster_register() {
  unsigned value = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  if constexpr (kRegister == ClusterRegister::kRank) {
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  } else if constexpr (kRegister == ClusterRegister::kBlocks) {
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
  } else if constexpr (kRegister == ClusterRegister::kNumber) {
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(value));
  } else {
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(value));
  }
#endif
  return value;
}

// %cluster_ctarank: this block's number within its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  return read_cluster_register<ClusterRegister::kRank>();
}

// %cluster_nctarank: blocks of a cluster.
__device__ __forceinline__ unsigned cluster_blocks() {
  return read_cluster_register<ClusterRegister::kBlocks>();
}

// %clusterid.x: this cluster's number within the grid.
__device__ __forceinline__ unsigned cluster_number() {
  return read_cluster_register<ClusterRegister::kNumber>();
}

// %nclusterid.x: clusters of the grid.
__device__ __forceinline__ unsigned cluster_count() {
  return read_cluster_register<ClusterRegister::kCount>();
}

// barrier.cluster.arrive.relaxed: one arrival. Threads that wait see, of this thread's earlier
// writes, only barriers with mbarrier_init_fence() behind them: a fence for all writes takes as
// long as a round trip to L2. Every thread must call, and wait before it arrives again.
__device__ __forceinline__ void cluster_arrive_relaxed() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

// barrier.cluster.wait: until every thread of the cluster has arrived.
__device__ __forceinline__ void cluster_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// barrier.cluster: until every thread of the cluster is here; what each wrote before is then seen
// by all. Every thread must call.
__device__ __forceinline__ void cluster_sync() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  cluster_wait();
#endif
}

// st.async: writes `value` to the variable of block `rank` that is `shared` here, and counts 8
// bytes on that block's `barrier` when it is there. To the own block too.
__device__ __forceinline__ void store_async_8(void* shared, uint64_t* barrier, unsigned rank,
                                              uint64_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n"
      ".reg .b32 there, done;\n"
      "mapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 done, %1, %2;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [there], %3, [done];\n"
      "}" ::"r"(here),
      "r"(done), "r"(rank), "l"(value)
      : "memory");
#endif
}

// The same of 4 bytes.
__device__ __forceinline__ void store_async_4(float* shared, uint64_t* barrier, unsigned rank,
                                              float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n"
      ".reg .b32 there, done;\n"
      "mapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 done, %1, %2;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %3, [done];\n"
      "}" ::"r"(here),
      "r"(done), "r"(rank), "r"(__float_as_uint(value))
      : "memory");
#endif
}

// ld.shared::cluster: the variable of block `rank` that is `shared` here. From the own block too.
__device__ __forceinline__ int load_shared_4_of(unsigned rank, const int* shared) {
  int value = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %1, %2;\n"
      "ld.shared::cluster.s32 %0, [there];\n"
      "}"
      : "=r"(value)
      : "r"(here), "r"(rank)
      : "memory");
#endif
  return value;
}

// ld.shared::cluster.v4: 16 bytes of the variable of block `rank` that is `shared` here, a multiple
// of 16. From the own block too.
__device__ __forceinline__ float4 load_shared_16_of(unsigned rank, const float* shared) {
  float4 value = {};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();
#else
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
      "}"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "r"(here), "r"(rank)
      : "memory");
#endif
  return value;
}

}  // namespace mygemm::ptx
