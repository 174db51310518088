// How a thin product is cut into blocks, and how long it should take: for the plan, which must know
// the workspace, and for the launcher, which must agree with it. Pure.
//
// The operand of the larger side of C is the long one, X; the other is the thin one, Y. Blocks
// cover a tile of the long side each, or several in passes, and a part of k.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/gemm/sliced.h"
#include "kernels/gemm/tiles.h"
#include "plan/plan.h"

namespace mygemm {

struct ThinShape {
  bool long_is_m;        // X is op(A), Y is op(B); else the other way round
  bool along_k;          // X is contiguous along k; else along the long side
  int64_t extent, thin;  // of the long side and of the thin one
};

inline ThinShape thin_shape(const GemmProblem& p) {
  ThinShape shape{};
  shape.long_is_m = p.n <= p.m;
  shape.extent = std::max(p.m, p.n);
  shape.thin = std::min(p.m, p.n);
  // A single row without gaps is contiguous along k as well.
  shape.along_k = (shape.long_is_m ? p.transa : !p.transb) ||
                  (shape.extent == 1 && (shape.long_is_m ? p.a.ld : p.b.ld) == 1);
  return shape;
}

struct ThinCuts {
  int64_t tile;             // of the long side, of a pass
  int64_t passes;           // tiles of a block, one after the other
  int64_t splits;           // parts that k is cut into
  int64_t depth_per_split;  // k of a part
  unsigned log2_slices;     // of the blocks of a cluster, where its blocks have a part each; else 0
  double blocks;
  double seconds;
};

namespace thin {

constexpr int64_t kMostPasses = 4;
// Parts of k are multiples of what the warps of a block load at a time.
constexpr int64_t kDepthStep = ThinWarps::kStride, kTileStep = 64;
// Blocks that a multiprocessor needs for its share of the bandwidth.
constexpr double kBlocksToFill = 1.2;
// The share of FFMA peak that is left to products between loads.
constexpr double kProductShare = 0.6;
// Of loads and products, what the longer does not hide of the shorter.
constexpr double kNotHidden = 0.2;
// How fast L2 is, as a multiple of the copy bandwidth of device memory.
constexpr double kL2Share = 2.0;
// From the launch to the first loads' data, and from the last ones' to the end; H200.
constexpr double kLatencySeconds = 1.1e-6, kThinLatencySeconds = 0.08e-6;
// What a block takes at least.
constexpr double kBlockSeconds = 2e-6;

// No part of k is shorter: its partial sums would cost what a sixteenth of its loads does.
inline int64_t smallest_depth(const GemmRow& row, const ThinShape& shape) {
  return std::max<int64_t>(shape.along_k ? kDepthStep : kTileStep, 16 * row.block_n);
}

// Bytes of the partial sums of one part.
inline double bytes_of_split(const GemmProblem& p) {
  return 4.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
         static_cast<double>(p.batch_count);
}

// The tile of a pass: as short as the long side allows, so that more lanes or warps share k.
inline int64_t tile_of(const ThinShape& shape) {
  const int64_t most = ThinWarps::kRows * (shape.along_k ? ThinWarps::kWarps : 32);
  int64_t tile = ThinWarps::kRows;
  while (tile < shape.extent && tile < most) tile *= 2;
  return tile;
}

inline double seconds(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
                      const ThinShape& shape, const ThinCuts& cuts) {
  const double k = p.scales_only() ? 0.0 : static_cast<double>(p.k);
  const double extent = static_cast<double>(shape.extent), thin = static_cast<double>(shape.thin);
  const double batch = static_cast<double>(p.batch_count);
  const double share = std::min(1.0, cuts.blocks / (kBlocksToFill * device.num_sms));
  // Lanes that have no k to load stand still.
  const double depth = shape.along_k ? std::ceil(k / 32.0) * 32.0 : k;
  const double bytes = 4.0 * batch * (extent * depth + extent * thin * (p.beta.is(0.0f) ? 1 : 2));
  const double tiles = std::max(1.0, cuts.blocks / static_cast<double>(cuts.splits));
  const bool in_passes = cuts.depth_per_split <= row.block_k;
  const double loads_of_y = tiles * (in_passes ? 1.0 : static_cast<double>(cuts.passes));
  const double partials =
      cuts.splits > 1 && cuts.log2_slices == 0 ? 2.0 * static_cast<double>(cuts.splits) : 0.0;
  const double l2_bytes = 4.0 * thin * loads_of_y * k + partials * bytes_of_split(p);
  const double products = 2.0 * batch * k * row.block_n *
                          std::ceil(extent / static_cast<double>(cuts.tile)) *
                          static_cast<double>(cuts.tile);
  const double loading = bytes / (device.memory_bandwidth * row.efficiency * share);
  const double multiplying = products / (device.fp32_flops * kProductShare * share);
  const double rounds = cuts.blocks / (device.num_sms * row.blocks_per_sm);
  return kLatencySeconds + kThinLatencySeconds * row.block_n +
         (cuts.log2_slices > 0 ? kLaunchSeconds + kClusterSeconds
          : cuts.splits > 1    ? 2 * kLaunchSeconds
                               : kLaunchSeconds) +
         std::max({loading, multiplying, rounds * kBlockSeconds}) +
         kNotHidden * std::min(loading, multiplying) +
         l2_bytes / (device.memory_bandwidth * kL2Share);
}

// The cuts for so many parts of k, or a few less.
inline ThinCuts with_splits(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
                            const ThinShape& shape, int64_t splits, unsigned log2_slices = 0) {
  const int64_t step = shape.along_k ? kDepthStep : kTileStep;
  ThinCuts cuts{};
  cuts.tile = tile_of(shape);
  cuts.passes = 1;
  cuts.splits = 1;
  cuts.depth_per_split = p.k;
  if (splits > 1) {
    cuts.depth_per_split = ceil_div(ceil_div(p.k, splits), step) * step;
    // A cluster's blocks are all there, those without a part too.
    cuts.log2_slices = log2_slices;
    cuts.splits = log2_slices > 0 ? splits : ceil_div(p.k, cuts.depth_per_split);
  }
  const double grids =
      std::max(1.0, static_cast<double>(p.batch_count)) * static_cast<double>(cuts.splits);
  const int64_t tiles = std::max<int64_t>(1, ceil_div(shape.extent, cuts.tile));
  // Y is loaded once for all passes where it fits, so a full GPU needs no more blocks.
  if (log2_slices == 0 && shape.along_k && cuts.depth_per_split <= row.block_k) {
    const double rounds = static_cast<double>(tiles) * grids / (device.num_sms * row.blocks_per_sm);
    cuts.passes = static_cast<int64_t>(std::clamp(rounds, 1.0, static_cast<double>(kMostPasses)));
  }
  cuts.blocks = static_cast<double>(ceil_div(tiles, cuts.passes)) * grids;
  cuts.seconds = seconds(row, p, device, shape, cuts);
  return cuts;
}

}  // namespace thin

// The fastest of no split, of a cluster for each tile, and of as many parts as fill the GPU once;
// along k also as many as let a block have its part of Y in shared memory at once, if L2 holds the
// partial sums.
inline ThinCuts thin_cuts(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
                          size_t workspace_bytes) {
  const ThinShape shape = thin_shape(p);
  const ThinCuts whole = thin::with_splits(row, p, device, shape, 1);
  const double partial = thin::bytes_of_split(p);
  if (p.scales_only() || partial <= 0.0) return whole;
  const double tiles = std::max(1.0, static_cast<double>(ceil_div(shape.extent, whole.tile)) *
                                         static_cast<double>(p.batch_count));
  double wanted = std::floor(device.num_sms * row.blocks_per_sm / tiles);
  const double chunks = static_cast<double>(ceil_div(p.k, row.block_k));
  if (shape.along_k && chunks * partial <= 0.5 * static_cast<double>(device.l2_bytes)) {
    wanted = std::max(wanted, chunks);
  }
  const int64_t most = p.k / thin::smallest_depth(row, shape);
  const double parts = std::min(wanted, static_cast<double>(most));
  const auto cut = [&](double splits, unsigned log2_slices) {
    return thin::with_splits(row, p, device, shape, static_cast<int64_t>(splits), log2_slices);
  };
  ThinCuts best = whole;
  // A block of a cluster stores an element of the tile at least.
  const double slices = std::min(parts, static_cast<double>(whole.tile * row.block_n));
  unsigned log2 = 0;
  while (2 << log2 <= slices && clusters_fit(row, device, log2 + 1, tiles)) ++log2;
  if (log2 > 0) {
    const ThinCuts clustered = cut(1 << log2, log2);
    if (clustered.seconds < best.seconds) best = clustered;
  }
  // Through the workspace, if that is what the row would like of a larger one too.
  const double fitting =
      std::min(parts, std::floor(static_cast<double>(workspace_bytes) / partial));
  if (fitting < 2.0 || cut(parts, 0).seconds >= best.seconds) return best;
  const ThinCuts split = cut(fitting, 0);
  return split.seconds < best.seconds ? split : best;
}

// Bytes of the partial sums of as many parts as the row would like.
inline size_t thin_workspace_bytes(const GemmRow& row, const GemmProblem& p,
                                   const DeviceTraits& device) {
  const ThinCuts cuts = thin_cuts(row, p, device, SIZE_MAX);
  return cuts.splits < 2 || cuts.log2_slices > 0
             ? 0
             : static_cast<size_t>(static_cast<double>(cuts.splits) * thin::bytes_of_split(p));
}

}  // namespace mygemm
