// Products on tensor cores: from a thread's sums of a tile to D, or to the partial tile that the
// block leaves for another one. Device only.
#pragma once

#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/gemm/tensor/boxes.cuh"
#include "kernels/gemm/tensor/rows.cuh"
#include "kernels/gemm/tensor/suspects.cuh"
#include "kernels/gemm/tensor/target.cuh"

namespace mygemm::tensor {

// The partial tile that a block leaves for the one which finishes the tile: sums as its threads
// hold them, and the smallest of them that is proven right.
template <class Tile>
struct PartialTile {
  float4 quads[Tile::kBlockN / 8][32 * Tile::kConsumerWarps];
  float least[32 * Tile::kConsumerWarps];
  static_assert(sizeof least <= kPartialTileGuardBytes);
};

template <class Tile>
__device__ __forceinline__ void store_partial(PartialTile<Tile>& to, const Results<Tile>& sum,
                                              float least, int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    __stcg(&to.quads[q][warp * 32 + lane],
           make_float4(sum[4 * q], sum[4 * q + 1], sum[4 * q + 2], sum[4 * q + 3]));
  }
  __stcg(&to.least[warp * 32 + lane], least);
}

// Adds the sums, and what they may be wrong by.
template <class Tile>
__device__ __forceinline__ void add_partial(Results<Tile>& sum, float& least,
                                            const PartialTile<Tile>& from, int warp, int lane) {
#pragma unroll
  for (int q = 0; q < Tile::kBlockN / 8; ++q) {
    const float4 quad = __ldcg(&from.quads[q][warp * 32 + lane]);
    sum[4 * q] += quad.x, sum[4 * q + 1] += quad.y;
    sum[4 * q + 2] += quad.z, sum[4 * q + 3] += quad.w;
  }
  least += __ldcg(&from.least[warp * 32 + lane]);
}

// Whether all results of a warp are right, as nearly always: then nothing needs to be asked of
// single ones.
template <class Tile>
__device__ __forceinline__ bool all_right(const Results<Tile>& sum, float least) {
  float nan[4] = {};  // once a sum is not finite
#pragma unroll
  for (int r = 0; r < Tile::kBlockN / 2; ++r) nan[r % 4] = fmaf(sum[r], 0.0f, nan[r % 4]);
  bool right = nan[0] + nan[1] + nan[2] + nan[3] == 0.0f;
  if (least != 0.0f) {
#pragma unroll
    for (int r = 0; r < Tile::kBlockN / 2; ++r) right = right && fabsf(sum[r]) >= least;
  }
  return __all_sync(0xffffffffu, right);
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

// The places in D of a lane's results: its first column, its upper row and its lower one.
template <class Rows, bool kTransposed>
struct LaneOfTile {
  static constexpr int kToLower = Rows::kNeighbours ? 8 : 16;

  int row, column;
  float* d[2];  // of the next results: upper row, lower row

  __device__ __forceinline__ LaneOfTile(const Target& to, int warp, int lane)
      : row(Rows::row(warp, lane / 4)), column(lane % 4 * 2) {
    d[0] = to.at(row, column);
    d[1] = d[0] + kToLower * (kTransposed ? to.p.d.ld : 1);
  }

  __device__ __forceinline__ int row_of(int half) const { return row + half * kToLower; }
  // Whether the two results of a row are neighbours in memory, 8-byte aligned.
  __device__ __forceinline__ bool in_pairs(int64_t ld) const {
    return kTransposed && common_alignment(reinterpret_cast<uintptr_t>(d[0]), ld * 4) >= 8;
  }
  __device__ __forceinline__ void advance(int64_t elements) {
    for (float*& at : d) at = ptx::advanced(at, elements);
  }
  __device__ __forceinline__ bool inside(const Target& to, int half, int e, int first) const {
    return row_of(half) < to.rows() && first + column + e < to.columns();
  }
};

// Whether all results of a warp are inside D.
template <class Rows, class Tile>
__device__ __forceinline__ bool all_inside(const Target& to, int warp) {
  return Rows::row(warp, 15) < to.rows() && Tile::kBlockN <= to.columns();
}

// Stores a lane's results of kEights times 8 columns from `first` on, all of which are right, and,
// unless kAtEdge, inside. All elements of D are read before the first is stored: read one by one,
// they took longer than products of 256 k (4096 x 4096 on an H200).
template <bool kTransposed, bool kAtEdge, int kEights, class Rows, class Epilogue>
__device__ __forceinline__ void store_right(const float* value, const Target& to,
                                            const Epilogue& epilogue,
                                            LaneOfTile<Rows, kTransposed>& place, int first) {
  const int64_t ld = to.p.d.ld, along_n = kTransposed ? 1 : ld;
  const bool in_pairs = place.in_pairs(ld);
  const auto inside = [&](int r) {
    return !kAtEdge || place.inside(to, r / 2 % 2, r % 2, first + r / 4 * 8);
  };
  float* d[kEights][2];
  float old[4 * kEights] = {};
#pragma unroll
  for (int j = 0; j < kEights; ++j) {
    d[j][0] = place.d[0], d[j][1] = place.d[1];
    place.advance(8 * along_n);
  }
  if (epilogue.reads_d()) {
#pragma unroll
    for (int r = 0; r < 4 * kEights; ++r) {
      if (inside(r)) old[r] = d[r / 4][r / 2 % 2][r % 2 * along_n];
    }
  }
#pragma unroll
  for (int r = 0; r < 4 * kEights; r += 2) {
    const float left = epilogue.finish(0, 0, value[r], &old[r]);
    const float right = epilogue.finish(0, 0, value[r + 1], &old[r + 1]);
    float* at = d[r / 4][r / 2 % 2];
    if (in_pairs && inside(r + 1)) {
      *reinterpret_cast<float2*>(at) = make_float2(left, right);
    } else {
      if (inside(r)) at[0] = left;
      if (inside(r + 1)) at[along_n] = right;
    }
  }
}

// Stores a lane's four results of the 8 columns from `first` on, whose sums are `sum` and which
// `epilogue` makes of `value`, and finds the suspects: results `index` to index + 3. Where C is
// read, suspects are not stored: D may be C. A warp's store is 8 rows of 4 columns, or, where rows
// of D are contiguous and aligned, of 8.
template <bool kTransposed, class Rows, class Epilogue, class Tile>
__device__ __forceinline__ void store_eight(const float* sum, const float* value, int index,
                                            float least, Suspects<Tile>& suspects, const Target& to,
                                            const Epilogue& epilogue, bool reads_c,
                                            LaneOfTile<Rows, kTransposed>& place, int first) {
  const int64_t ld = to.p.d.ld, along_n = kTransposed ? 1 : ld;
  const bool in_pairs = place.in_pairs(ld);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = place.row_of(half), column = first + place.column;
    bool right[2], inside[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float size = fabsf(sum[2 * half + e]);
      right[e] = size >= least && size <= FLT_MAX;
      inside[e] = place.inside(to, half, e, first);
    }
    if (in_pairs && inside[1] && (!reads_c || (right[0] && right[1]))) {
      store_pair(place.d[half], row, column, value[2 * half], value[2 * half + 1], epilogue);
    } else {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (inside[e] && (!reads_c || right[e])) {
          store_result(place.d[half] + e * along_n, row, column + e, value[2 * half + e], epilogue);
        }
      }
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      if (inside[e] && !right[e]) suspects.add(index + 2 * half + e, sum[2 * half + e], !reads_c);
    }
  }
  place.advance(8 * along_n);
}

