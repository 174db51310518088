// The thin kernels, for products of which m or n is small (gemv and the like): tiles,
// configuration, launch. Pure.
//
// The operand of the larger side of D is the long one, X; the other is the thin one, Y. A block
// covers a tile of the long side, or several in passes, and all of k or one split of it.
#pragma once

#include "kernels/gemm/cluster_sum.h"
#include "kernels/gemm/thin_division.h"

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
  static constexpr int kLeastDepth = stride(false);  // k that a warp loads at a time
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
  // H200, 560 products and 240 others: 6 to 13 % off. Where the long operand is K-major and the
  // thin side is not a single column, a warp does not load while it multiplies.
  static constexpr ThinSpeed speed(bool k_major) {
    if (kElementBytes == 2) return {1.0, 1.2, 0.12e-6};
    if (k_major) {
      return {kThin == 1 ? 1.0 : kThin == 4 ? 0.88 : kThin == 8 ? 0.83 : 0.6, 1.0, 0.08e-6};
    }
    return {1.0, kThin == 1 ? 0.8 : kThin == 4 ? 1.05 : 1.45, 0.15e-6};
  }
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
using Thin8 = ThinTile<8, 1024, 4, 2>;
using Thin16 = ThinTile<16, 512, 4, 2>;
// Operands of 16 bits.
using Thin1Of16Bit = ThinTile<1, 4096, 8, 3, 2>;
using Thin4Of16Bit = ThinTile<4, 1024, 8, 2, 2>;
using Thin16Of16Bit = ThinTile<16, 512, 16, 1, 2>;

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
  const thin::Division division = divider.fastest(options.workspace_bytes);
  if (division.blocks > static_cast<double>(kMostGridBlocks)) return kTooManyTiles;
  const int tile = 1 << division.log2_tile;
  config->block_m = long_is_m ? tile : Tile::kThin;
  config->block_n = long_is_m ? Tile::kThin : tile;
  config->block_k = Tile::kChunk;
  config->passes = static_cast<int>(division.passes);
  const int64_t tiles =
      division.passes == 1 ? division.tiles : ceil_div(division.tiles, division.passes);
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
  constexpr double kColumn =
      std::min(Tile::speed(false).column_seconds, Tile::speed(true).column_seconds);
  return {.launches = kOverlappedLaunchSeconds + thin::kLatencySeconds + kColumn * Tile::kThin,
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
