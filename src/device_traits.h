// A machine as plans and launches see it: its traits, and how many blocks of a kernel a
// multiprocessor holds at once. constexpr functions here also run on the device. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace mygemm {

// Size in blocks of the largest cluster that every GPU with clusters supports.
constexpr int kPortableCluster = 8;

// The resources of a multiprocessor that its resident blocks share.
struct SmResources {
  int registers;
  int shared_bytes;
  int threads;
  int blocks;
};

// Bytes of shared memory that the CUDA runtime takes for itself from every block.
constexpr int kReservedSharedBytes = 1024;

// The resources of a multiprocessor of compute capability cc, 10 * major + minor.
constexpr SmResources sm_resources(int cc) {
  constexpr int kKiB = 1024;
  switch (cc) {
    case 75: return {65536, 64 * kKiB, 1024, 16};
    case 80: return {65536, 164 * kKiB, 2048, 32};
    case 86: return {65536, 100 * kKiB, 1536, 16};
    case 89:
    case 120: return {65536, 100 * kKiB, 1536, 24};
    default: return {65536, 228 * kKiB, 2048, 32};
  }
}

// Residency: the number of blocks of `threads` threads and `shared_bytes` of shared memory that run
// on a multiprocessor at once, where the compiler limits registers so that register_blocks of them
// fit (__launch_bounds__).
constexpr int residency(const SmResources& sm, int threads, int shared_bytes, int register_blocks) {
  const int by_shared = sm.shared_bytes / (shared_bytes + kReservedSharedBytes);
  return std::min({register_blocks, by_shared, sm.threads / threads, sm.blocks});
}

struct DeviceTraits {
  char name[64];
  int cc;                // 10 * major + minor of the compute capability; 0 is the host
  int num_sms;           // multiprocessors; on the host, threads
  int shared_per_block;  // bytes a block can opt in to
  SmResources sm;
  int64_t l2_bytes;
  double fp32_flops;        // FFMA peak, FLOP/s
  double memory_bandwidth;  // device copy, bytes read + written per second
  bool has_cblas;           // host: a CBLAS was found
  // Numbers of clusters of 1, 2, 4, 8 and 16 blocks that run at once, one block a multiprocessor.
  int clusters[5];
};

// Traits of a GPU by name ("H200", "rtx 4090", case and blanks ignored) or architecture ("sm_86",
// "sm_90a"); nullptr where unknown. devices.cpp has the table.
const DeviceTraits* find_device(const char* name);
std::span<const DeviceTraits> known_devices();

}  // namespace mygemm
