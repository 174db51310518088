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
};

// kElementBytes: of X. Elements of 16 bits become floats where they are multiplied, those of Y
// where they come into shared memory.
template <int kThin_, int kChunk_, int kBatch_, int kRegisterBlocks_, int kElementBytes_ = 4>
struct ThinTile : ThinWarps {
  using Element = float;  // in shared memory
  static constexpr int kElementBytes = kElementBytes_;
  static constexpr int kThin = kThin_, kChunk = kChunk_, kRegisterBlocks = kRegisterBlocks_;
  // Elements of 16 bytes; where rows are not aligned to as many, a lane loads each alone.
  static constexpr int kQuadElements = 16 / kElementBytes;
  // Long operand K-major: neighbours along k that a lane loads at a time, and those of a warp.
  static constexpr int per_load(bool aligned) { return aligned ? kQuadElements : 4; }
  static constexpr int stride(bool aligned) { return 32 * per_load(aligned); }
  // MN-major: places along the long side that a lane loads at a time. Of sixteen columns it has
  // registers for the sums of four.
  static constexpr int kPlaces = kThin < 16 ? kQuadElements : 4;
  static constexpr int rows_of_group(bool k_major) { return k_major ? kRows : kPlaces; }
  static constexpr int most_rows(bool k_major) { return k_major ? kRows * kWarps : kTile; }
  static constexpr int step(bool k_major, bool aligned, int row_groups) {
    return k_major ? kWarps / row_groups * stride(aligned) : kThreads / row_groups * batch(aligned);
  }
  // Columns that a lane loads ahead, where the long operand is MN-major.
  static constexpr int kBatch = kBatch_;
  static constexpr int batch(bool aligned) { return aligned ? kBatch : kBatch * kElementBytes / 4; }
  // Where it is K-major, a lane has registers for the next values beside this step's. Sixteen
  // columns leave none; there a warp's products take long enough for the loads of others.
  static constexpr bool kTwoSets = kThin < 16 || kRegisterBlocks == 1;
  static constexpr int kSums = kRows * kThin;  // of a lane
  static constexpr int kMostElements = kTile * kThin;
  // 4 floats of padding spread the rows of the thin operand, along k or along the thin side, over
  // the banks.
  static constexpr int kPitch = kChunk + 4, kPitchThin = kThin < 16 ? kThin : kThin + 4;
  // Columns of the thin side for which the warps' sums are added up at a time.
  static constexpr int kThinAtOnce = kThin < 8 ? kThin : 8;

  static constexpr int kMostPasses = 4;
  // FFMA peak's time of the products, as a factor of that of multiply-adds.
  static constexpr double kProductFactor = 1.0;
  // Factor of the time of loads where the long operand is not aligned. H200, elements of 16 bits
  // one by one along k: 1.3 to 1.9, of 4 x 4096 x 4097 to 15 x 13613 x 13044.
  static constexpr double misaligned(bool k_major) {
    return kElementBytes == 2 && k_major ? 1.55 : 1.0;
  }

