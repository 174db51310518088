// The Config of a matrix product, and the terms that the estimates of all its kernels share. Pure.
//
// The estimate of a kernel is the time of the busiest multiprocessor: the block tiles that fall to
// it, each at the kernel's measured share of FFMA peak, or at the latency of its k steps where they
// are too short to hide it; never less than the time to move each operand once. The constants are
// H200 measurements (bench/results/); other GPUs scale by their peaks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/facts.h"
#include "kernels/gemm/persistent/stream_k.h"
#include "kernels/kernel.h"

namespace mygemm {

// How the k of one block tile is shared among blocks.
enum class KSplit : uint8_t {
  kNone,
  kWorkspace,  // split-K: partial sums go through the workspace, and a second kernel adds them
  kCluster,    // cluster split-K: the blocks of a cluster add them through shared memory
  kStreamK     // stream-K: see persistent/stream_k.h
};

// The element types of a kernel, and its measured constants: on an H200, bench/results/; host
// kernels on two AVX-512 cores.
struct GemmFigures {
  Takes takes = Takes::kFp32;
  // Share of FFMA peak of a k step, or of the multiply-adds alone where step_seconds has the rest.
  // Thin kernels: share of the copy bandwidth. Host: share of the cores' peak at 2048^3.
  double efficiency = 0;
  double step_seconds = 0;          // latency of a k step, once for all resident blocks
  double misaligned = 1.0;          // factor of a k step's time where A or B is not aligned, or
                                    // of a product's that is packed
  double shifted = 1.0;             // tensor cores: the same where shifted tensor maps bring them
  double shifted_tn = 1.0;          // the same in TN, where lines of both run along k
  double transposing = 1.0;         // tensor cores: factor where B must be transposed
  double fill_seconds = 0;          // fixed overhead of a kernel besides its launch
  double column_seconds = 0;        // latency of the stores of a tile, for each column
  double store_seconds = 0;         // throughput of them, for each element of a multiprocessor
  double round_seconds = 0;         // fixed overhead of each round of blocks after the first
  bool triangles = false;           // leaves the other triangle of D alone
  bool any_order = false;           // sums in the order that a batch-invariant product keeps to
  const SumOrder* order = nullptr;  // of its sums, where other kernels may have it
  GemmBound bound = {};             // follows from the others and the tile
};

// How a packed product (packed.h) is divided: parts of so many rows and columns of D and matrices,
// the last ones smaller.
struct PackedParts {
  const GemmKernel* kernel = nullptr;  // that multiplies a part; nullptr: nothing is packed
  int64_t m = 0, n = 0, matrices = 0;
  size_t bytes = 0;  // of the packed operands of a part
  bool packs_a = false, packs_b = false;
};

struct GemmConfig : LaunchConfig {
  int64_t tiles_m = 0, tiles_n = 0;           // block tiles of one matrix
  int64_t splits = 1;                         // split-K and cluster split-K: parts of k
  int64_t k_per_split = 0;                    // k of each, but for the last
  StreamK schedule = {};                      // persistent kernels
  int block_m = 0, block_n = 0, block_k = 0;  // block tile and k step; 0: none
  int resident = 0;                           // blocks of a multiprocessor
  int passes = 1;                             // thin: tiles of a block, one after another
  KSplit k_split = KSplit::kNone;
  OperandLoad load_a = OperandLoad::kCopy4, load_b = OperandLoad::kCopy4;
  bool transposed = false;  // D^T = op(B)^T op(A)^T is computed
  // Thin: see ThinShape.
  bool long_is_m = false, k_major = false;
  PackedParts packed = {};  // the rest is about the kernel that multiplies a part
};

constexpr bool takes(const GemmFigures& figures, Takes operands) {
  return (static_cast<int>(figures.takes) & static_cast<int>(operands)) != 0;
}
constexpr bool takes(const GemmKernel& kernel, Takes operands) {
  return takes(kernel.figures, operands);
}

// The reason why a kernel of these figures is not made for such products, or nullptr.
inline const char* refusal_of(const GemmFigures& figures, const GemmFacts& facts) {
  if (!takes(figures, facts.operands)) {
    switch (figures.takes) {
      case Takes::kFp32: return "takes FP32 operands";
      case Takes::k16Bit: return "takes operands of 16 bits";
      case Takes::kMixed: return "takes an FP32 operand and one of 16 bits";
      default: return "takes operands of other types";
    }
  }
  if (facts.order && !figures.any_order && figures.order != facts.order) {
    return facts.order->refusal;
  }
  const bool full = facts.problem.fill == MYGEMM_FILL_FULL;
  return full || figures.triangles ? nullptr : "computes all of D, not a triangle";
}

inline const char* unfit_for(const GemmKernel& kernel, const GemmFacts& facts) {
  return refusal_of(kernel.figures, facts);
}

inline double least_seconds(const GemmKernel& kernel, const GemmFacts& facts) {
  return least_seconds(kernel.figures.bound, facts);
}

// The least of all kernels that fit the product.
double least_seconds(const GemmProblem& p, const DeviceTraits& device);

namespace estimate {

// How much longer a kernel waits for its first operands where they come from memory and not from
// L2, and the bytes of a product from which on they do: the benchmark holds smaller ones in L2.
constexpr double kColdSeconds = 0.75e-6, kColdBytes = 60e3;
inline double cold_seconds(const GemmFacts& facts, const DeviceTraits& device) {
  return kColdSeconds * std::min(1.0, facts.memory_seconds * device.memory_bandwidth / kColdBytes);
}

// Bandwidth of L2 for tiles, as a multiple of the copy bandwidth of device memory.
constexpr double kL2OverMemory = 2.0;
// Block tiles of all matrices, as a double: their number may exceed every integer type.
inline double block_tiles(const GemmConfig& config, const GemmProblem& p) {
  return static_cast<double>(config.tiles_m) * static_cast<double>(config.tiles_n) *
         static_cast<double>(p.batch_count);
}

// Those with elements to compute: of a triangle half, and half of those on its diagonal.
inline double filled_tiles(const GemmConfig& config, const GemmProblem& p) {
  const double all = block_tiles(config, p);
  if (p.fill == MYGEMM_FILL_FULL) return all;
  return 0.5 * (all + static_cast<double>(std::max(config.tiles_m, config.tiles_n)) *
                          static_cast<double>(p.batch_count));
}

// The nearest integer, as a double, that is not more than x, or not less; x >= 0. A call of
// std::floor takes ten times as long.
inline double rounded_down(double x) {
  constexpr double kAllAreIntegers = 0x1p53;
  return x < kAllAreIntegers ? static_cast<double>(static_cast<int64_t>(x)) : x;
}
inline double rounded_up(double x) {
  const double down = rounded_down(x);
  return down < x ? down + 1.0 : down;
}

}  // namespace estimate

// Sets the block tile, the k step and the number of block tiles.
template <class Tile>
void set_tiles(GemmConfig* config, const GemmProblem& p) {
  config->block_m = Tile::kBlockM;
  config->block_n = Tile::kBlockN;
  config->block_k = Tile::kBlockK;
  config->tiles_m = ceil_div(p.m, Tile::kBlockM);
  config->tiles_n = ceil_div(p.n, Tile::kBlockN);
}

// Sets threads, shared memory and residency of a kernel with this tile.
template <class Tile>
void set_block(GemmConfig* config, const DeviceTraits& device) {
  config->threads = Tile::kThreads;
  config->shared_bytes = Tile::kSharedBytes;
  config->resident =
      std::max(1, residency(device.sm, Tile::kThreads, Tile::kSharedBytes, Tile::kRegisterBlocks));
}

constexpr const char* kTooManyTiles = "more block tiles than a grid can have";

// Sets a grid of blocks_per_tile blocks for each tile of every matrix; false where a grid cannot
// have as many.
inline bool set_blocks(GemmConfig* config, const GemmProblem& p, int64_t blocks_per_tile) {
  if (estimate::block_tiles(*config, p) * static_cast<double>(blocks_per_tile) >
      static_cast<double>(kMostGridBlocks)) {
    return false;
  }
  // Unsigned: without matrices, the tiles of one may be any number, and the product is still 0.
  const uint64_t tiles = static_cast<uint64_t>(config->tiles_m) *
                         static_cast<uint64_t>(config->tiles_n) *
                         static_cast<uint64_t>(p.batch_count);
  config->blocks = static_cast<int64_t>(tiles) * blocks_per_tile;
  return true;
}

}  // namespace mygemm
