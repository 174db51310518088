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
  float2 sums[32 * Tile::kConsumerWarps];
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
  __stcg(&piece.sums[warp * 32 + lane], make_float2(sums.a, sums.b));
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
  const float2 more = __ldcg(&piece.sums[warp * 32 + lane]);
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

// Stores a warp's results and finds the suspects, of which those that C is read for are not stored.
// A warp's store is 8 rows of 4 columns, or, where rows of C are contiguous and aligned, of 8.
template <class Rows, bool kTransposed, bool kReadsC, class Tile>
__device__ __forceinline__ void store(Results<Tile>& sum, float least, Suspects<Tile>& suspects,
                                      const Target& to, int warp, int lane) {
  constexpr bool kSwaps = !Rows::kAlongDepth;
  const int column = lane % 4 * 2, row = Rows::row(warp, lane / 4);
  constexpr int kToLower = kSwaps ? 16 : 8;
  const bool valid[2] = {row < to.rows, row + kToLower < to.rows};
  const int64_t along_m = kTransposed ? to.ld : 1, along_n = kTransposed ? 1 : to.ld;
  float* c[2] = {to.first + row * along_m + column * along_n};
  c[1] = c[0] + kToLower * along_m;
  const bool in_pairs =
      kTransposed && common_alignment(reinterpret_cast<uintptr_t>(c[0]), to.ld * 4) >= 8;
  const float beta = kReadsC ? to.beta : 0.0f;
#pragma unroll
  for (int j = 0; j < Tile::kBlockN / 8; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      gather_rows<kSwaps>(sum[4 * j + e], sum[4 * j + 2 + e], lane);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = 4 * j + 2 * half;
      bool right[2], inside[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float size = fabsf(sum[first + e]);
        right[e] = size >= least && size <= FLT_MAX;
        inside[e] = valid[half] && 8 * j + column + e < to.columns;
      }
      // Of C that is not read nothing is lost where a suspect is stored.
      if (in_pairs && inside[1] && (!kReadsC || (right[0] && right[1]))) {
        store_pair(c[half], sum[first], sum[first + 1], to.alpha, beta);
      } else {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (inside[e] && (!kReadsC || right[e])) {
            store_result(c[half] + e * along_n, sum[first + e], to.alpha, beta);
          }
        }
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (inside[e] && !right[e]) suspects.add(first + e, sum[first + e], !kReadsC);
      }
    }
    for (float*& at : c) at = ptx::advanced(at, 8 * along_n);
  }
}

}  // namespace tf32x3

}  // namespace mygemm
