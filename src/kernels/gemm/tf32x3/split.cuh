// Three TF32 products: how producer warps split B. A float x is the sum of two values that tensor
// cores multiply (TF32, 11 bits): a high part, for which they take x itself and ignore its lower 13
// bits, and a low part, x minus that, which these warps write. Device only.
#pragma once

#include "kernels/gemm/tensor/feed.cuh"

namespace mygemm::tf32x3 {

using tensor::kLine;

// The guard's statistics of elements of B that a lane has seen.
struct StatisticsOfB {
  float sum = 0.0f;  // of |B|

  __device__ __forceinline__ void see(float x) { sum += fabsf(x); }
  // The largest sum of a warp's lanes.
  __device__ __forceinline__ StatisticsOfB of_warp() const {
    return {tensor::largest_in_warp(sum)};
  }
};

// The bits of x that tensor cores ignore, rounded to TF32: half a unit is added, and tensor cores
// truncate.
__device__ __forceinline__ float low_of(float x) {
  const float high = __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  return __uint_as_float(__float_as_uint(x - high) + 0x1000u);
}

// Splits a part of a k step of a K-major B: the low plane lies as the step itself does.
// Values are loaded before any is stored: the compiler does not know that the two do not overlap.
template <class Tile>
__device__ __forceinline__ void split_in_place(const float* step, float* low, int part,
                                               StatisticsOfB& seen, int warp, int lane) {
  constexpr int kQuads = Tile::kTogether / 4, kRows = 32 / kQuads;  // of a warp at once
  constexpr int kSteps = Tile::kBlockN / kRows / Tile::kProducerWarps;
  constexpr int kAtOnce = kSteps % 6 == 0 ? 6 : kSteps % 4 == 0 ? 4 : kSteps;
  // 8 lanes, which load together, have all 8 quads of a line: of one row, or 4 of each of two rows
  // that are 4 apart.
  const int row = kQuads == 8 ? lane / 8 : lane / 4 % 2 * 4 + lane / 8;
  // At one time a warp has whole groups of 8 rows, or half of each group.
  const int line = warp * kRows + row;
  const int place = (line * kLine + (lane % kQuads ^ line % 8) * 4) ^ part * Tile::kTogether;
#pragma unroll
  for (int first = 0; first < kSteps; first += kAtOnce) {
    float4 x[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = place + (first + i) * Tile::kProducerWarps * kRows * kLine;
      x[i] = *reinterpret_cast<const float4*>(step + at);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int at = place + (first + i) * Tile::kProducerWarps * kRows * kLine;
      seen.see(x[i].x), seen.see(x[i].y), seen.see(x[i].z), seen.see(x[i].w);
      *reinterpret_cast<float4*>(low + at) =
          make_float4(low_of(x[i].x), low_of(x[i].y), low_of(x[i].z), low_of(x[i].w));
    }
  }
}

// Splits a part of a k step of an MN-major B, whose lines are 32 columns of one k, into planes
// whose lines are 32 k of one column. A lane takes 4 k of one column, a warp 32 columns: no bank
// conflicts in loads or stores.
template <class Tile>
__device__ __forceinline__ void split_transposed(const float* step, float* high, float* low,
                                                 int part, StatisticsOfB& seen, int warp,
                                                 unsigned lane) {
  constexpr int kQuads = Tile::kTogether / 4, kWarps = Tile::kProducerWarps;
  constexpr int kPatches = Tile::kBlockN / kLine * kQuads / kWarps;
  constexpr int kAtOnce = kPatches % 4 == 0 ? 4 : kPatches % 3 == 0 ? 3 : kPatches;
  static_assert(kWarps % 4 == 0 && (kQuads % kWarps == 0 || kWarps % kQuads == 0));
  // First column and 4 k of the warp's i-th patch, the 4 k counted from those of the first patch,
  // which are a multiple of 4 quads so that the swizzle is the same.
  const auto column = [](int i) { return i * kWarps / kQuads * kLine; };
  const auto quads = [part](int i) { return part * kQuads + i * kWarps % kQuads; };
#pragma unroll
  for (int first = 0; first < kPatches; first += kAtOnce) {
    float x[kAtOnce][4];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float* lines = step + (column(first + i) + 4 * quads(first + i)) * kLine;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int k = 4 * warp + e;
        x[i][e] = lines[k * kLine + (lane ^ k % 8 * 4)];
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int place = lane * kLine + ((warp ^ lane % 8) * 4 ^ quads(first + i) * 4);
      const int to = column(first + i) * kLine + place;
      for (const float value : x[i]) seen.see(value);
      *reinterpret_cast<float4*>(high + to) = make_float4(x[i][0], x[i][1], x[i][2], x[i][3]);
      *reinterpret_cast<float4*>(low + to) =
          make_float4(low_of(x[i][0]), low_of(x[i][1]), low_of(x[i][2]), low_of(x[i][3]));
    }
  }
}

}  // namespace mygemm::tf32x3
