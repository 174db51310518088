// How the thin kernels (thin.h) divide a product into blocks, with their estimate. Pure.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/gemm/cluster_sum.h"
#include "kernels/gemm/config.h"

namespace mygemm {

// Constants of a tile's estimate: the part of the kernel's bandwidth that it reaches, the blocks
// that a multiprocessor needs for that, and the latency for each column of the thin side.
struct ThinSpeed {
  double share, blocks_to_fill, column_seconds;
};

struct ThinShape {
  bool long_is_m;        // X is op(A), Y is op(B); else the other way round
  bool k_major;          // X is contiguous along k; else along the long side
  int64_t extent, thin;  // of the long side and of the thin one
};

inline ThinShape thin_shape(const GemmProblem& p) {
  ThinShape shape{};
  shape.long_is_m = p.n <= p.m;
  shape.extent = std::max(p.m, p.n);
  shape.thin = std::min(p.m, p.n);
  // A single row without gaps is contiguous along k as well.
  shape.k_major = (shape.long_is_m ? p.transa : !p.transb) ||
                  (shape.extent == 1 && (shape.long_is_m ? p.a.ld : p.b.ld) == 1);
  return shape;
}

namespace thin {

// k of a split are multiples of what the warps of a block load at a time.
constexpr int64_t kKMajorStep = 128, kMNMajorStep = 64;  // powers of two
// The part of the bandwidth that is lost where multiprocessors have different numbers of blocks,
// and the part that is left where there are more clusters than one for each place. H200: products
// of a matrix and a vector, 1000 to 16384 a side, in 200 tiles and splits of k.
constexpr double kImbalance = 0.2, kCrowded = 0.91;
// The part that is left where X is MN-major, tiles are shorter than the 128 places that a warp
// loads at a time, and k is not divided, with fewer blocks than two for each multiprocessor. H200,
// 4096 x 1 x 4096 NN: 23.1 us, 19.0 with a quarter of the tiles and clusters of four.
constexpr double kShortColumns = 0.86;
// Fraction of FFMA peak that products reach between loads.
constexpr double kProductShare = 0.6;
// Fraction of the shorter of load and compute time that is not overlapped.
constexpr double kNotOverlapped = 0.2;
// Bandwidth of L2, as a multiple of the copy bandwidth of device memory.
constexpr double kL2Share = 2.0;
// From the launch to the first loads' data, and from the last ones' to the end; H200.
constexpr double kLatencySeconds = 1.0e-6;
// The addition over a cluster.
constexpr double kClusterSeconds = 0.6e-6;
// The second grid, which adds up partial sums, and the wait for it; H200.
constexpr double kPartialsSeconds = 1.5e-6;
// The least time of a block.
constexpr double kBlockSeconds = 2e-6;

// Smallest k of a split: with less, the partial sums cost more than a sixteenth of the loads.
template <class Tile>
constexpr int64_t least_k_per_split(bool k_major) {
  return std::max<int64_t>(k_major ? kKMajorStep : kMNMajorStep, 16 * Tile::kThin);
}

// Bytes of the partial sums of one split.
inline double split_bytes(const GemmFacts& facts) { return 4.0 * facts.area; }

// The logarithm of the largest tile of a pass that the long side has room for: as short as that
// allows, so that more lanes or warps share k.
template <class Tile>
int log2_long_tile(const ThinShape& shape) {
  const int least = Tile::rows_of_group(shape.k_major), most = Tile::most_rows(shape.k_major);
  int log2 = 0;
  while (1 << log2 < least || (1 << log2 < shape.extent && 1 << log2 < most)) ++log2;
  return log2;
}

// How a product is divided into blocks, with an estimate. tiles: of the long side, of 2^log2_tile
// each.
struct Division {
  int log2_tile = 0;
  int64_t tiles = 0;
  KSplit k_split = KSplit::kNone;
  int64_t splits = 1, k_per_split = 0, passes = 1;
  double blocks = 0, seconds = GemmBound::kNoLimit;
};

template <class Tile>
class Divider {
 public:
  Divider(const GemmKernel& kernel, const GemmFacts& facts, const DeviceTraits& device,
          int resident, bool aligned)
      : facts_(facts),
        p_(facts.problem),
        device_(device),
        shape_(thin_shape(p_)),
        resident_(resident),
        slots_(static_cast<double>(device.num_sms * resident)),
        batch_(static_cast<double>(p_.batch_count)) {
    load_rate_ = device.memory_bandwidth * kernel.figures.efficiency;
    if (!aligned) load_rate_ /= Tile::misaligned(shape_.k_major);
    const double extent = static_cast<double>(shape_.extent);
    const double thin = static_cast<double>(shape_.thin), k = facts.k;
    // Lanes without k to load are idle.
    constexpr double kDepth = Tile::kLeastDepth;
    const double depth = shape_.k_major ? estimate::rounded_up(k / kDepth) * kDepth : k;
    const auto result_bytes = static_cast<double>(element_bytes(p_.d.type));
    bytes_ = batch_ * (Tile::kElementBytes * (extent * depth) +
                       result_bytes * extent * thin * (p_.epilogue.beta.is(0.0f) ? 1 : 2));
    products_of_row_ = Tile::kProductFactor * 2.0 * batch_ * k * Tile::kThin;
  }

