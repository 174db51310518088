// Products on tensor cores: which results they cannot be trusted with, and those done again by
// fused multiply-adds. Device only.
//
// Infinities and NaN, and what rounds to an infinity where it is split, leave results that are not
// finite: one part of such a value is infinite or NaN, and what that is multiplied with is not lost
// (infinity times 0 is NaN). So results show them.
//
// Small values lose bits: a low part below kLeastTf32 is rounded to a multiple of it. An error of
// so much times the largest value of the other operand, in each of k products, must not matter to
// the result, and neither must what sums below the normal numbers lose.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/tf32x3_multiply.cuh"

namespace mygemm::tf32x3 {

// Where a tile's results go: element (i, j) of C, and how much of C is there.
struct Target {
  float* first;
  int64_t ld;
  bool transposed;  // C is stored so
  int64_t batch;
  int i, j;           // of the tile
  int rows, columns;  // of C from there
  float alpha, beta;

  __device__ float* at(int row, int column) const {
    return first + (transposed ? row * ld + column : row + column * ld);
  }
};

// Which of a lane's results are inside C.
struct RoomInC {
  int rows_to_end[2];  // from its rows; 1 and more are inside
  int columns_to_end;  // from its first column

  __device__ bool has(int result) const {
    return rows_to_end[result / 2 % 2] > 0 && result / 4 * 8 + result % 2 < columns_to_end;
  }
};

// The smallest |result| that is right, or 0 where none can be wrong.
__device__ __forceinline__ float least_safe_result(const Seen& seen, int64_t k) {
  constexpr float kExact =
      0x1p-113f;                      // from here on both parts of a value are as precise as can be
  constexpr float kLoss = 0x1p-111f;  // 2^-137, half a unit of a TF32 denormal, over 2^-26
  constexpr float kProduct = 0x1p-100f;  // products from here on lose nothing as denormals
  constexpr float kProductLoss = 0x1p-122f;
  const float a = seen.a.smallest_value(), b = seen.b.smallest_value();
  float safe = 0.0f;
  if (a < kExact) safe = fmaxf(safe, kLoss * seen.b.largest);
  if (b < kExact) safe = fmaxf(safe, kLoss * seen.a.largest);
  if (a * b < kProduct) safe = fmaxf(safe, kProductLoss);
  return safe * static_cast<float>(k);
}

// Whether all of a lane's results are finite and, in case some may have been lost, large enough.
template <class Tile>
__device__ __forceinline__ bool trusted(const Results<Tile>& sum, const Seen& seen, int64_t k,
                                        const RoomInC& room) {
  float nothing = 0.0f;  // or NaN
#pragma unroll
  for (int r = 0; r < Tile::kBlockN / 2; ++r) nothing = fmaf(sum[r], 0.0f, nothing);
  bool all = nothing == 0.0f;
  const float least = least_safe_result(seen, k);
  if (least > 0.0f) {
#pragma unroll
    for (int r = 0; r < Tile::kBlockN / 2; ++r) {
      all = all && (fabsf(sum[r]) >= least || !room.has(r));
    }
  }
  return all;
}

// The 16 x kBlockN results of a warp by fused multiply-adds, each in one chain in the order of k:
// the bits of the FP32 kernels that do not cut k.
template <class Tile, class Rows>
__device__ __forceinline__ void redo(const GemmProblem& p, const Target& to, int warp, int lane) {
  constexpr int kAtOnce = 8;
  const StridedOperand a = operand_a(p, to.batch), b = operand_b(p, to.batch);
  const int row = Rows::row(warp, lane % 16);
  if (row >= to.rows) return;
#pragma unroll 1
  for (int first = lane / 16; first < min(Tile::kBlockN, to.columns); first += 2 * kAtOnce) {
    float sum[kAtOnce] = {};
#pragma unroll 1
    for (int64_t k = 0; k < p.k; ++k) {
      const float x = a.at(to.i + row, k);
#pragma unroll
      for (int c = 0; c < kAtOnce; ++c) {
        const int column = min(first + 2 * c, to.columns - 1);
        sum[c] = fmaf(x, b.at(to.j + column, k), sum[c]);
      }
    }
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      const int column = first + 2 * c;
      if (column < min(Tile::kBlockN, to.columns)) {
        store_result(to.at(row, column), sum[c], to.alpha, to.beta);
      }
    }
  }
}

}  // namespace mygemm::tf32x3
