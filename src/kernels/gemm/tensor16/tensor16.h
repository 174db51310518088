// Products of 16-bit operands on tensor cores (wgmma), with sums in FP32: block tiles,
// configuration and launch. Pure.
#pragma once

#include "kernels/gemm/persistent/configure.h"

namespace mygemm {

// Kernels compute D^T = op(B)^T op(A)^T, whose rows are contiguous in memory: a block has kRows
// rows of it (columns of D), 64 for each of two consumer warpgroups, and kBlockN columns (rows of
// D). kCluster blocks have rows next to one another, and share the copies of op(A). Shared memory
// has a ring of kStages k steps of both operands, and for each consumer warp a place for results.
// kMapped: the accelerator copies operands, by tensor maps; otherwise the producer warps do.
template <int kBlockN_, int kStages_, int kCluster_, bool kMapped_ = true>
struct Tensor16Tile {
  static constexpr int kRows = 128, kCluster = kCluster_;
  static constexpr int kBlockM = kRows * kCluster, kBlockN = kBlockN_, kBlockK = 64;
  static constexpr int kStages = kStages_;
  static constexpr bool kMapped = kMapped_;
  static constexpr int kConsumerWarps = 8, kProducerWarps = kMapped ? 4 : 8;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  // Registers of a thread, multiples of 8: at launch, and then.
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kMapped ? 40 : 104;
  static constexpr int kConsumerRegisters =
      (kThreads / 128 * kLaunchRegisters - kProducerWarps / 4 * kProducerRegisters) / 2 / 8 * 8;
  static constexpr int kLineBytes = 128;  // of a stage: 64 k, or 64 rows or columns of a k
  // The columns of op(B) that a stage has room for: MN-major ones come in boxes of 64.
  static constexpr int kColumnsB = (kBlockN + 63) / 64 * 64;
  static constexpr int kStageA = kRows * kLineBytes, kStageB = kColumnsB * kLineBytes;  // bytes
  // Results of a warp's 16 rows in boxes of 128 bytes a row.
  static constexpr int kBoxes = 2, kBoxBytes = 16 * kLineBytes;
  // Time to store a tile that is not overlapped. H200: 1.0 us for 128 x 128, 2.0 us for 256 x 128,
  // and more where blocks of a cluster wait for each other.
  static constexpr double kStoreSeconds =
      0.1e-6 + 5.7e-11 * kRows * kBlockN + (kCluster > 1 ? 0.3e-6 : 0.0);
  static constexpr double kStreamKSeconds = 5.6e-6;  // H200, 320 products
  static constexpr int kBarrierBytes = 1024;         // at most, with the padding behind them
  static constexpr int kSharedBytes =
      kStages * (kStageA + kStageB) + kConsumerWarps * kBoxes * kBoxBytes + kBarrierBytes;
};

using Tensor16_256x256 = Tensor16Tile<256, 4, 2>;
using Tensor16_192x256 = Tensor16Tile<192, 4, 2>;
using Tensor16_160x256 = Tensor16Tile<160, 4, 2>;
using Tensor16_128x256 = Tensor16Tile<128, 6, 2>;
using Tensor16_256x128 = Tensor16Tile<256, 4, 1>;
using Tensor16_192x128 = Tensor16Tile<192, 4, 1>;
using Tensor16_160x128 = Tensor16Tile<160, 4, 1>;
using Tensor16_128x128 = Tensor16Tile<128, 6, 1>;
using Tensor16_64x128 = Tensor16Tile<64, 8, 1>;
using Tensor16Lines_128x128 = Tensor16Tile<128, 6, 1, false>;

// Bytes a second from L2 to a multiprocessor while all ask, and how much longer 128 bytes take that
// are parts of two of its lines: of whole sectors of 32 bytes, or of others. H200, 132
// products with ten tiles each.
constexpr double kL2RateOfOne = 81e9, kTwoLines = 1.23, kTwoLinesOfSectors = 1.7;

inline double l2_factor(const Operand& x, double two_lines = kTwoLines,
                        double two_lines_of_sectors = kTwoLinesOfSectors) {
  // Only lower bits count, so the product may overflow.
  const auto all = reinterpret_cast<uintptr_t>(x.data) |
                   static_cast<uintptr_t>(x.ld) * static_cast<uintptr_t>(element_bytes(x.type));
  return all % 128 == 0 ? 1.0 : all % 32 == 0 ? two_lines : two_lines_of_sectors;
}

// The reason why tensor maps cannot bring both operands.
inline const char* unfit_for_maps(const GemmProblem& p) {
  const bool both = has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count);
  return both ? nullptr : "no tensor map describes both operands";
}

template <class Tile, bool kStreamK>
const char* configure_tensor16(const GemmKernel& kernel, const GemmFacts& facts,
                               const DeviceTraits& device, const PlanOptions& options,
                               GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  config->transposed = true;
  DeviceTraits clusters = device;  // each as one multiprocessor
  if (Tile::kCluster > 1) clusters.num_sms = device.clusters[1];
  if (const char* reason = persistent::schedule<Tile>(facts, clusters, options, kStreamK, config)) {
    return reason;
  }
  if (Tile::kMapped) {
    if (const char* reason = unfit_for_maps(p)) return reason;
  }
  config->load_a = config->load_b = Tile::kMapped ? OperandLoad::kTensorMap : OperandLoad::kCopy16;
  config->blocks *= Tile::kCluster;
  config->cluster_blocks = Tile::kCluster > 1 ? Tile::kCluster : 0;
  const double l2_rate = kL2RateOfOne * device.num_sms * (Tile::kBlockM + Tile::kBlockN) /
                         (Tile::kBlockM * l2_factor(p.b) + Tile::kBlockN * l2_factor(p.a));
  config->seconds = persistent::seconds<Tile>(*config, kernel.figures, 1.0 / Tile::kCluster, facts,
                                              clusters, l2_rate);
  return nullptr;
}

template <class Tile, bool kStreamK>
constexpr GemmBound tensor16_bound(const GemmFigures& figures) {
  GemmBound bound = persistent::bound<Tile>(figures, kStreamK, 0);
  bound.lone_share = 1.0 / Tile::kCluster;
  return bound;
}

// One chain of instructions of 16 k, k ascending, of D^T whatever the operations are. Tiles divide
// rows and columns between instructions, and k not. `Lines` bring the same stages.
namespace tensor16 {
inline constexpr SumOrder kOrder{
    .refusal = "batch-invariant products of 16 bits sum in another order: one chain of wgmma",
    .most_k = persistent::kMostExtent};
}  // namespace tensor16

namespace cuda {
template <class Tile>
Status launch_gemm_tensor16(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