  // The fastest with the largest tile that the long side has room for, with half of it and with a
  // quarter: shorter ones where the blocks would be few.
  Division fastest(size_t workspace_bytes) const {
    Division best;
    const int least = Tile::rows_of_group(shape_.k_major);
    const int most = log2_long_tile<Tile>(shape_);
    for (int log2 = most; log2 >= most - 2 && 1 << log2 >= least; --log2) {
      Division tiling;
      tiling.log2_tile = log2;
      tiling.tiles = ceil_shift(shape_.extent, log2);
      try_splits(tiling, workspace_bytes, &best);
      if (static_cast<double>(tiling.tiles) * batch_ >= slots_) break;  // a block for each place
    }
    return best;
  }

 private:
  // No split, clusters, and as many splits as fill the GPU once; where X is K-major also as many as
  // let a block have its k of Y in shared memory at once, if L2 holds the partial sums.
  void try_splits(const Division& tiling, size_t workspace_bytes, Division* best) const {
    take_faster(divided(tiling, KSplit::kNone, 1), best);
    const double partial = split_bytes(facts_);
    if (p_.scales_only() || partial <= 0.0) return;
    const double tiles = std::max(1.0, static_cast<double>(tiling.tiles) * batch_);
    double wanted = estimate::rounded_down(slots_ / tiles);
    const double chunks = static_cast<double>(ceil_div(p_.k, Tile::kChunk));
    if (shape_.k_major && chunks * partial <= 0.5 * static_cast<double>(device_.l2_bytes)) {
      wanted = std::max(wanted, chunks);
    }
    // Divisors that the compiler knows.
    const int64_t most = shape_.k_major ? p_.k / least_k_per_split<Tile>(true)
                                        : p_.k / least_k_per_split<Tile>(false);
    const double splits = std::min(wanted, static_cast<double>(most));
    // Every block of a cluster stores at least one element of the tile. The largest clusters that
    // run at once, and the largest of which there are no more than one for each place.
    const double in_cluster =
        std::min(splits, static_cast<double>(int64_t{Tile::kThin} << tiling.log2_tile));
    unsigned log2 = 0, log2_alone = 0;
    while (2 << log2 <= in_cluster && clusters_fit(device_, resident_, log2 + 1, tiles)) {
      ++log2;
      if (!crowded(tiles, 1 << log2)) log2_alone = log2;
    }
    for (const unsigned clusters : {log2, log2_alone}) {
      if (clusters == 0) break;
      take_faster(divided(tiling, KSplit::kCluster, int64_t{1} << clusters), best);
      if (log2_alone == log2) break;
    }
    // Through the workspace only if that is best with an unlimited one too.
    const double fitting =
        std::min(splits, estimate::rounded_down(static_cast<double>(workspace_bytes) / partial));
    if (fitting < 2.0) return;
    const Division all = divided(tiling, KSplit::kWorkspace, static_cast<int64_t>(splits));
    if (all.seconds >= best->seconds) return;
    take_faster(fitting == splits
                    ? all
                    : divided(tiling, KSplit::kWorkspace, static_cast<int64_t>(fitting)),
                best);
  }

  static void take_faster(const Division& division, Division* best) {
    if (division.seconds < best->seconds) *best = division;
  }
  // Whether so many clusters have more than one block for some multiprocessors.
  bool crowded(double clusters, int64_t blocks) const {
    return clusters * static_cast<double>(blocks) > device_.num_sms;
  }