// Stores a warp's results through `epilogue`.
template <class Rows, bool kTransposed, class Tile>
__device__ __forceinline__ void store_scaled(Results<Tile>& sum, float least,
                                             Suspects<Tile>& suspects, const Target& to,
                                             const ScaleEpilogue& epilogue, bool reads_c, int warp,
                                             int lane) {
  constexpr int kEights = Tile::kBlockN / 8, kAtOnce = 4;
  LaneOfTile<Rows, kTransposed> place(to, warp, lane);
#pragma unroll
  for (int j = 0; j < kEights; ++j) {
    gather_rows<!Rows::kNeighbours>(sum[4 * j], sum[4 * j + 2], lane);
    gather_rows<!Rows::kNeighbours>(sum[4 * j + 1], sum[4 * j + 3], lane);
  }
  if (all_right<Tile>(sum, least)) {
#pragma unroll
    for (int j = 0; j < kEights; j += kAtOnce) {
      if (all_inside<Rows, Tile>(to, warp)) {
        store_right<kTransposed, false, kAtOnce>(&sum[4 * j], to, epilogue, place, 8 * j);
      } else {
        store_right<kTransposed, true, kAtOnce>(&sum[4 * j], to, epilogue, place, 8 * j);
      }
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < kEights; ++j) {
    store_eight<kTransposed>(&sum[4 * j], &sum[4 * j], 4 * j, least, suspects, to, epilogue,
                             reads_c, place, 8 * j);
  }
}

// The same through a fused epilogue, 32 columns a turn of the loop, for which results move up in
// their registers. Unrolled, its instructions would come from L2 once for each tile, and a load of
// the bias for each result would wait for L2 too: either took 40 us a tile on an H200.
template <class Rows, bool kTransposed, class Tile, class Places>
__device__ __forceinline__ void store_fused(Results<Tile>& sum, float least,
                                            Suspects<Tile>& suspects, const Target& to,
                                            const Places& places, Boxed boxed, int warp, int lane) {
  constexpr int kColumns = 32, kCount = kColumns / 2, kAll = Tile::kBlockN / 2;
  const FusedEpilogue<kTransposed> epilogue(to.p, to.scalars, {to.batch, to.i, to.j});
  const bool reads_c = to.scalars.beta != 0.0f;
  const bool right = all_right<Tile>(sum, least);
  LaneOfTile<Rows, kTransposed> place(to, warp, lane);
  float bias[2] = {};  // of the lane's two rows of D
  if (!kTransposed && epilogue.has_bias()) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (place.row_of(half) < to.rows()) bias[half] = epilogue.bias(place.row_of(half));
    }
  }
