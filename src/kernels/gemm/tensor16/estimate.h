// How long products of 16-bit operands take on tensor cores: a model fitted to 118 products by 81
// kernels, both ways round, on an H200. Those that take less than 1.5 times as long as the fastest
// differ from it by 9 % (root mean square), and what it chooses takes 2 % longer than the fastest.
// Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/gemm/config.h"

namespace mygemm {

// How much longer 128 bytes of L2 take that are parts of two of its lines: of whole sectors of 32
// bytes, or of others.
constexpr double kTwoLines = 1.23, kTwoLinesOfSectors = 1.64;

inline double l2_factor(const Operand& x, double two_lines = kTwoLines,
                        double two_lines_of_sectors = kTwoLinesOfSectors) {
  // Only lower bits count, so the product may overflow.
  const auto all = reinterpret_cast<uintptr_t>(x.data) |
                   static_cast<uintptr_t>(x.ld) * static_cast<uintptr_t>(element_bytes(x.type));
  return all % 128 == 0 ? 1.0 : all % 32 == 0 ? two_lines : two_lines_of_sectors;
}

namespace tensor16 {

// The clusters of so many blocks that run at once. Of sizes that are no powers of two, no fewer:
// a GPU has at most eight processing clusters, each of which leaves less than one cluster unused.
inline int clusters_at_once(const DeviceTraits& device, int blocks) {
  switch (blocks) {
    case 1: return device.num_sms;
    case 2: return device.clusters[1];
    case 4: return device.clusters[2];
    case 8: return device.clusters[3];
    default: return (device.num_sms - 8 * (blocks - 1)) / blocks;
  }
}

// From the launch to the first products.
constexpr double kFillSeconds = 2.3e-6;
// Bytes a second from L2 to a multiprocessor: while all ask, to which the clusters' shared copies
// count once; while fewer do, by the inverse of this share at most; and with shared copies.
constexpr double kL2RateOfOne = 107e9, kLeastShare = 0.645, kReceivingRate = 127e9;
// The share of the shorter of products and copies, and of computing and memory traffic, that is not
// overlapped.
constexpr double kStepNotOverlapped = 0.30, kNotOverlapped = 0.35;
// Blocks of a cluster wait for each other: for each k step, and for each tile.
constexpr double kClusterStepSeconds = 2.6e-8, kClusterTileSeconds = 1.6e-7;
// Stores of a tile, which are not overlapped: once, and for an element where rows of the tile are
// contiguous in D, or columns.
constexpr double kStoreSeconds = 1.2e-7, kRowStoreSeconds = 4.4e-11, kColumnStoreSeconds = 6.2e-11;
// The same where D has no tensor map, in words of two elements; and in elements, by kernels whose
// producers copy operands.
constexpr double kWordStoreSeconds = 1.6e-10, kElementStoreSeconds = 3.5e-10;
// Stream-K, once: the flags; and for an element of a tile of which a block has a part.
constexpr double kStreamKSeconds = 4.3e-6, kPartSeconds = 3.4e-11;

// FP32 rows: how long a consumer warp splits its rows of a step, beside the products. Fitted with
// the efficiency of these kernels to tiles of 32, 64 and 128 columns, whose steps take 0.87, 1.03
// and 1.36 us on an H200, on one multiprocessor or on all.
constexpr double kSplitRowsSeconds = 0.62e-6;

// The tensor cores read both operands of narrow tiles from shared memory no faster than this
// allows.
template <class Tile>
constexpr double kReadFactor = Tile::kFp32Rows ? 1.0
                                               : std::max(1.0, (16.0 + Tile::kColumns / 4.0) /
                                                                   (Tile::kColumns / 2.0));

// A k step of a block, of which `busy` is the share of all that there are.
template <class Tile>
double step_seconds(const GemmConfig& config, const GemmFigures& figures, const GemmFacts& facts,
                    double busy) {
  const GemmProblem& p = facts.problem;
  const Operand &rows = config.transposed ? p.b : p.a, &columns = config.transposed ? p.a : p.b;
  const bool k_major = config.transposed ? p.transa : !p.transb;  // columns
  const double multiplying = 2.0 * Tile::kRows * Tile::kColumns * Tile::kBlockK * Tile::kProducts *
                                 kReadFactor<Tile> / (facts.sm_flops * figures.efficiency) +
                             (Tile::kFp32Rows ? kSplitRowsSeconds : 0.0);
  const double lines = k_major ? Tile::kColumns : Tile::kColumnsB;
  const double asked = Tile::kLinesA * l2_factor(rows) / Tile::kClusterN +
                       lines * l2_factor(columns) / Tile::kClusterM;
  const double copying =
      Tile::kLineBytes * std::max(asked * std::max(kLeastShare, busy) / kL2RateOfOne,
                                  (Tile::kLinesA + lines) / kReceivingRate);
  return std::max(multiplying, copying) + kStepNotOverlapped * std::min(multiplying, copying) +
         (Tile::kCluster > 1 ? kClusterStepSeconds : 0.0);
}

template <class Tile>
constexpr double store_seconds(bool in_rows) {
  return kStoreSeconds +
         (in_rows ? kRowStoreSeconds : kColumnStoreSeconds) * Tile::kRows * Tile::kColumns +
         (Tile::kCluster > 1 ? kClusterTileSeconds : 0.0);
}

// Estimated seconds of a product that is configured but for them; `clusters` run at once.
template <class Tile>
double seconds(const GemmConfig& config, const GemmFigures& figures, const GemmFacts& facts,
               const DeviceTraits& device, int clusters) {
  constexpr double kElements = static_cast<double>(Tile::kRows) * Tile::kColumns;
  double store = store_seconds<Tile>(config.transposed);
  if (!has_tensor_map(facts.problem.d, facts.problem.batch_count)) {
    store = kStoreSeconds + (Tile::kMapped ? kWordStoreSeconds : kElementStoreSeconds) * kElements;
  }
  const double tiles = config.schedule.tiles, steps = config.schedule.steps;
  double computing;
  if (config.k_split == KSplit::kStreamK) {
    const double step = step_seconds<Tile>(config, figures, facts, 1.0);
    // Tiles of a block; at least the shortest range.
    const double share = std::max(tiles / clusters, std::min(1.0, StreamK::kLeastRange / steps));
    computing = share * steps * step + std::max(1.0, share) * store + kStreamKSeconds +
                std::max(1.0, 1.0 / share) * kPartSeconds * kElements;
  } else {
    const double busy = std::min(1.0, tiles * Tile::kCluster / device.num_sms);
    const double rounds = std::ceil(tiles / clusters);
    computing = rounds * (steps * step_seconds<Tile>(config, figures, facts, busy) + store);
  }
  const double moving = facts.memory_seconds;
  return kFillSeconds + std::max(computing, moving) + kNotOverlapped * std::min(computing, moving);
}

// The lower bound of the same.
template <class Tile, bool kStreamK>
constexpr GemmBound bound(const GemmFigures& figures) {
  constexpr double kElements = static_cast<double>(Tile::kBlockM) * Tile::kBlockN;
  constexpr double kPart = kPartSeconds * Tile::kRows * Tile::kColumns;
  GemmBound bound = {
      .launches = kFillSeconds,
      .tile_fixed = store_seconds<Tile>(true),
      .least_tiles = 1.0,
      .per_element = 1.0 / kElements,
      .per_long = 1.0 / std::max(Tile::kBlockM, Tile::kBlockN),
      .tile_flops = 2.0 * kElements * Tile::kProducts * kReadFactor<Tile> / figures.efficiency,
      .lone_share = 1.0 / Tile::kCluster,
      .not_overlapped = kNotOverlapped};
  if (kStreamK) {
    bound.fill = kStreamKSeconds + kPart;
    bound.most_k = StreamK::kLeastRange * Tile::kBlockK;
  }
  return bound;
}

}  // namespace tensor16

}  // namespace mygemm
