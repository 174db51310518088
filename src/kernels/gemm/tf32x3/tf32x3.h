// The kernels on tensor cores with three TF32 products for each FP32 one: tiles. Pure.
#pragma once

#include "kernels/gemm/tensor/tensor.h"

namespace mygemm {
namespace tf32x3 {
struct Method;  // method.cuh

// Sums of 32 k each, the small products first, added up in FP32, k ascending. The tiles of 192
// columns sum 16 k at once, so their order is one of their own.
inline constexpr SumOrder kOrder{
    .refusal = "batch-invariant products of this k sum in another order: three TF32 products",
    .freedom = Freedom::kLastBits,
    .least_k = 768,
    .least_k_fast = 768,
    .most_k = persistent::kMostExtent};
}  // namespace tf32x3

// The places for B's parts have its low part. An MN-major B must be transposed for the tensor
// cores: then they have its high part too, and shared memory holds B itself only until it is split,
// two steps less.
template <int kBlockN, int kStages, int kTogether, int kProducerWarps, int kProducerRegisters>
struct Tf32x3Tile : TensorTile<kBlockN, kStages, kTogether, kProducerWarps, kProducerRegisters> {
  using Method = tf32x3::Method;
  static constexpr bool kSumsWholeSteps = kTogether == Tf32x3Tile::kBlockK;
  static constexpr const SumOrder* kOrder = kSumsWholeSteps ? &tf32x3::kOrder : nullptr;
  static constexpr Freedom kFreedom = Freedom::kLastBits;
  static constexpr bool kTakesShiftedMaps = false;
  // From here on errors are at most cuBLAS's, those of a chain of multiply-adds, on the data of
  // docs/accuracy.md except for sums of few products and a norm of `graded`. The more small
  // products are summed before the large ones, the smaller this k.
  static constexpr int kLeastK = kSumsWholeSteps ? tf32x3::kOrder.least_k : 1024;
  static constexpr int kLeastKFast = kLeastK;

  static constexpr int kSharedBytes =
      4 * Tf32x3Tile::kBlockK *
          (kStages * Tf32x3Tile::kBlockM + (kStages + Tf32x3Tile::kPlanes) * kBlockN) +
      Tf32x3Tile::kNotesBytes;
};

using Tensor128x192 = Tf32x3Tile<192, 4, 16, 4, 56>;
using Tensor128x128 = Tf32x3Tile<128, 5, 32, 8, 56>;
using Tensor128x64 = Tf32x3Tile<64, 8, 32, 8, 56>;

}  // namespace mygemm