#pragma unroll 1
  for (int column = 0; column < Tile::kBlockN; column += kColumns) {
    float value[kCount];
    // Result r: upper or lower row, and its column of the turn.
    const auto half_of = [](int r) { return r / 2 % 2; };
    const auto column_of = [](int r) { return r / 4 * 8 + r % 2; };
#pragma unroll
    for (int r = 0; r < kCount; r += 4) {
      gather_rows<!Rows::kNeighbours>(sum[r], sum[r + 2], lane);
      gather_rows<!Rows::kNeighbours>(sum[r + 1], sum[r + 3], lane);
    }
#pragma unroll
    for (int r = 0; r < kCount; ++r) value[r] = to.scalars.alpha * sum[r];
    if (reads_c) {
      float c[kCount] = {};
      if (boxed.c) {
        places.read(c, column);
      } else {
#pragma unroll
        for (int r = 0; r < kCount; ++r) {
          const int first = column + column_of(r) - r % 2;
          if (place.inside(to, half_of(r), r % 2, first)) {
            c[r] = epilogue.c(place.row_of(half_of(r)), first + place.column + r % 2);
          }
        }
      }
#pragma unroll
      for (int r = 0; r < kCount; ++r) value[r] = epilogue.scaled(sum[r], c[r]);
    }
    if (epilogue.has_bias()) {
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        const int at = column + place.column + column_of(r);
        value[r] += !kTransposed ? bias[half_of(r)] : at < to.columns() ? epilogue.bias(at) : 0.0f;
      }
    }
    if (epilogue.is_gradient() || epilogue.stores_aux()) {
      // Read in one go, as C is, in the order of D's columns: the results of a lane in one of them
      // have their bits in one word. Where D is transposed, a lane has two columns, else two rows.
      constexpr int kOfColumn = kTransposed ? kCount / 2 : 2;
      const auto by_columns = [](int e) {
        return kTransposed ? e / 8 * 2 + e % 8 / 2 * 4 + e % 2 : e / 4 * 4 + e / 2 % 2 + e % 2 * 2;
      };
      const bool reads = epilogue.is_gradient(), bits = epilogue.aux_is_bits();
      float aux[kCount] = {};
      unsigned word = 0;
#pragma unroll
      for (int e = 0; e < kCount; ++e) {
        const int r = by_columns(e);
        const int first = column + column_of(r) - r % 2;
        if (!place.inside(to, half_of(r), r % 2, first)) continue;
        const int i = place.row_of(half_of(r)), j = first + place.column + r % 2;
        if (!reads) {
          epilogue.store_aux(i, j, value[r]);
        } else if (!bits) {
          aux[r] = epilogue.aux(i, j);
        } else {
          if (e % kOfColumn == 0) word = epilogue.aux_word(i, j);
          aux[r] = epilogue.bit(i, j, word) ? 1.0f : 0.0f;
        }
      }
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        if (reads) value[r] = epilogue.times_derivative(value[r], aux[r]);
      }
    }
    epilogue.activate_all(value);
    if (boxed.d) {
      places.write(value, column);
    } else if (right && all_inside<Rows, Tile>(to, warp)) {
      store_right<kTransposed, false, kColumns / 8>(value, to, Finished{}, place, column);
    } else if (right) {
      store_right<kTransposed, true, kColumns / 8>(value, to, Finished{}, place, column);
    } else {
      Suspects<Tile> found;
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        store_eight<kTransposed>(&sum[4 * j], &value[4 * j], 4 * j, least, found, to, Finished{},
                                 reads_c, place, column + 8 * j);
      }
      suspects.append_columns(found);
    }
#pragma unroll
    for (int r = 0; r + kCount < kAll; ++r) sum[r] = sum[r + kCount];
  }
}

// The same through the epilogue of the problem.
template <bool kFused, class Rows, bool kTransposed, class Tile, class Places>
__device__ __forceinline__ void store_results(Results<Tile>& sum, float least,
                                              Suspects<Tile>& suspects, const Target& to,
                                              const Places& places, Boxed boxed, int warp,
                                              int lane) {
  const auto [alpha, beta] = to.scalars;
  if constexpr (kFused) {
    store_fused<Rows, kTransposed>(sum, least, suspects, to, places, boxed, warp, lane);
  } else if (boxed.d) {
    write_scaled<Tile>(places, sum, to.scalars);
  } else if (beta == 0.0f) {
    store_scaled<Rows, kTransposed>(sum, least, suspects, to, ScaleEpilogue{alpha, 0.0f}, false,
                                    warp, lane);
  } else {
    store_scaled<Rows, kTransposed>(sum, least, suspects, to, ScaleEpilogue{alpha, beta}, true,
                                    warp, lane);
  }
}

}  // namespace mygemm::tensor
