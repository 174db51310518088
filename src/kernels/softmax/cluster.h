// How a cluster of blocks shares a wide row, and the ring of tiles that each warp has in shared
// memory: the plan and the launcher must agree on it. Pure.
#pragma once

#include "kernels/softmax/wide.h"

namespace mygemm {

constexpr int kClusterThreads = 32 * kClusterWarps;
// sizeof(SharedStorage) of the kernel: a barrier, a row's number and what all warps of a cluster
// say of a row; and all that twice.
constexpr int kClusterStorageBytes = 2 * 8 * (2 + (kClusterWarps << kMostLog2Blocks));

struct ClusterRing {
  int log2_blocks;  // of a cluster
  int slots;        // of a warp, each a tile of every input; 0: no row fits
  int slot_bytes;
  int tile_bytes_in;  // of x or y, before dy
  int shared_bytes;   // of a block
};

// Bulk copies move multiples of 16 bytes between addresses that are such: packs of 16-bit elements
// beside FP32 ones are 8 bytes and must come in pairs.
inline bool bulk_copies_fit(const SoftmaxProblem& p) {
  if (layout_of(p) == Layout::kAny) return false;
  if (widths_of(p) != Widths::kMixed) return true;
  const auto pairs = [](const TypedMatrix& matrix) {
    return reinterpret_cast<uintptr_t>(matrix.data) % 16 == 0 && matrix.ld % 8 == 0;
  };
  return layout_of(p) == Layout::kPacks && p.cols % 8 == 0 && pairs(p.in) &&
         (!p.backward || pairs(p.dy));
}

// The ring of the cluster that has a warp for each run.
inline ClusterRing cluster_ring(const SoftmaxProblem& p, const WideRows& rows,
                                const DeviceTraits& device) {
  const int64_t columns = 32 * tile_packs(Fp32Packs::kPack) *
                          (widths_of(p) == Widths::k16Bit ? Packs16::kPack : Fp32Packs::kPack);
  const auto tile_bytes = [columns](const TypedMatrix& matrix) {
    return static_cast<int>(columns * element_bytes(matrix.type));
  };
  ClusterRing ring{};
  while (kClusterWarps << ring.log2_blocks < rows.runs) ++ring.log2_blocks;
  ring.tile_bytes_in = tile_bytes(p.in);
  ring.slot_bytes = ring.tile_bytes_in + (p.backward ? tile_bytes(p.dy) : 0);
  const int each = kClusterWarps * (ring.slot_bytes + 8 + 4 * 32);  // with its barrier and maxima
  const int slots = (device.shared_per_block - kClusterStorageBytes) / each;
  ring.shared_bytes = kClusterStorageBytes + slots * each;
  ring.slots = ring.log2_blocks <= kMostLog2Blocks && rows.most_tiles_of_run() <= slots ? slots : 0;
  return ring;
}

// Clusters that the device runs at once, if there are rows for them.
constexpr int64_t clusters_of(const SoftmaxProblem& p, const ClusterRing& ring,
                              const DeviceTraits& device) {
  return std::min<int64_t>(p.rows, device.clusters[ring.log2_blocks]);
}

// The counter from which clusters draw rows, where that makes a difference.
constexpr int64_t cluster_workspace_bytes(const SoftmaxProblem& p, int64_t clusters) {
  return p.rows > 2 * clusters ? 8 : 0;
}

}  // namespace mygemm
