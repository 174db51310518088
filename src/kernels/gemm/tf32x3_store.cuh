// Products on tensor cores: from the results of a tile, or of a piece of one, to C. Device only.
#pragma once

#include "kernels/gemm/cut_tiles.cuh"
#include "kernels/gemm/tf32x3_guard.cuh"

namespace mygemm {

// What a kernel gets besides its operands' tensor maps. p may be the transposed of the caller's
// product: A and B are then as here, and C is stored transposed.
struct Tf32x3Args {
  GemmProblem p;
  bool c_transposed;
  int tiles_m, tiles_n;  // of one matrix
  WorkShares shares;
  float* pieces;    // of cut tiles: [block], a Piece each
  unsigned* ready;  // [block]: 1 once its piece is there
};

namespace tf32x3 {

// What a block leaves of a tile that another one finishes: results as its threads hold them.
template <class Tile>
struct Piece {
  float4 quads[Tile::kBlockN / 8][32 * Tile::kConsumerWarps];
  Sums sums[Tile::kConsumerWarps];
  static_assert(sizeof sums <= kPieceNotes);
};

template <class Tile>
__device__ __forceinline__ void leave_piece(Piece<Tile>& piece, const Results<Tile>& sum,
                                            const Sums& sums, int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    __stcg(&piece.quads[q][warp * 32 + lane],
           make_float4(sum[4 * q], sum[4 * q + 1], sum[4 * q + 2], sum[4 * q + 3]));
  }
  if (lane == 0) piece.sums[warp] = sums;
}

template <class Tile>
__device__ __forceinline__ void add_piece(Results<Tile>& sum, Sums& sums, const Piece<Tile>& piece,
                                          int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    const float4 quad = __ldcg(&piece.quads[q][warp * 32 + lane]);
    sum[4 * q] += quad.x, sum[4 * q + 1] += quad.y;
    sum[4 * q + 2] += quad.z, sum[4 * q + 3] += quad.w;
  }
  const float2 more = __ldcg(reinterpret_cast<const float2*>(&piece.sums[warp]));
  sums.a += more.x, sums.b += more.y;
}

// Of a lane's two rows, 8 apart, the next eight lanes have the neighbours. Where rows go by fours
// (RowsOfA), lanes 16 apart swap: lanes 0 to 15 then have rows 0 to 3, and 16 to 31 rows 4 to 7, of
// the eight, and a warp stores whole sectors of memory.
template <bool kSwaps>
__device__ __forceinline__ void gather_rows(float& upper, float& lower, int lane) {
  if (!kSwaps) return;
  const bool second = lane >= 16;
  const float passed = __shfl_xor_sync(0xffffffffu, second ? upper : lower, 16);
  (second ? upper : lower) = passed;
}

// Stores a warp's results. A warp's store is 8 rows of 4 columns.
template <class Tile, class Rows, bool kTransposed, bool kReadsC>
__device__ __forceinline__ void store(Results<Tile>& sum, const Target& to, int warp, int lane) {
  constexpr bool kSwaps = !Rows::kAlongDepth;
  const int group = lane / 4, column = lane % 4 * 2;
  const int row = Rows::row(warp, group);
  constexpr int kToLower = kSwaps ? 16 : 8;
  const bool upper_valid = row < to.rows, lower_valid = row + kToLower < to.rows;
  const int64_t along_m = kTransposed ? to.ld : 1, along_n = kTransposed ? 1 : to.ld;
  float* upper = to.first + row * along_m + column * along_n;
  float* lower = upper + kToLower * along_m;
#pragma unroll
  for (int j = 0; j < Tile::kBlockN / 8; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      gather_rows<kSwaps>(sum[4 * j + e], sum[4 * j + 2 + e], lane);
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const bool inside = 8 * j + column + e < to.columns;
      const float beta = kReadsC ? to.beta : 0.0f;
      if (inside && upper_valid) {
        store_result(upper + e * along_n, sum[4 * j + e], to.alpha, beta);
      }
      if (inside && lower_valid) {
        store_result(lower + e * along_n, sum[4 * j + 2 + e], to.alpha, beta);
      }
    }
    upper = ptx::advanced(upper, 8 * along_n);
    lower = ptx::advanced(lower, 8 * along_n);
  }
}

}  // namespace tf32x3

}  // namespace mygemm
