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
  static constexpr int kStageA = kRows * kLineBytes, kStageB = kBlockN * kLineBytes;  // bytes
  // Results of a warp's 16 rows in boxes of 128 bytes a row.
  static constexpr int kBoxes = 2, kBoxBytes = 16 * kLineBytes;
  // Time to store a tile that is not overlapped. H200: 1.7 us for 128 x 128, 3.1 us for 256 x 128,
  // and a little more where blocks of a cluster wait for each other.
  static constexpr double kStoreSeconds =
      0.4e-6 + 8.2e-11 * kRows * kBlockN + (kCluster > 1 ? 0.4e-6 : 0.0);
  static constexpr int kBarrierBytes = 1024;  // at most, with the padding behind them
  static constexpr int kSharedBytes =
      kStages * (kStageA + kStageB) + kConsumerWarps * kBoxes * kBoxBytes + kBarrierBytes;
};

using Tensor16_256x256 = Tensor16Tile<256, 4, 2>;
using Tensor16_256x128 = Tensor16Tile<256, 4, 1>;
using Tensor16_128x128 = Tensor16Tile<128, 6, 1>;
using Tensor16_64x128 = Tensor16Tile<64, 8, 1>;
using Tensor16Lines_128x128 = Tensor16Tile<128, 6, 1, false>;

// Whether the lines of 128 bytes that the accelerator brings are those of L2. Others are parts of
// two.
inline bool lines_are_whole(const Operand& x) {
  return reinterpret_cast<uintptr_t>(x.data) % 128 == 0 &&
         x.ld % (128 / element_bytes(x.type)) == 0;
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
  if (Tile::kMapped &&
      !(has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count))) {
    return "no tensor map describes both operands";
  }
  config->load_a = config->load_b = Tile::kMapped ? OperandLoad::kTensorMap : OperandLoad::kCopy16;
  config->blocks *= Tile::kCluster;
  config->cluster_blocks = Tile::kCluster > 1 ? Tile::kCluster : 0;
  const bool whole_lines = lines_are_whole(p.a) && lines_are_whole(p.b);
  const double step_factor =
      (Tile::kMapped && !whole_lines ? kernel.figures.misaligned : 1.0) / Tile::kCluster;
  config->seconds =
      persistent::seconds<Tile>(*config, kernel.figures, step_factor, facts, clusters);
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
