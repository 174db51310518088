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

// Each part is what is left, rounded to nearest, so that what is left after it has either sign. NaN
// and values that round to infinity leave parts of NaN or infinity: see guard.cuh.
__device__ __forceinline__ Pairs split(float x, float y) {
  Pairs pairs;
#pragma unroll
  for (int part = 0; part < kPartsOfElement; ++part) {
    const unsigned pair = pairs.part[part] = ptx::pack_bf16(x, y);
    x -= __uint_as_float(pair << 16);
    y -= __uint_as_float(pair & 0xffff0000u);
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

// Within 8 k, k and k + 4 are neighbours in the parts of B, as they are in those of A: a lane that
// holds A as it lies in shared memory has both.

// Splits a k step of a K-major B into parts whose lines are 32 k of one column. A lane takes 8 k of
// a column, a warp 8 columns: no bank conflicts in loads or stores.
template <class Tile, int kStage>
__device__ __forceinline__ void split_k_major(uint16_t (&to)[kPartsOfElement][kStage],
                                              const float* step, StatisticsOfB& seen, int warp,
                                              int lane) {
  constexpr int kColumns = 8 * Tile::kProducerWarps, kSteps = Tile::kBlockN / kColumns;
  constexpr int kAtOnce = 2;  // more take registers that copies need
  const int chunk = lane % 4, line = warp * 8 + lane / 4;
  const float* from = step + line * kLine;
  const int quad = (2 * chunk ^ line % 8) * 4, place = line * kLine + (chunk ^ line / 2 % 4) * 8;
  static_assert(kSteps % kAtOnce == 0 || kSteps == 1);
#pragma unroll
  for (int begin = 0; begin < kSteps; begin += kAtOnce) {
    float4 x[kAtOnce][2];
#pragma unroll
    for (int i = 0; i < kAtOnce && begin + i < kSteps; ++i) {
      const float* line_of = from + (begin + i) * kColumns * kLine;
      x[i][0] = *reinterpret_cast<const float4*>(line_of + quad);
      x[i][1] = *reinterpret_cast<const float4*>(line_of + (quad ^ 4));
    }
#pragma unroll
    for (int i = 0; i < kAtOnce && begin + i < kSteps; ++i) {
      const float4 first = x[i][0], second = x[i][1];
      seen.see(first), seen.see(second);
      const Pairs pairs[4] = {split(first.x, second.x), split(first.y, second.y),
                              split(first.z, second.z), split(first.w, second.w)};
#pragma unroll
      for (int part = 0; part < kPartsOfElement; ++part) {
        *reinterpret_cast<uint4*>(&to[part][place + (begin + i) * kColumns * kLine]) = make_uint4(
            pairs[0].part[part], pairs[1].part[part], pairs[2].part[part], pairs[3].part[part]);
      }
    }
  }
}

// Splits a k step of an MN-major B, whose lines are 32 columns of one k, into parts whose lines are
// so too. A lane takes 4 columns of a line, a warp 4 lines: no bank conflicts in loads or stores.
template <class Tile, int kStage>
__device__ __forceinline__ void split_mn_major(uint16_t (&to)[kPartsOfElement][kStage],
                                               const float* step, StatisticsOfB& seen, int warp,
                                               int lane) {
  constexpr int kWarps = Tile::kProducerWarps, kBlock = kLine * kLine;
  // Patches of 32 columns and 4 k, and of a warp's several within a block of 32 columns.
  constexpr int kPatches = Tile::kBlockN / kLine * 8 / kWarps, kOfBlock = 8 / kWarps;
  static_assert(8 % kWarps == 0 && kWarps % 2 == 0);
  const int quad = lane % 8;
  // Lines k and k + 4 of 8 are neighbours in the parts.
  const int k = warp / 2 * 8 + lane / 8 % 2 * 4 + warp % 2 * 2 + lane / 16;
  const int line = k / 8 * 8 + k % 4 * 2 + k / 4 % 2;
  const float* from = step + k * kLine + (quad ^ k % 8) * 4;
  const int place = line * kLine + (quad / 2 ^ line / 2 % 4) * 8 + quad % 2 * 4;
  const auto at = [](int i) { return i / kOfBlock * kBlock + i % kOfBlock * kWarps * 4 * kLine; };
  float4 x[kPatches];
#pragma unroll
  for (int i = 0; i < kPatches; ++i) x[i] = *reinterpret_cast<const float4*>(from + at(i));
#pragma unroll
  for (int i = 0; i < kPatches; ++i) {
    seen.see(x[i]);
    const Pairs pairs[2] = {split(x[i].x, x[i].y), split(x[i].z, x[i].w)};
#pragma unroll
    for (int part = 0; part < kPartsOfElement; ++part) {
      *reinterpret_cast<uint2*>(&to[part][place + at(i)]) =
          make_uint2(pairs[0].part[part], pairs[1].part[part]);
    }
  }
}

}  // namespace mygemm::bf16x6
