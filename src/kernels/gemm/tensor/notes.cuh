// Products on tensor cores: the values of the guard, and the notes that warps exchange about them
// in shared memory. See guard.cuh. Device only.
#pragma once

#include "ptx/barrier.cuh"
#include "ptx/warp.cuh"

namespace mygemm::tensor {

// The largest value of a warp's lanes; NaN where one is NaN. No value is below 0.
__device__ __forceinline__ float largest_in_warp(float value) {
  return __uint_as_float(ptx::largest_in_warp(__float_as_uint(value)));
}

// The smallest |x| of the values seen that are not 0.
struct Smallest {
  unsigned bits = 0xffffffffu;  // its bits doubled, less 1

  // The sign is shifted out; 0 becomes the largest.
  __device__ __forceinline__ void see(float x) { bits = min(bits, 2 * __float_as_uint(x) - 1); }
  __device__ __forceinline__ void see(const Smallest& others) { bits = min(bits, others.bits); }
  // All values were 0.
  __device__ __forceinline__ bool none() const { return bits == 0xffffffffu; }
  __device__ __forceinline__ float value() const { return __uint_as_float((bits + 1) / 2); }
  // The smallest that any lane of the warp saw.
  __device__ __forceinline__ Smallest of_warp() const { return {ptx::smallest_in_warp(bits)}; }
};

// Whether sums of products of values, of which these are the smallest, may have lost bits, where
// splitting loses none of values from `exact` on. Products of 2^-100 and more are far from
// denormal.
__device__ __forceinline__ bool may_lose_bits(const Smallest& a, const Smallest& b, float exact) {
  constexpr float kProduct = 0x1p-100f;
  if (a.none() || b.none()) return false;  // all products are 0
  return a.value() < exact || b.value() < exact || a.value() * b.value() < kProduct;
}

// The named barriers of a block.
constexpr int kGuardBarrier = 1;  // of the first consumer warpgroup; the second one has the next
constexpr int kConsumersBarrier = 3;

constexpr int kGroupWarps = 4;  // of a warpgroup
constexpr int kGroupRows = 64;  // of a tile, that a consumer warpgroup computes

// The first of the tile's rows that a consumer warp's warpgroup computes.
__device__ __forceinline__ int first_row_of(int warp) { return warp / kGroupWarps * kGroupRows; }

// The bitwise or over the lanes of a warp.
__device__ __forceinline__ unsigned any_in_warp(unsigned bits) {
  for (int apart = 16; apart > 0; apart /= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, apart);
  return bits;
}

// Whether any thread of a consumer warpgroup passed true; all of them wait here for each other.
__device__ __forceinline__ bool any_in_group(bool value, int warp) {
  return ptx::any_at_barrier(kGuardBarrier + warp / kGroupWarps, 32 * kGroupWarps, value);
}

// Notes that the warps of a consumer warpgroup exchange on the suspects of a tile, and the shared
// memory that they have for computing some of them again.
template <class Tile>
struct GuardNotes {
  static constexpr int kRowWords = kGroupRows / 32, kColumnWords = Tile::kBlockN / 32;
  static constexpr int kWords = kRowWords + kColumnWords;
  // A block of 64 x 64 results is computed again in steps of kDepth k. With lines of kPitch, stores
  // of 4 lines of 8 k and loads of 4 neighbours have no bank conflicts.
  static constexpr int kDepth = 8, kPitch = kGroupRows + 4;
  // Up to so many rows, or columns, with results to be computed again count as few.
  static constexpr int kFewLines = 4;

  // By row of the group, a bit for each column: what must be computed again, and what must be where
  // operands are small. See Suspects.
  unsigned wrong[kGroupRows][kColumnWords], doubtful[kGroupRows][kColumnWords];
  unsigned lines[kWords];             // a bit for each row, then for each column, with one of them
  unsigned nan[kGroupWarps][kWords];  // likewise: in which a warp found a NaN
  Smallest smallest[kGroupWarps];     // that a warp found
  float partial[2][kGroupWarps][32];  // sums of a warp
  alignas(16) float a[kDepth][kPitch], b[kDepth][kPitch];  // a step of the operands

  // The number of lines in words [begin, end).
  __device__ __forceinline__ int count_lines(int begin, int end) const {
    int count = 0;
    for (int word = begin; word < end; ++word) count += __popc(lines[word]);
    return count;
  }
};

}  // namespace mygemm::tensor
