// The thin kernels, for products of which m or n is small (gemv and the like): tiles,
// configuration, launch. Pure.
//
// The operand of the larger side of D is the long one, X; the other is the thin one, Y. A block
// covers a tile of the long side, or several in passes, and all of k or one split of it.
#pragma once

#include <algorithm>

#include "kernels/gemm/cluster_sum.h"
#include "kernels/gemm/config.h"

namespace mygemm {

// Products with a thin side of at most kThin. A block streams its tile of the long operand from
// global memory to registers; kChunk k of the thin one lie in shared memory.
struct ThinWarps {
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kRows = 4;           // of the long operand that a lane works on
  static constexpr int kTile = 32 * kRows;  // rows of a warp, where they are contiguous
  static constexpr int kStride = 32 * 4;    // k that a warp loads at once where k is contiguous
};

template <int kThin_, int kChunk_, int kBatch_, int kRegisterBlocks_>
struct ThinTile : ThinWarps {
  using Element = float;
  static constexpr int kThin = kThin_, kChunk = kChunk_, kRegisterBlocks = kRegisterBlocks_;
  // Columns that a lane loads ahead, where the long operand is MN-major.
  static constexpr int kBatch = kBatch_;
  // Where it is K-major, a lane has registers for the next values beside this step's. Sixteen
  // columns leave none; there a warp's products take long enough for the loads of others.
  static constexpr bool kTwoSets = kThin < 16;
  static constexpr int kSums = kRows * kThin;  // of a lane
  static constexpr int kMostElements = kTile * kThin;
  // 4 floats of padding spread the rows of the thin operand, along k or along the thin side, over
  // the banks.
  static constexpr int kPitch = kChunk + 4, kPitchThin = kThin < 16 ? kThin : kThin + 4;
  // Columns of the thin side for which the warps' sums are added up at a time.
  static constexpr int kThinAtOnce = kThin < 8 ? kThin : 8;

  static_assert(kThin == 1 || kThin % 4 == 0, "the thin operand is read in quads");
  static_assert(kChunk % kStride == 0 && kChunk % kBatch == 0, "chunks are padded with zeros");

  // Long operand MN-major.
  union TileStorage {
    alignas(16) Element y[kChunk][kPitchThin];  // (k, thin)
    float sums[kWarps][kThinAtOnce][kTile];     // (warp, thin, long)
  };
  // Long operand K-major.
  struct DepthStorage {
    alignas(16) Element y[kThin][kPitch];  // (thin, k)
    float sums[kWarps][kSums];
  };
  struct SharedStorage {
    union {
      TileStorage tile;
      DepthStorage depth;
    };
    Inbox<kMostElements> inbox;
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));
};

using Thin1 = ThinTile<1, 4096, 8, 3>;
using Thin4 = ThinTile<4, 1024, 8, 2>;
using Thin16 = ThinTile<16, 512, 4, 2>;

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

constexpr int64_t kMostPasses = 4;
// k of a split are multiples of what the warps of a block load at a time.
constexpr int64_t kKMajorStep = ThinWarps::kStride, kMNMajorStep = 64;
// Blocks that a multiprocessor needs for its share of the bandwidth.
constexpr double kBlocksToFill = 1.2;
// Fraction of FFMA peak that products reach between loads.
constexpr double kProductShare = 0.6;
// Fraction of the shorter of load and compute time that is not overlapped.
constexpr double kNotOverlapped = 0.2;
// Bandwidth of L2, as a multiple of the copy bandwidth of device memory.
constexpr double kL2Share = 2.0;
// From the launch to the first loads' data, and from the last ones' to the end; H200.
constexpr double kLatencySeconds = 1.1e-6, kThinLatencySeconds = 0.08e-6;
// The least time of a block.
constexpr double kBlockSeconds = 2e-6;

// Smallest k of a split: with less, the partial sums cost more than a sixteenth of the loads.
template <class Tile>
int64_t least_k_per_split(const ThinShape& shape) {
  return std::max<int64_t>(shape.k_major ? kKMajorStep : kMNMajorStep, 16 * Tile::kThin);
}

// Bytes of the partial sums of one split.
inline double split_bytes(const GemmProblem& p) { return 4.0 * estimate::area(p); }

