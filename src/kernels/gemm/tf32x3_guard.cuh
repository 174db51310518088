// Products on tensor cores: which results they cannot be trusted with, and those done again by
// fused multiply-adds. Device only.
//
// Infinities and NaN, and what rounds to an infinity where it is split, leave results that are not
// finite: one part of such a value is infinite or NaN, and what that is multiplied with is not lost
// (infinity times 0 is NaN). So results show them.
//
// Small values lose bits: a low part below 2^-125 is cut to a multiple of 2^-136. Such an error
// times the largest value of the other operand, in each of k products, must not matter to a result.
// While they multiply, warps add up |A| and |B|, which is more than the largest of them; nearly
// always that is enough to tell. Results that are too small for that, 0 among them, make the group
// look at all values of its operands again. To look for the smallest value of all tiles meanwhile
// cost 5 % at 4096^3 (H200: 110 TFLOP/s, against 116).
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/cut_tiles.cuh"
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

// What an error of a unit of TF32 denormals, 2^-136, amounts to where it may be 2^-26 of a result;
// and what sums may lose among denormal numbers.
constexpr float kLoss = 0x1p-110f, kDenormalLoss = 0x1p-122f;

// Whether all of a lane's results are finite.
template <class Tile>
__device__ __forceinline__ bool all_finite(const Results<Tile>& sum) {
  float nothing = 0.0f;  // or NaN
#pragma unroll
  for (int r = 0; r < Tile::kBlockN / 2; ++r) nothing = fmaf(sum[r], 0.0f, nothing);
  return nothing == 0.0f;
}

// Whether those inside C are `least` and more.
template <class Tile>
__device__ __forceinline__ bool all_from(const Results<Tile>& sum, float least,
                                         const RoomInC& room) {
  bool all = true;
#pragma unroll
  for (int r = 0; r < Tile::kBlockN / 2; ++r) {
    all = all && (fabsf(sum[r]) >= least || !room.has(r));
  }
  return all;
}

// The magnitudes of `lines` lines of `length` neighbours, ld apart, of which each warp of a group
// of kWarps looks at a share.
template <int kWarps>
__device__ __forceinline__ Magnitudes look_at(const float* from, int64_t ld, int64_t lines,
                                              int64_t length, int warp, int lane) {
  constexpr int kLines = 4;  // at once
  Magnitudes seen;
#pragma unroll 1
  for (int64_t line = warp * kLines; line < lines; line += kWarps * kLines) {
#pragma unroll 4
    for (int64_t at = lane; at < length; at += 32) {
#pragma unroll
      for (int i = 0; i < kLines; ++i) {
        seen.see(ptx::load_4(from + (line + i) * ld + at, line + i < lines));
      }
    }
  }
  return seen.of_warp();
}

// op(X)'s rows [first, first + count) for all k, or fewer where X ends.
template <int kWarps>
__device__ __forceinline__ Magnitudes look_at(const StridedOperand& x, int64_t first, int64_t count,
                                              int64_t extent, int64_t k, int warp, int lane) {
  const int64_t rows = min(count, extent - first);
  if (rows <= 0) return {};
  const float* from = x.data + first * x.along_tile;
  return x.along_k == 1 ? look_at<kWarps>(from, x.along_tile, rows, k, warp, lane)
                        : look_at<kWarps>(from, x.along_k, k, rows, warp, lane);
}

// The smallest |result| that is right given all values that it comes from, or 0 where none can be
// wrong. From 2^-113 on both parts of a value are as precise as any; products of 2^-100 and more
// are far from denormal.
__device__ __forceinline__ float least_right(const Magnitudes& a, const Magnitudes& b) {
  constexpr float kExact = 0x1p-113f, kProduct = 0x1p-100f;
  const float least_a = a.smallest_value(), least_b = b.smallest_value();
  float least = 0.0f;
  if (least_a < kExact) least = fmaxf(least, kLoss * b.largest);
  if (least_b < kExact) least = fmaxf(least, kLoss * a.largest);
  if (least_a * least_b < kProduct) least = fmaxf(least, kDenormalLoss);
  return least;
}

// Whether a warp's results can be stored; the warps of a consumer group call it together.
template <class Tile, class Shared>
__device__ __forceinline__ bool trusted(Shared& s, const GemmProblem& p, const Target& to,
                                        const Results<Tile>& sum, const Sums& sums,
                                        const RoomInC& room, int warp, int lane) {
  constexpr int kGroupWarps = 4, kGroupRows = 64;
  const int group = warp / kGroupWarps, within = warp % kGroupWarps;
  const float k = static_cast<float>(p.k);
  const bool finite = __all_sync(0xffffffffu, all_finite<Tile>(sum));
  const float surely = k * fmaxf(kLoss * fmaxf(sums.a, sums.b), kDenormalLoss);
  const bool suspect = finite && !__all_sync(0xffffffffu, all_from<Tile>(sum, surely, room));
  if (lane == 0) s.guard.suspects[warp] = suspect;
  ptx::mbarrier_meet(&s.guard.meeting[group]);
  bool any = false;
  for (int w = 0; w < kGroupWarps; ++w) any = any || s.guard.suspects[group * kGroupWarps + w];
  if (!any) return finite;

  const Magnitudes a = look_at<kGroupWarps>(operand_a(p, to.batch), to.i + group * kGroupRows,
                                            kGroupRows, p.m, p.k, within, lane);
  const Magnitudes b =
      look_at<kGroupWarps>(operand_b(p, to.batch), to.j, Tile::kBlockN, p.n, p.k, within, lane);
  if (lane == 0) s.guard.a[warp] = a, s.guard.b[warp] = b;
  ptx::mbarrier_meet(&s.guard.meeting[group]);
  Magnitudes all_a, all_b;
  for (int w = 0; w < kGroupWarps; ++w) {
    all_a.see(s.guard.a[group * kGroupWarps + w]);
    all_b.see(s.guard.b[group * kGroupWarps + w]);
  }
  const float least = k * least_right(all_a, all_b);
  return finite &&
         (least == 0.0f || __all_sync(0xffffffffu, all_from<Tile>(sum, least, room)) != 0);
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
