// The kernels on tensor cores with six BF16 products for each FP32 one: tiles. Pure.
#pragma once

#include <algorithm>

#include "kernels/gemm/tensor/tensor.h"

namespace mygemm {
namespace bf16x6 {
struct Method;  // method.cuh

// Sums of the large products of 32 k each, added up in FP32, k ascending; and one sum of all small
// products, added last. Tiles divide columns between instructions, and k not. Which 16 k of 32 an
// instruction takes is the same of copies and of tensor maps, but not of shifted maps.
//
// The least k: from 256 on errors in the Frobenius norm are at most 0.92 of those of multiply-adds
// on all data of docs/accuracy.md; at 128 they are 1.25 of them where few products make a result,
// and at 64, 1.59.
inline constexpr SumOrder kOrder{
    .refusal = "batch-invariant products of this k sum in another order: six BF16 products",
    .freedom = Freedom::kOrder,
    .least_k = 256,
    .least_k_fast = 64,
    .most_k = persistent::kMostExtent};
}  // namespace bf16x6

// The places for B's parts have all three of them, so that shared memory holds B itself only until
// it is split.
template <int kBlockN, int kStages, int kStagesBesideBoxes_, int kProducerWarps,
          int kProducerRegisters>
struct Bf16x6Tile : TensorTile<kBlockN, kStages, 32, kProducerWarps, kProducerRegisters> {
  using Method = bf16x6::Method;
  static constexpr const SumOrder* kOrder = &bf16x6::kOrder;
  static constexpr Freedom kFreedom = bf16x6::kOrder.freedom;
  static constexpr bool kTakesShiftedMaps = true;
  static constexpr int kStagesBesideBoxes = kStagesBesideBoxes_;
  static constexpr int kLeastK = bf16x6::kOrder.least_k;
  static constexpr int kLeastKFast = bf16x6::kOrder.least_k_fast;

  static constexpr int bytes_of_stages(int stages) {
    return 4 * Bf16x6Tile::kBlockK *
           (stages * Bf16x6Tile::kBlockM + (stages - Bf16x6Tile::kPlanes) * kBlockN);
  }
  static constexpr int kSharedBytes =
      std::max(bytes_of_stages(kStages),
               bytes_of_stages(kStagesBesideBoxes) + 4 * Bf16x6Tile::kBlockM * kBlockN) +
      2 * 3 * Bf16x6Tile::kPlanes * kBlockN * Bf16x6Tile::kBlockK + Bf16x6Tile::kNotesBytes;
};

using Bf16x6_128x128 = Bf16x6Tile<128, 6, 4, 4, 56>;
using Bf16x6_128x64 = Bf16x6Tile<64, 8, 0, 4, 56>;

}  // namespace mygemm