// The tile of a pass: as short as the long side allows, so that more lanes or warps share k.
inline int long_tile(const ThinShape& shape) {
  const int most = ThinWarps::kRows * (shape.k_major ? ThinWarps::kWarps : 32);
  int tile = ThinWarps::kRows;
  while (tile < shape.extent && tile < most) tile *= 2;
  return tile;
}

// How a product is divided into blocks, with an estimate.
struct Division {
  KSplit k_split = KSplit::kNone;
  int64_t splits = 1, k_per_split = 0, passes = 1;
  double blocks = 0, seconds = 0;
};

template <class Tile>
class Divider {
 public:
  Divider(const GemmKernel& kernel, const GemmProblem& p, const DeviceTraits& device, int resident)
      : p_(p), device_(device), shape_(thin_shape(p)), tile_(long_tile(shape_)) {
    slots_ = static_cast<double>(device.num_sms * resident);
    batch_ = static_cast<double>(p.batch_count);
    tiles_ = static_cast<double>(std::max<int64_t>(1, ceil_div(shape_.extent, tile_)));
    load_rate_ = device.memory_bandwidth * kernel.figures.efficiency;
  }

  const ThinShape& shape() const { return shape_; }
  int tile() const { return tile_; }

  // The fastest of no split, of a cluster for each tile, and of as many splits as fill the GPU
  // once; where X is K-major also as many as let a block have its k of Y in shared memory at once,
  // if L2 holds the partial sums.
  Division fastest(size_t workspace_bytes, int resident) const {
    Division best = divided(KSplit::kNone, 1);
    const double partial = split_bytes(p_);
    if (p_.scales_only() || partial <= 0.0) return best;
    const double tiles =
        std::max(1.0, static_cast<double>(ceil_div(shape_.extent, tile_)) * batch_);
    double wanted = estimate::rounded_down(slots_ / tiles);
    const double chunks = static_cast<double>(ceil_div(p_.k, Tile::kChunk));
    if (shape_.k_major && chunks * partial <= 0.5 * static_cast<double>(device_.l2_bytes)) {
      wanted = std::max(wanted, chunks);
    }
    const int64_t most = p_.k / least_k_per_split<Tile>(shape_);
    const double splits = std::min(wanted, static_cast<double>(most));
    // Every block of a cluster stores at least one element of the tile.
    const double in_cluster = std::min(splits, static_cast<double>(tile_ * Tile::kThin));
    unsigned log2 = 0;
    while (2 << log2 <= in_cluster && clusters_fit(device_, resident, log2 + 1, tiles)) ++log2;
    if (log2 > 0) {
      const Division clustered = divided(KSplit::kCluster, int64_t{1} << log2);
      if (clustered.seconds < best.seconds) best = clustered;
    }
    // Through the workspace only if that is best with an unlimited one too.
    const double fitting =
        std::min(splits, estimate::rounded_down(static_cast<double>(workspace_bytes) / partial));
    if (fitting < 2.0) return best;
    const Division all = divided(KSplit::kWorkspace, static_cast<int64_t>(splits));
    if (all.seconds >= best.seconds) return best;
    const Division split =
        fitting == splits ? all : divided(KSplit::kWorkspace, static_cast<int64_t>(fitting));
    return split.seconds < best.seconds ? split : best;
  }

 private:
  // The division into so many splits of k, or a few less.
  Division divided(KSplit k_split, int64_t splits) const {
    const int64_t step = shape_.k_major ? kKMajorStep : kMNMajorStep;
    Division division;
    division.k_per_split = p_.k;
    if (splits > 1) {
      division.k_split = k_split;
      division.k_per_split = ceil_div(ceil_div(p_.k, splits), step) * step;
      // A cluster has all its blocks, including those without k.
      division.splits = k_split == KSplit::kCluster ? splits : ceil_div(p_.k, division.k_per_split);
    }
    if (division.splits == 1) division.k_split = KSplit::kNone;
    const double grids = std::max(1.0, batch_) * static_cast<double>(division.splits);
    // Where Y fits in shared memory, a block loads it once for all passes: no more blocks than fill
    // the
    // GPU are needed.
    if (division.k_split != KSplit::kCluster && shape_.k_major &&
        division.k_per_split <= Tile::kChunk) {
      const double rounds = tiles_ * grids / slots_;
      division.passes =
          static_cast<int64_t>(std::clamp(rounds, 1.0, static_cast<double>(kMostPasses)));
    }
    const double runs =
        division.passes == 1
            ? tiles_
            : static_cast<double>(ceil_div(static_cast<int64_t>(tiles_), division.passes));
    division.blocks = runs * grids;
    division.seconds = seconds(division);
    return division;
  }

