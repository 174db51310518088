// Products of 16-bit operands on tensor cores (wgmma), with sums in FP32, and of an FP32 and a BF16
// operand: block tiles, configuration and launch. Pure.
#pragma once

#include <limits>

#include "kernels/gemm/persistent/configure.h"
#include "kernels/gemm/tensor16/estimate.h"

namespace mygemm {

// A block has kRows rows, 64 for each of its one or two consumer warpgroups, and kColumns columns
// of D or of D^T, whichever is faster; of D^T where the tile is square. A cluster has kClusterM x
// kClusterN blocks: those with the same rows share the copies of them, and so do those with the
// same columns. Shared memory has a ring of kStages k steps of both operands, and for each consumer
// warp a place for results. kMapped: the accelerator copies operands, by tensor maps; otherwise the
// producer warps do. kFp32Rows: rows are of an FP32 operand (mixed.cuh), columns of a BF16 one.
template <int kColumns_, int kClusterM_ = 1, int kClusterN_ = 1, bool kMapped_ = true,
          bool kFp32Rows_ = false, int kRows_ = 128>
struct Tensor16Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_;
  static constexpr int kClusterM = kClusterM_, kClusterN = kClusterN_;
  static constexpr int kCluster = kClusterM * kClusterN;
  static constexpr int kBlockM = kRows * kClusterM, kBlockN = kColumns * kClusterN, kBlockK = 64;
  static constexpr bool kMapped = kMapped_, kFp32Rows = kFp32Rows_;
  static constexpr bool kBothWays = kFp32Rows || kBlockM != kBlockN;
  static constexpr int kProducts = kFp32Rows ? 3 : 1;  // of tensor cores, for each of the matrices'
  static constexpr int kConsumerWarps = kRows / 16;
  static constexpr int kProducerWarps = kMapped || kFp32Rows ? 4 : 8;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  // Registers of a thread, multiples of 8: at launch, and then. One consumer warpgroup has enough
  // at launch.
  static constexpr bool kMovesRegisters = kConsumerWarps > 4;
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kMapped ? 56 : kFp32Rows ? 144 : 104;
  static constexpr int kConsumerRegisters =
      (kThreads / 128 * kLaunchRegisters - kProducerWarps / 4 * kProducerRegisters) / 2 / 8 * 8;
  static constexpr int kLineBytes =
      128;  // of a stage: 64 k, or 64 rows or columns of a k; FP32: 32
  // The columns of op(B) that a stage has room for: MN-major ones come in boxes of 64.
  static constexpr int kColumnsB = (kColumns + 63) / 64 * 64;
  static constexpr int kLinesA = kRows * (kFp32Rows ? 2 : 1);
  static constexpr int kStageA = kLinesA * kLineBytes, kStageB = kColumnsB * kLineBytes;  // bytes
  // Results of a warp's 16 rows in boxes of 2 KiB.
  static constexpr int kBoxes = 2, kBoxBytes = 16 * kLineBytes;
  static constexpr int kResultBytes = kConsumerWarps * kBoxes * kBoxBytes;
  static constexpr int kBarrierBytes = 1024;  // at most, with the padding behind them
  static constexpr int kMostSharedBytes = sm_resources(90).shared_bytes - kReservedSharedBytes;
  static constexpr int kStages =
      std::min(kRows == 64 ? 12 : 8,
               (kMostSharedBytes - kResultBytes - kBarrierBytes) / (kStageA + kStageB));
  static constexpr int kSharedBytes = kStages * (kStageA + kStageB) + kResultBytes + kBarrierBytes;
};

// Their names: columns and rows of a block, blocks of a cluster along rows and along columns. These
// are what is left of a wider choice, 14 widths and 1 to 8 blocks: none of the others would gain
// 0.2 % (118 products on an H200).
using Tensor16_256x128 = Tensor16Tile<256>;
using Tensor16_192x128 = Tensor16Tile<192>;
using Tensor16_144x128 = Tensor16Tile<144>;
using Tensor16_128x128 = Tensor16Tile<128>;
using Tensor16_64x128 = Tensor16Tile<64>;
using Tensor16_32x128 = Tensor16Tile<32>;
using Tensor16_256x128_2x1 = Tensor16Tile<256, 2>;
using Tensor16_224x128_2x1 = Tensor16Tile<224, 2>;
using Tensor16_208x128_2x1 = Tensor16Tile<208, 2>;
using Tensor16_192x128_4x1 = Tensor16Tile<192, 4>;
using Tensor16_96x128_4x1 = Tensor16Tile<96, 4>;
using Tensor16_48x128_1x4 = Tensor16Tile<48, 1, 4>;
using Tensor16_160x128_2x2 = Tensor16Tile<160, 2, 2>;
using Tensor16Lines_128x128 = Tensor16Tile<128, 1, 1, false>;

