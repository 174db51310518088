// Six BF16 products: how producer warps split a k step of B that came by shifted maps
// (tensor/feed.cuh). Warp r takes the lines of map r, 8 at a time, which have the same shift and
// begin 4 banks apart. A lane takes 8 elements of a line, and loads each by itself. Those that 4
// lanes of a line load at once are different modulo 4: no bank conflicts. Device only.
#pragma once

#include "kernels/gemm/bf16x6/split.cuh"

namespace mygemm::bf16x6 {

using tensor::ShiftedMaps;
using tensor::ShiftedStage;

// A K-major B, whose lines are columns. The order of k in the parts is that of a lane's values of
// A: see ShiftedRowsOfA. Stores have two-way bank conflicts, as columns 4 apart have the same half
// of 128 bytes.
template <class Tile, Major kMajorOfA, int kPart>
__device__ __forceinline__ void split_shifted_columns(uint16_t (&to)[kPartsOfElement][kPart],
                                                      const float* step, int shift,
                                                      StatisticsOfB& seen, int warp, int lane) {
  using Stage = ShiftedStage<Major::kK, Tile::kBlockN>;
  constexpr int kMaps = ShiftedMaps::kMaps, kAtOnce = 8, kTurns = Stage::kOfMap / kAtOnce;
  static_assert(Tile::kProducerWarps == kMaps && kTurns % 2 == 0);
  const int chunk = lane % 4, line = lane / 4;
  const float* const from = step + (warp * Stage::kOfMap + line) * Stage::kPitch + shift;
  const int place = place_in_part(kMaps * line + warp, chunk);
#pragma unroll
  for (int begin = 0; begin < kTurns; begin += 2) {
    float x[2][8];  // as the parts have them
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const int t = e / 2, h = e % 2;
        const int k =
            kMajorOfA == Major::kK ? 8 * chunk + 4 * h + (t ^ chunk) : 4 * (2 * t + h) + chunk;
        x[i][e] = from[(begin + i) * kAtOnce * Stage::kPitch + k];
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      Pairs pairs[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) pairs[t] = split(x[i][2 * t], x[i][2 * t + 1]);
      store_pairs(to, place + (begin + i) * kAtOnce * kMaps * kLine, pairs);
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) seen.see(x[e / 8][e % 8]);
  }
}

// x[e] becomes x[e ^ by]; `by` is 0 to 3, and registers do not depend on it.
__device__ __forceinline__ void exchange(float (&x)[4], int by) {
  const auto swap_if = [](bool swaps, float& one, float& other) {
    const float kept = swaps ? other : one;
    other = swaps ? one : other;
    one = kept;
  };
  swap_if(by % 2 != 0, x[0], x[1]), swap_if(by % 2 != 0, x[2], x[3]);
  swap_if(by / 2 != 0, x[0], x[2]), swap_if(by / 2 != 0, x[1], x[3]);
}

// An MN-major B, whose lines are k. They lie in the parts as in the stage, as A's do: see
// ShiftedRowsOfA.
template <class Tile, int kPart>
__device__ __forceinline__ void split_shifted_lines(uint16_t (&to)[kPartsOfElement][kPart],
                                                    const float* step, int shift,
                                                    StatisticsOfB& seen, int warp, int lane) {
  using Stage = ShiftedStage<Major::kMN, Tile::kBlockN>;
  static_assert(Tile::kProducerWarps == ShiftedMaps::kMaps && Stage::kOfMap == 8);
  const int chunk = lane % 4, line = Stage::kOfMap * warp + lane / 4;
  const float* const from = step + line * Stage::kPitch + shift + 8 * chunk;
  const int place = place_in_part(line, chunk);
#pragma unroll
  for (int first = 0; first < Tile::kBlockN; first += kLine) {
    float x[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int e = 0; e < 4; ++e) x[half][e] = from[first + 4 * half + (e ^ chunk)];
    }
    Pairs pairs[4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      exchange(x[half], chunk);
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        pairs[2 * half + pair] = split(x[half][2 * pair], x[half][2 * pair + 1]);
      }
    }
    store_pairs(to, place + first * kLine, pairs);
#pragma unroll
    for (int e = 0; e < 8; ++e) seen.see(x[e / 4][e % 4]);
  }
}

}  // namespace mygemm::bf16x6