  double seconds(const Division& division) const {
    const double k = estimate::effective_k(p_);
    const double extent = static_cast<double>(shape_.extent);
    const double thin = static_cast<double>(shape_.thin);
    const double share = std::min(1.0, division.blocks / (kBlocksToFill * device_.num_sms));
    // Lanes without k to load are idle.
    const double depth = shape_.k_major ? estimate::rounded_up(k / 32.0) * 32.0 : k;
    const double bytes =
        4.0 * batch_ * (extent * depth + extent * thin * (p_.epilogue.beta.is(0.0f) ? 1 : 2));
    const double tiles = std::max(1.0, division.blocks / static_cast<double>(division.splits));
    const bool loads_once = division.k_per_split <= Tile::kChunk;
    const double loads_of_y = tiles * (loads_once ? 1.0 : static_cast<double>(division.passes));
    const bool in_workspace = division.k_split == KSplit::kWorkspace;
    const double partials = in_workspace ? 2.0 * static_cast<double>(division.splits) : 0.0;
    const double l2_bytes = 4.0 * thin * loads_of_y * k + partials * split_bytes(p_);
    const double products =
        2.0 * batch_ * k * Tile::kThin * estimate::rounded_up(extent / tile_) * tile_;
    const double loading = bytes / (load_rate_ * share);
    const double multiplying = products / (device_.fp32_flops * kProductShare * share);
    const double rounds = division.blocks / slots_;
    return kLatencySeconds + kThinLatencySeconds * Tile::kThin +
           (division.k_split == KSplit::kCluster ? kLaunchSeconds + kClusterSeconds
            : in_workspace                       ? 2 * kLaunchSeconds
                                                 : kLaunchSeconds) +
           std::max({loading, multiplying, rounds * kBlockSeconds}) +
           kNotOverlapped * std::min(loading, multiplying) +
           l2_bytes / (device_.memory_bandwidth * kL2Share);
  }

  const GemmProblem& p_;
  const DeviceTraits& device_;
  ThinShape shape_;
  int tile_;
  double slots_, batch_, tiles_, load_rate_;
};

}  // namespace thin

template <class Tile>
const char* configure_thin(const GemmKernel& kernel, const GemmProblem& p,
                           const DeviceTraits& device, const PlanOptions& options,
                           GemmConfig* config) {
  if (std::min(p.m, p.n) > Tile::kThin) return "both m and n are larger than the thin side";
  set_block<Tile>(config, device);
  const thin::Divider<Tile> divider(kernel, p, device, config->resident);
  const thin::Division division = divider.fastest(options.workspace_bytes, config->resident);
  if (division.blocks > static_cast<double>(kMostGridBlocks)) return kTooManyTiles;
  const ThinShape& shape = divider.shape();
  const bool long_is_m = shape.long_is_m;
  config->block_m = long_is_m ? divider.tile() : Tile::kThin;
  config->block_n = long_is_m ? Tile::kThin : divider.tile();
  config->block_k = Tile::kChunk;
  config->passes = static_cast<int>(division.passes);
  const int64_t tiles = ceil_div(shape.extent, divider.tile() * division.passes);
  config->tiles_m = long_is_m ? tiles : 1;
  config->tiles_n = long_is_m ? 1 : tiles;
  config->k_split = division.k_split;
  config->splits = division.splits;
  config->k_per_split = division.k_per_split;
  config->blocks = tiles * p.batch_count * division.splits;
  config->cluster_blocks =
      division.k_split == KSplit::kCluster ? static_cast<int>(division.splits) : 0;
  if (division.k_split == KSplit::kWorkspace) {
    config->workspace_bytes =
        static_cast<size_t>(static_cast<double>(division.splits) * thin::split_bytes(p));
  }
  // Quads are whole where they begin at multiples of 16 bytes and none crosses the matrix's edge.
  const bool aligned = columns_aligned(long_is_m ? p.a : p.b, p.batch_count) &&
                       (shape.k_major ? p.k : shape.extent) % 4 == 0;
  config->load_a = config->load_b = aligned ? OperandLoad::kCopy16 : OperandLoad::kCopy4;
  config->seconds = division.seconds;
  return nullptr;
}

namespace cuda {
template <class Tile>
Status launch_gemm_thin(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
