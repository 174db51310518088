// Kernels on tensor cores, which compute an FP32 product as several products of parts of its
// operands, by one method (tf32x3/) or another (bf16x6/): their block tiles, configuration and
// launch. Pure.
#pragma once

#include "kernels/gemm/persistent/configure.h"

namespace mygemm {

// Block tiles: one or two producer warpgroups, then two consumer warpgroups of 64 rows each. Shared
// memory has a ring of kStages k steps of the operands, and kPlanes places for the parts of B.
template <int kBlockN_, int kStages_, int kTogether_, int kProducerWarps_, int kProducerRegisters_>
struct TensorTile {
  using Element = float;
  static constexpr int kBlockM = 128, kBlockN = kBlockN_, kBlockK = 32;
  static constexpr int kStages = kStages_, kPlanes = 2;
  // Stages where results wait in shared memory (tensor/boxes.cuh); 0: they do not.
  static constexpr int kStagesBesideBoxes = 0;
  // k that a warp gives the tensor cores at once, and that producers and consumers hand over.
  static constexpr int kTogether = kTogether_, kParts = kBlockK / kTogether;
  static constexpr int kConsumerWarps = 8, kProducerWarps = kProducerWarps_;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  // Registers per thread at launch, a multiple of 8; then consumers share those that producers give
  // up.
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kProducerRegisters_;
  // Shared memory, at most, for barriers and for the notes of two warpgroups.
  static constexpr int kNotesBytes = 1024 + 2 * (16 * kBlockN + 5632);
  static constexpr int kConsumerRegisters =
      (kThreads / 128 * kLaunchRegisters - kProducerWarps / 4 * kProducerRegisters) / 2 / 8 * 8;
};

namespace tensor {

// How a tile's operands come, both alike.
template <class Tile>
OperandLoad load_of(const GemmProblem& p) {
  if (has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count)) {
    return OperandLoad::kTensorMap;
  }
  // Shifted maps bring k in another order: see bf16x6.h.
  const bool shifted = Tile::kTakesShiftedMaps && !p.invariant &&
                       has_shifted_maps(p.a, p.transa ? p.m : p.k, p.batch_count) &&
                       has_shifted_maps(p.b, p.transb ? p.k : p.n, p.batch_count);
  return shifted ? OperandLoad::kShiftedMaps : OperandLoad::kCopy4;
}

// Whether results may wait in shared memory for the accelerator, where A and B come by tensor maps:
// it writes whole 16 bytes at the end of a column of D.
inline bool stores_boxes(const Operand& d, int64_t rows, int64_t batch_count) {
  return rows % 4 == 0 && has_tensor_map(d, batch_count);
}
// Then this is the time of a tile's store that is not overlapped, without a fused epilogue.
constexpr double kBoxedStoreSeconds = 2.6e-6;
template <class Tile>
double store_seconds(const GemmProblem& p, OperandLoad load) {
  const bool boxed = Tile::kStagesBesideBoxes > 0 && load == OperandLoad::kTensorMap && !p.fused &&
                     stores_boxes(p.d, p.m, p.batch_count);
  return boxed ? kBoxedStoreSeconds : persistent::store_seconds<Tile>();
}

}  // namespace tensor

// Tile::kLeastK is the smallest k at which the plan takes the kernel; below it FFMA is more
// accurate on some data. In fast math it is Tile::kLeastKFast.
template <class Tile, bool kStreamK>
const char* configure_tensor(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions& options,
                             GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (facts.freedom == Freedom::kNone) return "strict math: FP32 multiply-adds alone";
  if (facts.freedom < Tile::kFreedom) return "operands lose last bits: for fast math alone";
  const bool fast = facts.freedom >= Freedom::kLastBits;
  if (!options.forced && p.k < (fast ? Tile::kLeastKFast : Tile::kLeastK)) {
    return "k is too short for tensor cores to be as accurate as a chain";
  }
  // TT is computed as its transposed, which is NN.
  config->transposed = p.transa && p.transb;
  if (const char* reason = persistent::schedule<Tile>(facts, device, options, kStreamK, config)) {
    return reason;
  }
  const OperandLoad load = tensor::load_of<Tile>(p);
  config->load_a = config->load_b = load;
  const GemmFigures& figures = kernel.figures;
  const double shifted = p.transa && !p.transb ? figures.shifted_tn : figures.shifted;
  const double step_factor = (load == OperandLoad::kTensorMap     ? 1.0
                              : load == OperandLoad::kShiftedMaps ? shifted
                                                                  : figures.misaligned) *
                             (!p.transa && p.transb ? figures.transposing : 1.0);
  config->seconds = persistent::seconds<Tile>(*config, figures, step_factor, facts, device,
                                              tensor::store_seconds<Tile>(p, load));
  return nullptr;
}

template <class Tile, bool kStreamK>
constexpr GemmBound tensor_bound(const GemmFigures& figures) {
  GemmBound bound = persistent::bound<Tile>(figures, kStreamK, Tile::kLeastKFast);
  bound.freedom = Tile::kFreedom;
  if (Tile::kStagesBesideBoxes > 0) bound.tile_fixed = tensor::kBoxedStoreSeconds;
  return bound;
}

namespace cuda {
template <class Tile>
Status launch_gemm_tensor(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
