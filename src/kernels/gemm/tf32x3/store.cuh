// Products on tensor cores: from a thread's sums of a tile to D, or to the partial tile that the
// block leaves for another one. Device only.
#pragma once

#include "kernels/gemm/tf32x3/guard.cuh"

namespace mygemm::tf32x3 {

// The partial tile that a block leaves for the one which finishes the tile: sums as its threads
// hold them, and the guard's sums.
template <class Tile>
struct PartialTile {
  float4 quads[Tile::kBlockN / 8][32 * Tile::kConsumerWarps];
  float2 guard[32 * Tile::kConsumerWarps];
  static_assert(sizeof guard <= kPartialTileGuardBytes);
};

template <class Tile>
__device__ __forceinline__ void store_partial(PartialTile<Tile>& to, const Results<Tile>& sum,
                                              const Sums& sums, int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    __stcg(&to.quads[q][warp * 32 + lane],
           make_float4(sum[4 * q], sum[4 * q + 1], sum[4 * q + 2], sum[4 * q + 3]));
  }
  __stcg(&to.guard[warp * 32 + lane], make_float2(sums.a, sums.b));
}

template <class Tile>
__device__ __forceinline__ void add_partial(Results<Tile>& sum, Sums& sums,
                                            const PartialTile<Tile>& from, int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    const float4 quad = __ldcg(&from.quads[q][warp * 32 + lane]);
    sum[4 * q] += quad.x, sum[4 * q + 1] += quad.y;
    sum[4 * q + 2] += quad.z, sum[4 * q + 3] += quad.w;
  }
  const float2 more = __ldcg(&from.guard[warp * 32 + lane]);
  sums.a += more.x, sums.b += more.y;
}

// A lane has two rows, 8 apart. Where the rows of neighbouring lanes are not neighbours (RowsOfA),
// lanes 16 apart swap: lanes 0 to 15 then have rows 0 to 3, and 16 to 31 rows 4 to 7, of eight, and
// a warp stores whole sectors of memory.
template <bool kSwaps>
__device__ __forceinline__ void gather_rows(float& upper, float& lower, int lane) {
  if (!kSwaps) return;
  const bool second = lane >= 16;
  const float passed = __shfl_xor_sync(0xffffffffu, second ? upper : lower, 16);
  (second ? upper : lower) = passed;
}

// Stores the results of kCount columns in eights from column `first_column` of the tile on, the
// first ones in `sum`, and finds the suspects. Where C is read, suspects are not stored: D may be
// C. A warp's store is 8 rows of 4 columns, or, where rows of D are contiguous and aligned, of 8.
template <class Rows, bool kTransposed, int kCount, class Epilogue, class Tile>
__device__ __forceinline__ void store_columns(Results<Tile>& sum, float least,
                                              Suspects<Tile>& suspects, const Target& to,
                                              const Epilogue& epilogue, bool reads_c,
                                              float* (&d)[2], int first_column, int warp,
                                              int lane) {
  constexpr bool kSwaps = !Rows::kKMajor;
  constexpr int kToLower = kSwaps ? 16 : 8;
  const int column = first_column + lane % 4 * 2, row = Rows::row(warp, lane / 4);
  const bool valid[2] = {row < to.rows, row + kToLower < to.rows};
  const int64_t ld = to.p.d.ld, along_n = kTransposed ? 1 : ld;
  const bool in_pairs =
      kTransposed && common_alignment(reinterpret_cast<uintptr_t>(d[0]), ld * 4) >= 8;
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      gather_rows<kSwaps>(sum[4 * j + e], sum[4 * j + 2 + e], lane);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first = 4 * j + 2 * half, at_row = row + half * kToLower,
                at_column = 8 * j + column;
      bool right[2], inside[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float size = fabsf(sum[first + e]);
        right[e] = size >= least && size <= FLT_MAX;
        inside[e] = valid[half] && at_column + e < to.columns;
      }
      if (in_pairs && inside[1] && (!reads_c || (right[0] && right[1]))) {
        store_pair(d[half], at_row, at_column, sum[first], sum[first + 1], epilogue);
      } else {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (inside[e] && (!reads_c || right[e])) {
            store_result(d[half] + e * along_n, at_row, at_column + e, sum[first + e], epilogue);
          }
        }
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (inside[e] && !right[e]) suspects.add(first + e, sum[first + e], !reads_c);
      }
    }
    for (float*& at : d) at = ptx::advanced(at, 8 * along_n);
  }
}

// The places in D of a lane's first results: of its upper row and its lower one.
template <class Rows, bool kTransposed>
struct FirstPlaces {
  float* d[2];

  __device__ __forceinline__ FirstPlaces(const Target& to, int warp, int lane) {
    constexpr int kToLower = Rows::kKMajor ? 8 : 16;
    d[0] = to.at(Rows::row(warp, lane / 4), lane % 4 * 2);
    d[1] = d[0] + kToLower * (kTransposed ? to.p.d.ld : 1);
  }
};

// Stores a warp's results through `epilogue`.
template <class Rows, bool kTransposed, class Tile>
__device__ __forceinline__ void store_scaled(Results<Tile>& sum, float least,
                                             Suspects<Tile>& suspects, const Target& to,
                                             const ScaleEpilogue& epilogue, bool reads_c, int warp,
                                             int lane) {
  FirstPlaces<Rows, kTransposed> places(to, warp, lane);
  store_columns<Rows, kTransposed, Tile::kBlockN / 8>(sum, least, suspects, to, epilogue, reads_c,
                                                      places.d, 0, warp, lane);
}

// The same through a fused epilogue, in a loop of 32 columns a turn, for which results move up in
// their registers: unrolled, the instructions would come from L2 once for each tile, which took 60
// us a tile on an H200.
template <class Rows, bool kTransposed, class Tile>
__device__ __forceinline__ void store_fused(Results<Tile>& sum, float least,
                                            Suspects<Tile>& suspects, const Target& to, int warp,
                                            int lane) {
  constexpr int kColumns = 32, kResults = kColumns / 2, kAll = Tile::kBlockN / 2;
  const FusedEpilogue<kTransposed> epilogue(to.p, to.scalars, {to.batch, to.i, to.j});
  const bool reads_c = to.scalars.beta != 0.0f;
  FirstPlaces<Rows, kTransposed> places(to, warp, lane);
#pragma unroll 1
  for (int column = 0; column < Tile::kBlockN; column += kColumns) {
    Suspects<Tile> found;
    store_columns<Rows, kTransposed, kColumns / 8>(sum, least, found, to, epilogue, reads_c,
                                                   places.d, column, warp, lane);
    suspects.append_columns(found);
#pragma unroll
    for (int r = 0; r + kResults < kAll; ++r) sum[r] = sum[r + kResults];
  }
}

// The same through the epilogue of the problem.
template <bool kFused, class Rows, bool kTransposed, class Tile>
__device__ __forceinline__ void store_results(Results<Tile>& sum, float least,
                                              Suspects<Tile>& suspects, const Target& to, int warp,
                                              int lane) {
  const auto [alpha, beta] = to.scalars;
  if constexpr (kFused) {
    store_fused<Rows, kTransposed>(sum, least, suspects, to, warp, lane);
  } else if (beta == 0.0f) {
    store_scaled<Rows, kTransposed>(sum, least, suspects, to, ScaleEpilogue{alpha, 0.0f}, false,
                                    warp, lane);
  } else {
    store_scaled<Rows, kTransposed>(sum, least, suspects, to, ScaleEpilogue{alpha, beta}, true,
                                    warp, lane);
  }
}

}  // namespace mygemm::tf32x3