// Tiles of 64 rows have one consumer warpgroup and up to 12 stages, for products of few tiles. Left
// of 27 such tiles: 173 products have 0.932 of cuBLAS's speed with these, by the fastest kernel of
// each, and 0.917 without them (geometric means, H200).
template <int kColumns, int kClusterM, int kClusterN>
using Tensor16Tile64 = Tensor16Tile<kColumns, kClusterM, kClusterN, true, false, 64>;
using Tensor16_256x64_2x1 = Tensor16Tile64<256, 2, 1>;
using Tensor16_176x64_2x1 = Tensor16Tile64<176, 2, 1>;
using Tensor16_160x64_4x1 = Tensor16Tile64<160, 4, 1>;
using Tensor16_144x64_1x2 = Tensor16Tile64<144, 1, 2>;
using Tensor16_112x64_2x1 = Tensor16Tile64<112, 2, 1>;
using Tensor16_64x64_4x1 = Tensor16Tile64<64, 4, 1>;

// An FP32 and a BF16 operand. Clusters would gain nothing: consumers split rows for longer than
// these take from L2 (55 products on an H200).
template <int kColumns, bool kMapped = true>
using MixedTile = Tensor16Tile<kColumns, 1, 1, kMapped, true>;
using Mixed_128x128 = MixedTile<128>;
using Mixed_64x128 = MixedTile<64>;
using Mixed_32x128 = MixedTile<32>;
using MixedLines_64x128 = MixedTile<64, false>;

// The reason why tensor maps cannot bring both operands.
inline const char* unfit_for_maps(const GemmProblem& p) {
  const bool both = has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count);
  return both ? nullptr : "no tensor map describes both operands";
}

template <class Tile, bool kStreamK>
const char* configure_tensor16(const GemmKernel& kernel, const GemmFacts& facts,
                               const DeviceTraits& device, const PlanOptions& options,
                               GemmConfig* config) {
  DeviceTraits clusters = device;  // each as one multiprocessor
  clusters.num_sms = tensor16::clusters_at_once(device, Tile::kCluster);
  if (clusters.num_sms == 0) return "the GPU has no clusters of so many blocks";
  config->load_a = config->load_b = Tile::kMapped ? OperandLoad::kTensorMap : OperandLoad::kCopy16;
  config->cluster_blocks = Tile::kCluster > 1 ? Tile::kCluster : 0;
  GemmConfig faster = *config;
  faster.seconds = std::numeric_limits<double>::infinity();
  // Rows of the tile are rows of D^T, which are contiguous, or of D.
  for (const bool transposed : {true, false}) {
    if (!transposed && !Tile::kBothWays) break;
    const Operand& rows = transposed ? facts.problem.b : facts.problem.a;
    if (Tile::kFp32Rows && rows.type != MYGEMM_R_32F) continue;
    GemmConfig way = *config;
    way.transposed = transposed;
    if (const char* reason = persistent::schedule<Tile>(facts, clusters, options, kStreamK, &way)) {
      return reason;
    }
    way.blocks *= Tile::kCluster;
    way.seconds = tensor16::seconds<Tile>(way, kernel.figures, facts, device, clusters.num_sms);
    if (way.seconds < faster.seconds) faster = way;
  }
  if (Tile::kMapped) {
    if (const char* reason = unfit_for_maps(facts.problem)) return reason;
  }
  *config = faster;
  return nullptr;
}

// One chain of instructions of 16 k, k ascending. Tiles divide rows and columns between
// instructions, and k not. Whether A or B has an instruction's rows makes no difference to the bits
// (measured on an H200). `Lines` bring the same stages.
namespace tensor16 {
inline constexpr SumOrder kOrder{
    .refusal = "batch-invariant products of 16 bits sum in another order: one chain of wgmma",
    .most_k = persistent::kMostExtent};
// FP32 and BF16: mixed.cuh.
inline constexpr SumOrder kMixedOrder{
    .refusal =
        "batch-invariant products of FP32 and BF16 sum in another order: 64 k on tensor cores",
    .most_k = persistent::kMostExtent};
}  // namespace tensor16

namespace cuda {
template <class Tile, bool kStreamK>
Status launch_gemm_tensor16(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
