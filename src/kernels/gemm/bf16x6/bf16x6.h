// The kernels on tensor cores with six BF16 products for each FP32 one: tiles. Pure.
#pragma once

#include "kernels/gemm/tensor/tensor.h"

namespace mygemm {
namespace bf16x6 {
struct Method;  // method.cuh
}

// The places for B's parts have all three of them, so that shared memory holds B itself only until
// it is split.
template <int kBlockN, int kStages, int kProducerWarps, int kProducerRegisters>
struct Bf16x6Tile : TensorTile<kBlockN, kStages, 32, kProducerWarps, kProducerRegisters> {
  using Method = bf16x6::Method;
  static constexpr Freedom kFreedom = Freedom::kOrder;
  static constexpr bool kTakesShiftedMaps = true;
  // From here on errors in the Frobenius norm are at most 0.92 of those of multiply-adds on all
  // data of docs/accuracy.md; at 128 they are 1.25 of them where few products make a result, and at
  // 64, 1.59.
  static constexpr int kLeastK = 256, kLeastKFast = 64;

  static constexpr int kSharedBytes =
      Bf16x6Tile::kBlockK *
          (4 * (kStages * Bf16x6Tile::kBlockM + (kStages - Bf16x6Tile::kPlanes) * kBlockN) +
           2 * 3 * Bf16x6Tile::kPlanes * kBlockN) +
      Bf16x6Tile::kNotesBytes;
};

using Bf16x6_128x128 = Bf16x6Tile<128, 6, 4, 56>;
using Bf16x6_128x64 = Bf16x6Tile<64, 8, 4, 56>;

}  // namespace mygemm
