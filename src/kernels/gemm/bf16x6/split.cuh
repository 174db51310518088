// Six BF16 products: how values are split, and how producer warps split B. A float x is the sum of
// three BF16 values of 8 bits each, x = high + mid + low, and no bit is lost. Device only.
#pragma once

#include "kernels/gemm/tensor/feed.cuh"
#include "ptx/math.cuh"

namespace mygemm::bf16x6 {

using tensor::kLine;
using tensor::Smallest;

enum Part { kHigh, kMid, kLow };
constexpr int kPartsOfElement = 3;

// Two elements, the first one's part in the lower half of each pair.
struct Pairs {
  unsigned part[kPartsOfElement];
};

// Subtracts a pair of parts from what they are parts of.
__device__ __forceinline__ void subtract(float& x, float& y, unsigned pair) {
  x -= __uint_as_float(pair << 16);
  y -= __uint_as_float(pair & 0xffff0000u);
}

// Each part is what is left, rounded to nearest, so that what is left after it has either sign. NaN
// and values that round to infinity leave parts of NaN or infinity: see guard.cuh.
__device__ __forceinline__ Pairs split(float x, float y) {
  Pairs pairs;
#pragma unroll
  for (int part = 0; part < kPartsOfElement; ++part) {
    pairs.part[part] = ptx::pack_bf16(x, y);
    subtract(x, y, pairs.part[part]);
  }
  return pairs;
}

// The guard's statistics of elements of B that a lane has seen.
struct StatisticsOfB {
  float sum = 0.0f;  // of |B|
  Smallest smallest;

  __device__ __forceinline__ void see(float x) {
    sum += fabsf(x);
    smallest.see(x);
  }
  __device__ __forceinline__ void see(const float4& x) { see(x.x), see(x.y), see(x.z), see(x.w); }
  // The largest sum of a warp's lanes, and the smallest element.
  __device__ __forceinline__ StatisticsOfB of_warp() const {
    return {tensor::largest_in_warp(sum), smallest.of_warp()};
  }
};

// Stores the parts of 8 elements, neighbours in the parts, from `place` on.
template <int kPart>
__device__ __forceinline__ void store_pairs(uint16_t (&to)[kPartsOfElement][kPart], int place,
                                            const Pairs (&pairs)[4]) {
#pragma unroll
  for (int part = 0; part < kPartsOfElement; ++part) {
    *reinterpret_cast<uint4*>(&to[part][place]) = make_uint4(
        pairs[0].part[part], pairs[1].part[part], pairs[2].part[part], pairs[3].part[part]);
  }
}

// The place in a part of the 8 elements from 8 chunk on of a line of 32.
__device__ __forceinline__ int place_in_part(int line, int chunk) {
  return line * kLine + (chunk ^ line / 2 % 4) * 8;
}

// Splits a k step of B, as it lies in a stage, into parts that lie alike: a line has 32 k of one
// column, or, of an MN-major B, 32 columns of one k. A lane takes 8 elements of a line, a warp 8
// lines: no bank conflicts in loads or stores. Neighbours in the parts are neighbours in B where
// kInPairs; otherwise they are k and k + 4 of 8, as a lane has them of A (RowsOfA).
template <class Tile, bool kInPairs, int kStage>
__device__ __forceinline__ void split_step(uint16_t (&to)[kPartsOfElement][kStage],
                                           const float* step, StatisticsOfB& seen, int warp,
                                           int lane) {
  constexpr int kLines = 8 * Tile::kProducerWarps, kApart = kLines * kLine;
  // With 1, and with 4, 4096^3 takes 2 to 4 % longer on an H200.
  constexpr int kChunks = kStage / kApart, kAtOnce = 2;
  static_assert(kLines == kLine && kChunks % kAtOnce == 0);
  const int chunk = lane % 4, line = warp * 8 + lane / 4;
  const float* from = step + line * kLine;
  const int quad = (2 * chunk ^ line % 8) * 4, place = place_in_part(line, chunk);
#pragma unroll
  for (int begin = 0; begin < kChunks; begin += kAtOnce) {
    float4 x[kAtOnce][2];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float* lines = from + (begin + i) * kApart;
      x[i][0] = *reinterpret_cast<const float4*>(lines + quad);
      x[i][1] = *reinterpret_cast<const float4*>(lines + (quad ^ 4));
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float4 first = x[i][0], second = x[i][1];
      const Pairs pairs[4] = {
          kInPairs ? split(first.x, first.y) : split(first.x, second.x),
          kInPairs ? split(first.z, first.w) : split(first.y, second.y),
          kInPairs ? split(second.x, second.y) : split(first.z, second.z),
          kInPairs ? split(second.z, second.w) : split(first.w, second.w),
      };
      store_pairs(to, place + (begin + i) * kApart, pairs);
    }
    // Counted before they are split, 4096^3 takes 5 % longer in NT on an H200, and 1 % in TN.
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) seen.see(x[i][0]), seen.see(x[i][1]);
  }
}

}  // namespace mygemm::bf16x6
