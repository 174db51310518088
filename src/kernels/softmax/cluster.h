// How a cluster of blocks shares a wide row, and the ring of tiles that each warp has in shared
// memory: the plan and the launcher must agree on it. Pure.
#pragma once

#include "kernels/softmax/wide.h"

namespace mygemm {

// Warps of a block, and the most blocks of a cluster, that share a row in shared memory, one or two
// runs for each warp.
constexpr int kClusterWarps = 16, kMostLog2Blocks = 4, kMostRunsOfWarp = 2;
constexpr int kClusterThreads = 32 * kClusterWarps;
// sizeof(SharedStorage) of the kernel: a barrier, a row's number and what all warps of a cluster
// say of a row; and all that twice.
constexpr int kClusterStorageBytes = 2 * 8 * (2 + WideRows::kMostRuns);

struct ClusterRing {
  int log2_blocks;   // of a cluster
  int runs_of_warp;  // one or two
  int tiles;         // of a warp's runs, at most
  int slots;         // of a warp, each a tile of every input; 0: no row fits
  int held;          // tiles of a warp that are kept in registers
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

// Tiles that a warp holds in registers where its slots are too few: one of y and dy, and more of
// fp32 x, whose exponentials are not taken twice.
constexpr int held_tiles(const SoftmaxProblem& p) {
  if (p.backward) return 1;
  return widths_of(p) == Widths::kFp32 ? 3 : 2;
}

// Clusters that the device runs at once, if there are rows for them.
constexpr int64_t clusters_of(const SoftmaxProblem& p, const ClusterRing& ring,
                              const DeviceTraits& device) {
  return std::min<int64_t>(p.rows, device.clusters[ring.log2_blocks]);
}

// The ring of a cluster of 2^log2_blocks blocks.
inline ClusterRing ring_of_cluster(const SoftmaxProblem& p, const WideRows& rows,
                                   const DeviceTraits& device, int log2_blocks) {
  const int64_t columns = 32 * tile_packs(Fp32Packs::kPack) * pack_of(p);
  const auto tile_bytes = [columns](const TypedMatrix& matrix) {
    return static_cast<int>(columns * element_bytes(matrix.type));
  };
  ClusterRing ring{};
  ring.log2_blocks = log2_blocks;
  ring.runs_of_warp = static_cast<int>(ceil_div(rows.runs, kClusterWarps << log2_blocks));
  ring.tiles = static_cast<int>(
      std::min<int64_t>(ceil_div(rows.tiles * ring.runs_of_warp, rows.runs), rows.tiles));
  ring.tile_bytes_in = tile_bytes(p.in);
  ring.slot_bytes = ring.tile_bytes_in + (p.backward ? tile_bytes(p.dy) : 0);
  const int each = kClusterWarps * (ring.slot_bytes + 8 + 4 * 32);  // with its barrier and maxima
  const int slots = (device.shared_per_block - kClusterStorageBytes) / each;
  ring.shared_bytes = kClusterStorageBytes + slots * each;
  ring.held = ring.tiles > slots ? held_tiles(p) : 0;
  const bool fits = ring.runs_of_warp <= kMostRunsOfWarp && ring.tiles <= slots + ring.held;
  ring.slots = fits ? slots : 0;
  return ring;
}

// What clusters take for the rows once they run (measured on an H200): the time of the slowest
// warp, for a row and for each of its tiles, or the bandwidth of the memory; tiles held in
// registers are not replaced while the others are worked on.
inline double cluster_seconds(const SoftmaxProblem& p, const ClusterRing& ring,
                              const DeviceTraits& device) {
  constexpr double kRowSeconds = 1.4e-6, kBlockSeconds = 0.06e-6;
  constexpr double kEfficiency = 0.965, kHeldEfficiency = 0.93;
  const double tile_seconds = !p.backward && widths_of(p) == Widths::k16Bit ? 1.7e-6 : 1.25e-6;
  const double bytes = static_cast<double>(p.rows) * static_cast<double>(p.cols) *
                       static_cast<double>(element_bytes(p.in.type) + element_bytes(p.out.type) +
                                           (p.backward ? element_bytes(p.dy.type) : 0));
  const auto clusters = std::max<int64_t>(1, clusters_of(p, ring, device));
  const auto rounds = static_cast<double>(ceil_div(p.rows, clusters));
  return std::max(
      rounds * (kRowSeconds + kBlockSeconds * (1 << ring.log2_blocks) + tile_seconds * ring.tiles),
      bytes / (device.memory_bandwidth * (ring.held > 0 ? kHeldEfficiency : kEfficiency)));
}

// The ring of the fastest cluster; slots = 0 where none can run.
inline ClusterRing cluster_ring(const SoftmaxProblem& p, const WideRows& rows,
                                const DeviceTraits& device) {
  ClusterRing best{};
  for (int log2_blocks = 0; log2_blocks <= kMostLog2Blocks; ++log2_blocks) {
    const ClusterRing ring = ring_of_cluster(p, rows, device, log2_blocks);
    if (ring.slots == 0 || device.clusters[log2_blocks] == 0) continue;
    if (best.slots == 0 || cluster_seconds(p, ring, device) < cluster_seconds(p, best, device)) {
      best = ring;
    }
    if (ring.runs_of_warp == 1) break;  // more blocks would have nothing to do
  }
  return best;
}

// The counter from which clusters draw rows, where that makes a difference.
constexpr int64_t cluster_workspace_bytes(const SoftmaxProblem& p, int64_t clusters) {
  return p.rows > 2 * clusters ? 8 : 0;
}

}  // namespace mygemm
