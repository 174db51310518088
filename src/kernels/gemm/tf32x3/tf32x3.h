// The kernels on tensor cores with three TF32 products for each FP32 one, data-parallel and
// stream-K: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/persistent/configure.h"

namespace mygemm {

// Block tiles of the kernels on tensor cores: one or two producer warpgroups, then two consumer
// warpgroups of 64 rows each. Shared memory holds kStages k steps of both operands and two of B's
// low plane. Where B must be transposed, it holds two of both of B's planes, and B itself only
// until it is split: two steps less.
template <int kBlockN_, int kStages_, int kTogether_, int kProducerWarps_, int kProducerRegisters_>
struct TensorTile {
  using Element = float;
  static constexpr int kBlockM = 128, kBlockN = kBlockN_, kBlockK = 32;
  static constexpr int kStages = kStages_, kPlanes = 2;
  // k that a warp gives the tensor cores at once, and that producers and consumers hand over.
  static constexpr int kTogether = kTogether_, kParts = kBlockK / kTogether;
  static constexpr int kConsumerWarps = 8, kProducerWarps = kProducerWarps_;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  // Registers per thread at launch, a multiple of 8; then consumers share those that producers give
  // up.
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kProducerRegisters_;
  static constexpr int kConsumerRegisters =
      (kThreads / 128 * kLaunchRegisters - kProducerWarps / 4 * kProducerRegisters) / 2 / 8 * 8;
  // Smallest k at which this kernel is used; below it FFMA is more accurate. From there on errors
  // are at most cuBLAS's, those of a chain of multiply-adds, on the data of docs/accuracy.md except
  // for sums of few products and a norm of `graded`. The more small products are summed before the
  // large ones, the smaller this k.
  static constexpr int kLeastK = kTogether == kBlockK ? 768 : 1024;

  static constexpr int kSharedBytes =
      4 * kBlockK * (kStages * kBlockM + (kStages + kPlanes) * kBlockN) + 2048;
};

using Tensor128x192 = TensorTile<192, 4, 16, 4, 56>;
using Tensor128x128 = TensorTile<128, 5, 32, 8, 56>;
using Tensor128x64 = TensorTile<64, 8, 32, 8, 56>;

template <class Tile, bool kStreamK>
const char* configure_tf32x3(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions& options,
                             GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (p.math == MYGEMM_MATH_STRICT) return "strict math: FP32 multiply-adds alone";
  if (!options.forced && p.k < Tile::kLeastK) {
    return "k is too short for tensor cores to be as accurate as a chain";
  }
  // TT is computed as its transposed, which is NN.
  config->transposed = p.transa && p.transb;
  if (const char* reason = persistent::schedule<Tile>(facts, device, options, kStreamK, config)) {
    return reason;
  }
  const bool mapped = has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count);
  config->load_a = config->load_b = mapped ? OperandLoad::kTensorMap : OperandLoad::kCopy4;
  const GemmFigures& figures = kernel.figures;
  const double step_factor =
      (mapped ? 1.0 : figures.misaligned) * (!p.transa && p.transb ? figures.transposing : 1.0);
  config->seconds = persistent::seconds<Tile>(*config, figures, step_factor, facts, device);
  return nullptr;
}

template <class Tile, bool kStreamK>
constexpr GemmBound tf32x3_bound(const GemmFigures& figures) {
  GemmBound bound = persistent::bound<Tile>(figures, kStreamK, Tile::kLeastK);
  bound.takes_strict = false;
  return bound;
}

namespace cuda {
template <class Tile>
Status launch_gemm_tf32x3(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