  // The division of these tiles into so many splits of k, or a few less.
  Division divided(Division division, KSplit k_split, int64_t splits) const {
    const int64_t step = shape_.k_major ? kKMajorStep : kMNMajorStep;
    division.k_per_split = p_.k;
    if (splits > 1) {
      division.k_split = k_split;
      division.k_per_split = (ceil_div(p_.k, splits) + step - 1) & -step;
      // A cluster has all its blocks, including those without k.
      division.splits = k_split == KSplit::kCluster ? splits : ceil_div(p_.k, division.k_per_split);
    }
    if (division.splits == 1) division.k_split = KSplit::kNone;
    const double grids = std::max(1.0, batch_) * static_cast<double>(division.splits);
    const double tiles = static_cast<double>(std::max<int64_t>(1, division.tiles));
    // Where Y fits in shared memory, a block loads it once for all passes: no more blocks than fill
    // the GPU are needed.
    if (division.k_split != KSplit::kCluster && shape_.k_major &&
        division.k_per_split <= Tile::kChunk) {
      const double rounds = tiles * grids / slots_;
      division.passes =
          static_cast<int64_t>(std::clamp(rounds, 1.0, static_cast<double>(Tile::kMostPasses)));
    }
    const double runs =
        division.passes == 1
            ? tiles
            : static_cast<double>(ceil_div(static_cast<int64_t>(tiles), division.passes));
    division.blocks = runs * grids;
    division.seconds = seconds(division);
    return division;
  }

  // Rows of the long side that all tiles have room for.
  static double rows_of(const Division& division) {
    return std::ldexp(static_cast<double>(std::max<int64_t>(1, division.tiles)),
                      division.log2_tile);
  }

  // The part of the bandwidth that the blocks reach.
  double share_of(const Division& division) const {
    const double sms = device_.num_sms, splits = static_cast<double>(division.splits);
    const double even =
        division.blocks / (sms * std::max(1.0, estimate::rounded_up(division.blocks / sms)));
    const ThinSpeed speed = Tile::speed(shape_.k_major);
    // Tiles past the end of a short long side load less.
    const double loading = division.blocks * static_cast<double>(shape_.extent) / rows_of(division);
    const double share = speed.share * std::min(1.0, loading / (speed.blocks_to_fill * sms)) *
                         (1.0 - kImbalance * (1.0 - even));
    if (division.k_split == KSplit::kCluster) {
      return crowded(division.blocks / splits, division.splits) ? kCrowded * share : share;
    }
    const bool short_columns = !shape_.k_major && division.splits == 1 &&
                               1 << division.log2_tile < Tile::most_rows(false) &&
                               division.blocks < 2.0 * sms;
    return short_columns ? kShortColumns * share : share;
  }

  double seconds(const Division& division) const {
    const double k = facts_.k;
    const double thin = static_cast<double>(shape_.thin);
    const double share = share_of(division);
    const double runs = std::max(1.0, division.blocks / static_cast<double>(division.splits));
    const bool loads_once = division.k_per_split <= Tile::kChunk;
    const double loads_of_y = runs * (loads_once ? 1.0 : static_cast<double>(division.passes));
    const bool in_workspace = division.k_split == KSplit::kWorkspace;
    const double partials = in_workspace ? 2.0 * static_cast<double>(division.splits) : 0.0;
    const double l2_bytes =
        (shape_.long_is_m ? facts_.b_bytes : facts_.a_bytes) * thin * loads_of_y * k +
        partials * split_bytes(facts_);
    const double products = products_of_row_ * rows_of(division);
    const double loading = bytes_ / (load_rate_ * share);
    const double multiplying = products / (device_.fp32_flops * kProductShare * share);
    const double rounds = division.blocks / slots_;
    const double latency = Tile::speed(shape_.k_major).column_seconds * Tile::kThin;
    return kLatencySeconds + latency + kOverlappedLaunchSeconds +
           estimate::cold_seconds(facts_, device_) +
           (division.k_split == KSplit::kCluster ? kClusterSeconds
            : in_workspace                       ? kPartialsSeconds
                                                 : 0.0) +
           std::max({loading, multiplying, rounds * kBlockSeconds}) +
           kNotOverlapped * std::min(loading, multiplying) +
           l2_bytes / (device_.memory_bandwidth * kL2Share);
  }

  const GemmFacts& facts_;
  const GemmProblem& p_;
  const DeviceTraits& device_;
  ThinShape shape_;
  int resident_;
  double slots_, batch_, load_rate_;
  double bytes_;            // loaded and stored
  double products_of_row_;  // computed for a row of the long side, of all matrices
};

}  // namespace thin

}  // namespace mygemm