  static_assert(kThin == 1 || kThin % 4 == 0, "the thin operand is read in quads");
  static_assert(kChunk % stride(true) == 0 && kChunk % kBatch == 0, "chunks are padded with zeros");

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
// Operands of 16 bits.
using Thin1Of16Bit = ThinTile<1, 4096, 8, 3, 2>;
using Thin4Of16Bit = ThinTile<4, 1024, 8, 2, 2>;
using Thin16Of16Bit = ThinTile<16, 512, 16, 1, 2>;

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
// Blocks that a multiprocessor needs for its share of the bandwidth.
constexpr double kBlocksToFill = 1.2;
// Fraction of FFMA peak that products reach between loads.
constexpr double kProductShare = 0.6;
// Fraction of the shorter of load and compute time that is not overlapped.
constexpr double kNotOverlapped = 0.2;
// Bandwidth of L2, as a multiple of the copy bandwidth of device memory.
constexpr double kL2Share = 2.0;
// From the launch to the first loads' data, and from the last ones' to the end; H200.
constexpr double kLatencySeconds = 1.1e-6, kThinLatencySeconds = 0.12e-6;
// The second grid, which adds up partial sums, and the wait for it; H200.
constexpr double kPartialsSeconds = 2.5e-6;
// The least time of a block.
constexpr double kBlockSeconds = 2e-6;

// Smallest k of a split: with less, the partial sums cost more than a sixteenth of the loads.
template <class Tile>
constexpr int64_t least_k_per_split(bool k_major) {
  return std::max<int64_t>(k_major ? kKMajorStep : kMNMajorStep, 16 * Tile::kThin);
}

// Bytes of the partial sums of one split.
inline double split_bytes(const GemmFacts& facts) { return 4.0 * facts.area; }

// The logarithm of the tile of a pass: as short as the long side allows, so that more lanes or
// warps share k.
template <class Tile>
int log2_long_tile(const ThinShape& shape) {
  const int least = Tile::rows_of_group(shape.k_major), most = Tile::most_rows(shape.k_major);
  int log2 = 0;
  while (1 << log2 < least || (1 << log2 < shape.extent && 1 << log2 < most)) ++log2;
  return log2;
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
  Divider(const GemmKernel& kernel, const GemmFacts& facts, const DeviceTraits& device,
          int resident, bool aligned)
      : facts_(facts),
        p_(facts.problem),
        device_(device),
        shape_(thin_shape(p_)),
        log2_tile_(log2_long_tile<Tile>(shape_)),
        whole_tiles_(ceil_shift(shape_.extent, log2_tile_)) {
    slots_ = static_cast<double>(device.num_sms * resident);
    batch_ = static_cast<double>(p_.batch_count);
    tiles_ = static_cast<double>(std::max<int64_t>(1, whole_tiles_));
    load_rate_ = device.memory_bandwidth * kernel.figures.efficiency;
    if (!aligned) load_rate_ /= Tile::misaligned(shape_.k_major);
    const double extent = static_cast<double>(shape_.extent), tile = this->tile();
    const double thin = static_cast<double>(shape_.thin), k = facts.k;
    // Lanes without k to load are idle.
    const double depth = shape_.k_major ? estimate::rounded_up(k / 32.0) * 32.0 : k;
    const auto result_bytes = static_cast<double>(element_bytes(p_.d.type));
    bytes_ = batch_ * (Tile::kElementBytes * (extent * depth) +
                       result_bytes * extent * thin * (p_.epilogue.beta.is(0.0f) ? 1 : 2));
    products_ = Tile::kProductFactor * 2.0 * batch_ * k * Tile::kThin *
                static_cast<double>(whole_tiles_) * tile;
  }

  int64_t whole_tiles() const { return whole_tiles_; }
  int tile() const { return 1 << log2_tile_; }

  // The fastest of no split, of a cluster for each tile, and of as many splits as fill the GPU
  // once; where X is K-major also as many as let a block have its k of Y in shared memory at once,
  // if L2 holds the partial sums.
  Division fastest(size_t workspace_bytes, int resident) const {
    Division best = divided(KSplit::kNone, 1);
    const double partial = split_bytes(facts_);
    if (p_.scales_only() || partial <= 0.0) return best;
    const double tiles = std::max(1.0, static_cast<double>(whole_tiles_) * batch_);
    double wanted = estimate::rounded_down(slots_ / tiles);
    const double chunks = static_cast<double>(ceil_div(p_.k, Tile::kChunk));
    if (shape_.k_major && chunks * partial <= 0.5 * static_cast<double>(device_.l2_bytes)) {
      wanted = std::max(wanted, chunks);
    }
    // Divisors that the compiler knows.
    const int64_t most = shape_.k_major ? p_.k / least_k_per_split<Tile>(true)
                                        : p_.k / least_k_per_split<Tile>(false);
    const double splits = std::min(wanted, static_cast<double>(most));
    // Every block of a cluster stores at least one element of the tile.
    const double in_cluster = std::min(splits, static_cast<double>(tile() * Tile::kThin));
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
      division.k_per_split = (ceil_div(p_.k, splits) + step - 1) & -step;
      // A cluster has all its blocks, including those without k.
      division.splits = k_split == KSplit::kCluster ? splits : ceil_div(p_.k, division.k_per_split);
    }
    if (division.splits == 1) division.k_split = KSplit::kNone;
    const double grids = std::max(1.0, batch_) * static_cast<double>(division.splits);
    // Where Y fits in shared memory, a block loads it once for all passes: no more blocks than fill
    // the GPU are needed.
    if (division.k_split != KSplit::kCluster && shape_.k_major &&
        division.k_per_split <= Tile::kChunk) {
      const double rounds = tiles_ * grids / slots_;
      division.passes =
          static_cast<int64_t>(std::clamp(rounds, 1.0, static_cast<double>(Tile::kMostPasses)));
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
    const double k = facts_.k;
    const double thin = static_cast<double>(shape_.thin);
    const double share = std::min(1.0, division.blocks / (kBlocksToFill * device_.num_sms));
    const double tiles = std::max(1.0, division.blocks / static_cast<double>(division.splits));
    const bool loads_once = division.k_per_split <= Tile::kChunk;
    const double loads_of_y = tiles * (loads_once ? 1.0 : static_cast<double>(division.passes));
    const bool in_workspace = division.k_split == KSplit::kWorkspace;
    const double partials = in_workspace ? 2.0 * static_cast<double>(division.splits) : 0.0;
    const double l2_bytes =
        (shape_.long_is_m ? facts_.b_bytes : facts_.a_bytes) * thin * loads_of_y * k +
        partials * split_bytes(facts_);
    const double loading = bytes_ / (load_rate_ * share);
    const double multiplying = products_ / (device_.fp32_flops * kProductShare * share);
    const double rounds = division.blocks / slots_;
    return kLatencySeconds + kThinLatencySeconds * Tile::kThin + kOverlappedLaunchSeconds +
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
  int log2_tile_;
  int64_t whole_tiles_;
  double slots_, batch_, tiles_, load_rate_;
  double bytes_, products_;  // loaded and stored; computed
};

}  // namespace thin

template <class Tile>
const char* configure_thin(const GemmKernel& kernel, const GemmFacts& facts,
                           const DeviceTraits& device, const PlanOptions& options,
                           GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (std::min(p.m, p.n) > Tile::kThin) return "both m and n are larger than the thin side";
  set_block<Tile>(config, device);
  const ThinShape shape = thin_shape(p);
  const bool long_is_m = shape.long_is_m;
  const Operand &x = long_is_m ? p.a : p.b, &y = long_is_m ? p.b : p.a;
  if (element_bytes(x.type) != Tile::kElementBytes) {
    return Tile::kElementBytes == 4 ? "the long operand has elements of 16 bits"
                                    : "the long operand is FP32";
  }
  // Quads are whole where they begin at multiples of 16 bytes and none crosses the matrix's edge.
  const auto in_quads = [&](const Operand& operand, int64_t contiguous) {
    return columns_aligned(operand, p.batch_count) &&
           contiguous % (16 / element_bytes(operand.type)) == 0;
  };
  const bool aligned = in_quads(x, shape.k_major ? p.k : shape.extent);
  const thin::Divider<Tile> divider(kernel, facts, device, config->resident, aligned);
  const thin::Division division = divider.fastest(options.workspace_bytes, config->resident);
  if (division.blocks > static_cast<double>(kMostGridBlocks)) return kTooManyTiles;
  config->block_m = long_is_m ? divider.tile() : Tile::kThin;
  config->block_n = long_is_m ? Tile::kThin : divider.tile();
  config->block_k = Tile::kChunk;
  config->passes = static_cast<int>(division.passes);
  const int64_t tiles = division.passes == 1 ? divider.whole_tiles()
                                             : ceil_div(divider.whole_tiles(), division.passes);
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
        static_cast<size_t>(static_cast<double>(division.splits) * thin::split_bytes(facts));
  }
  const bool y_along_k = long_is_m ? !p.transb : p.transa;
  const bool y_converts = element_bytes(y.type) < 4;
  const bool y_aligned = y_converts && y_along_k && in_quads(y, p.k);
  OperandLoad &load_x = long_is_m ? config->load_a : config->load_b,
              &load_y = long_is_m ? config->load_b : config->load_a;
  load_x = aligned ? OperandLoad::kCopy16 : OperandLoad::kCopy4;
  load_y = y_aligned ? OperandLoad::kCopy16 : y_converts ? OperandLoad::kCopy4 : load_x;
  config->long_is_m = long_is_m;
  config->k_major = shape.k_major;
  config->seconds = division.seconds;
  config->may_overlap = true;  // blocks wait for memory, wherever they pile up
  return nullptr;
}

template <class Tile>
constexpr GemmBound thin_bound(const GemmFigures& figures) {
  return {.launches = kOverlappedLaunchSeconds + thin::kLatencySeconds +
                      thin::kThinLatencySeconds * Tile::kThin,
          .moving = 1.0 / figures.efficiency,
          .moves_long = true,
          .not_overlapped = thin::kNotOverlapped,
          .most_thin = Tile::kThin};
}

namespace cuda {
template <class Tile>
Status launch_gemm_thin(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
