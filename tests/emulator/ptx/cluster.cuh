// Emulator of the CUDA runtime: stands in for src/ptx/cluster.cuh (sm_90). Clusters lie along x.
#pragma once

#include <cstdint>

#include "device_functions.h"
#include "execution.h"
#include "mbarrier.h"
#include "transfer.h"
#include "vector_types.h"

namespace mygemm::ptx {

inline unsigned cluster_rank() {
  emulator::require_hopper("%cluster_ctarank");
  return emulator::cluster_rank();
}

inline unsigned cluster_blocks() {
  emulator::require_hopper("%cluster_nctarank");
  return emulator::cluster_blocks();
}

inline unsigned cluster_number() {
  emulator::require_hopper("%clusterid");
  return blockIdx.x / emulator::cluster_blocks();
}

inline unsigned cluster_count() {
  emulator::require_hopper("%nclusterid");
  return gridDim.x / emulator::cluster_blocks();
}

inline void cluster_arrive_relaxed() { emulator::require_hopper("barrier.cluster"); }

// Arrives too: a thread that has arrived runs on until it waits.
inline void cluster_wait(emulator::Site site = emulator::Site::here()) {
  emulator::require_hopper("barrier.cluster");
  emulator::wait_for_cluster(site);
}

inline void cluster_sync(emulator::Site site = emulator::Site::here()) { cluster_wait(site); }

inline void store_async_8(void* shared, uint64_t* barrier, unsigned rank, uint64_t value) {
  emulator::start_store(shared, barrier, rank, &value, sizeof value);
}

inline void store_async_4(float* shared, uint64_t* barrier, unsigned rank, float value) {
  emulator::start_store(shared, barrier, rank, &value, sizeof value);
}

inline int load_shared_4_of(unsigned rank, const int* shared) {
  int value;
  emulator::load_from_block(&value, rank, shared, sizeof value);
  return value;
}

inline float4 load_shared_16_of(unsigned rank, const float* shared) {
  float4 value;
  emulator::load_from_block(&value, rank, shared, sizeof value);
  return value;
}

}  // namespace mygemm::ptx
