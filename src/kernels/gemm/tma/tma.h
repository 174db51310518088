// The TMA-fed kernels, data-parallel and stream-K: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/persistent/configure.h"

namespace mygemm {

// Block tiles of the TMA-fed kernels: a warpgroup of producers, then kGroups groups of consumer
// warps that take the k steps in turn and add up at the end. A lane holds kThreadM x kThreadN
// results, in quads of 4 that lie kLanesM (kLanesN) quads apart.
template <int kBlockM_, int kBlockN_, int kBlockK_, int kWarpM_, int kWarpN_, int kThreadM_,
          int kThreadN_, int kGroups_, int kStages_>
struct TmaTile {
  using Element = float;
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kBlockK_;
  static constexpr int kWarpM = kWarpM_, kWarpN = kWarpN_;
  static constexpr int kThreadM = kThreadM_, kThreadN = kThreadN_;
  static constexpr int kGroups = kGroups_;
  static constexpr const SumOrder* kOrder = kGroups == 1 ? &kChainOrder : nullptr;
  static constexpr int kStages = kStages_;  // k steps ready to be multiplied, or on the way
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kGroupWarps = kWarpsM * kWarpsN;
  static constexpr int kGroupThreads = 32 * kGroupWarps;
  static constexpr int kConsumerWarps = kGroups * kGroupWarps;
  static constexpr int kProducerWarps = 4;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  static constexpr int kResults = kThreadM * kThreadN;
  // The registers of a multiprocessor are 168 for each of 384 threads; 16 x 8 results need more,
  // and producers less: 128 * (168 - 56) = 256 * (224 - 168).
  static constexpr bool kMovesRegisters = kResults >= 128;
  static constexpr int kProducerRegisters = 56, kConsumerRegisters = 224;
  // Factor of a k step's time with a fused epilogue, in which 68 % of the multiply-adds of 64 x 128
  // tiles read twice from a bank of registers (multiply.cuh).
  static constexpr double kFusedFactor = kBlockM == 64 && kBlockN == 128 ? 1.6 : 1.0;
  // The results of one group are stored kResultsAtOnce at a time, those of several groups together.
  static constexpr int kResultsAtOnce = kGroups == 1 ? 32 : kResults;
  // The shared memory of a block at most, which is where both operands are K-major: stages and
  // results, with room for alignment and barriers.
  static constexpr int kSharedBytes =
      4 * (kStages * kBlockK * (kBlockM + kBlockN + 8) + kGroups * kResultsAtOnce * kGroupThreads +
           kConsumerWarps * 32 * 4) +
      kStages * 16 + 256;

  static_assert(kLanesM * kLanesN == 32 && kThreadM % 4 == 0 && kThreadN % 4 == 0);
  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kBlockK % 8 == 0 && kBlockN % 32 == 0, "the copies of a warp cover as much");
  static_assert(kProducerWarps <= kStages && kGroups <= kStages);
  // A producer that waits for a stage must find its last phase over or running, not the one before
  // that, which has the same parity. So the k step that was in the stage kStages steps ago must
  // have been copied by the same warp, or been read by the group that read this warp's last copy.
  static_assert(kGroups == 1 || kStages % kProducerWarps == 0 ||
                (kStages - kProducerWarps) % kGroups == 0);
};

using Tma256x128 = TmaTile<256, 128, 16, 64, 64, 16, 8, 1, 7>;
// Where those leave multiprocessors idle.
using Tma128x128 = TmaTile<128, 128, 16, 64, 32, 8, 8, 1, 8>;
using Tma128x64 = TmaTile<128, 64, 16, 64, 32, 8, 8, 2, 8>;
// One side of 17 to 64, the other of thousands: nothing of a tile lies outside of D along it.
using Tma64x128 = TmaTile<64, 128, 16, 64, 32, 8, 8, 2, 8>;
using Tma128x32 = TmaTile<128, 32, 16, 64, 32, 8, 8, 4, 12>;
using Tma32x128 = TmaTile<32, 128, 16, 32, 64, 8, 8, 4, 12>;
using Tma64x32 = TmaTile<64, 32, 16, 64, 32, 8, 8, 8, 16>;
using Tma32x32 = TmaTile<32, 32, 16, 32, 32, 8, 4, 8, 24>;

namespace tma {

// The time of a copy of 4 bytes, in multiply-adds of the multiprocessor: of a K-major operand, more
// where a side of the tile is 32 and the other 128, and of a misaligned one.
template <class Tile>
constexpr double kTransposingCopy =
    Tile::kBlockM == 4 * Tile::kBlockN || Tile::kBlockN == 4 * Tile::kBlockM ? 10.0 : 7.5;
constexpr double kShiftedCopy = 8.5;

// Operands that are MN-major come by tensor map, both of them or none.
inline void configure_loads(const GemmProblem& p, GemmConfig* config) {
  const bool mapped = (p.transa || has_tensor_map(p.a, p.batch_count)) &&
                      (!p.transb || has_tensor_map(p.b, p.batch_count));
  const auto load_of = [mapped](Major major) {
    if (major == Major::kK) return OperandLoad::kTransposing;
    return mapped ? OperandLoad::kTensorMap : OperandLoad::kCopy4;
  };
  config->load_a = load_of(major_of_a(p));
  config->load_b = load_of(major_of_b(p));
}

// Factor of a k step's time where producers copy an operand 4 bytes at a time: a K-major one, or
// both where one is misaligned.
template <class Tile>
double step_factor(const GemmConfig& config, double transposing_copy = kTransposingCopy<Tile>) {
  const bool shifted = config.load_a == OperandLoad::kCopy4 || config.load_b == OperandLoad::kCopy4;
  const double copied = (config.load_a == OperandLoad::kTensorMap ? 0 : Tile::kBlockM) +
                        (config.load_b == OperandLoad::kTensorMap ? 0 : Tile::kBlockN);
  return 1.0 + (shifted ? kShiftedCopy : transposing_copy) * copied / Tile::kBlockM / Tile::kBlockN;
}

}  // namespace tma

template <class Tile, bool kStreamK>
const char* configure_tma(const GemmKernel& kernel, const GemmFacts& facts,
                          const DeviceTraits& device, const PlanOptions& options,
                          GemmConfig* config) {
  if (const char* reason = persistent::schedule<Tile>(facts, device, options, kStreamK, config)) {
    return reason;
  }
  tma::configure_loads(facts.problem, config);
  const double store = persistent::store_seconds<Tile>() +
                       kernel.figures.store_seconds * Tile::kBlockM * Tile::kBlockN;
  const double factor =
      tma::step_factor<Tile>(*config) * (facts.problem.fused ? Tile::kFusedFactor : 1.0);
  config->seconds =
      persistent::seconds<Tile>(*config, kernel.figures, factor, facts, device, store);
  return nullptr;
}

template <class Tile, bool kStreamK>
constexpr GemmBound tma_bound(const GemmFigures& figures) {
  return persistent::bound<Tile>(figures, kStreamK, /*least_k=*/1);
}

namespace cuda {
template <class Tile>
Status launch_gemm_tma(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
