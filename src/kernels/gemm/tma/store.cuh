// Matrix product, step 4 of the ladder: from a thread's sums of a tile to D, or to the partial tile
// that the block leaves for another one. Device only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/gemm/tma/multiply.cuh"
#include "ptx/global.cuh"
#include "ptx/grid.cuh"

namespace mygemm::tma {

using persistent::Args;
using persistent::PartialTiles;

// Quad `q` of a thread's results: where it lies in the tile.
template <class Tile>
struct QuadPlace {
  int row, column;

  __device__ QuadPlace(const LanePlace<Tile>& place, int q)
      : row(place.i + q % (Tile::kThreadM / 4) * 4 * Tile::kLanesM),
        column(place.j + column_of(q / (Tile::kThreadM / 4))) {}

 private:
  static __device__ int column_of(int j) { return j / 4 * 4 * Tile::kLanesN + j % 4; }
};

// The partial tile of a block: dense, (n, m).
template <class Tile>
__device__ __forceinline__ float* partial_tile(const Args& args, int block) {
  return static_cast<float*>(args.partial_tiles) + int64_t{block} * Tile::kBlockM * Tile::kBlockN;
}

// Stores a quad of each lane to a tile of D; all lanes of a warp together.
template <class Shared, class Epilogue, class Tile>
__device__ __forceinline__ void store_at(Shared& s, OutputTile<Epilogue> d,
                                         const QuadPlace<Tile>& at, const float (&quad)[4],
                                         int thread) {
  const int lane = thread % 32;
  d.skip_columns(at.column - lane / Tile::kLanesM * 4);  // to lane 0's
  store_quads<Tile::kLanesM, 4>(s.results.exchange[thread / 32], d,
                                at.row - lane % Tile::kLanesM * 4, quad);
}

// Adds kCount quads of each partial tile, the thread's quads first, first + kStep, ..., to its sums
// in shared memory, sums[4 * kStep * i + e][slot] for quad i. First block to last, so that the
// order of additions depends on the shapes alone. All loads of a partial tile, and of some where
// quads are few, are in flight together. To shared memory: adding to results in registers cost the
// main loop half of its good register numbers.
template <class Tile, int kCount, int kStep>
__device__ __forceinline__ void add_partial_tiles(float (*sums)[Tile::kGroupThreads],
                                                  const Args& args, const PartialTiles& others,
                                                  const LanePlace<Tile>& place, int first,
                                                  int slot) {
  [[maybe_unused]] constexpr int kAtOnce =
      Tile::kGroups == 1 ? 1 : 16 / kCount;  // one: registers are taken
  float quads[kCount][4] = {};
#pragma unroll kAtOnce
  for (int block = others.first; block < others.end; ++block) {
    const float* partial = partial_tile<Tile>(args, block);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const QuadPlace<Tile> at(place, first + i * kStep);
      const float4 quad =
          __ldcg(reinterpret_cast<const float4*>(partial + at.column * Tile::kBlockM + at.row));
      quads[i][0] += quad.x, quads[i][1] += quad.y, quads[i][2] += quad.z, quads[i][3] += quad.w;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[4 * kStep * i + e][slot] += quads[i][e];
  }
}

// Stores a thread's own sums, where one group has them all. By way of shared memory, in which a
// loop can count through them: stores from registers are thousands of instructions, which come from
// L2 once for each tile and took 20 us on an H200, and want results in quads of registers, which
// then come from the same bank as the values that they are multiplied with.
template <class Tile, class Shared, class Epilogue>
__device__ __forceinline__ void store_own(Shared& s, const Args& args, const PartialTiles& to_add,
                                          const OutputTile<Epilogue>& to, const Results<Tile>& sum,
                                          const LanePlace<Tile>& place, int thread) {
  constexpr int kAtOnce = Tile::kResultsAtOnce;
#pragma unroll
  for (int first = 0; first < Tile::kResults; first += kAtOnce) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      s.results.values[0][r][thread] =
          sum[(first + r) / Tile::kThreadM][(first + r) % Tile::kThreadM];
    }
    if (to_add.first < to_add.end) {
      add_partial_tiles<Tile, kAtOnce / 4, 1>(s.results.values[0], args, to_add, place, first / 4,
                                              thread);
    }
#pragma unroll 1
    for (int q = 0; q < kAtOnce / 4; ++q) {
      float quad[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) quad[e] = s.results.values[0][4 * q + e][thread];
      store_at(s, to, QuadPlace<Tile>(place, first / 4 + q), quad, thread);
    }
  }
}

// All consumer warps of a block meet, one time after another.
template <class Shared>
__device__ __forceinline__ void meet(Shared& s, unsigned* parity) {
  ptx::mbarrier_arrive(&s.consumers);
  ptx::mbarrier_wait(&s.consumers, *parity);
  *parity ^= 1;
}

// Adds up the sums of several groups, group by group, and stores them; the threads of all groups
// share the quads.
template <class Tile, class Shared, class Epilogue>
__device__ __forceinline__ void store_groups(Shared& s, const Args& args,
                                             const PartialTiles& to_add,
                                             const OutputTile<Epilogue>& to,
                                             const Results<Tile>& sum, int thread,
                                             unsigned* parity) {
  const int group = thread / Tile::kGroupThreads, slot = thread % Tile::kGroupThreads;
#pragma unroll
  for (int r = 0; r < Tile::kResults; ++r) {
    s.results.values[group][r][slot] = sum[r / Tile::kThreadM][r % Tile::kThreadM];
  }
  meet(s, parity);
  const LanePlace<Tile> place(slot / 32, slot % 32);
  if (to_add.first < to_add.end) {
    add_partial_tiles<Tile, Tile::kResults / 4 / Tile::kGroups, Tile::kGroups>(
        s.results.values[0] + 4 * group, args, to_add, place, group, slot);
  }
#pragma unroll 1
  for (int q = group; q < Tile::kResults / 4; q += Tile::kGroups) {
    float quad[4] = {};
#pragma unroll
    for (int g = 0; g < Tile::kGroups; ++g) {
#pragma unroll
      for (int e = 0; e < 4; ++e) quad[e] += s.results.values[g][4 * q + e][slot];
    }
    store_at(s, to, QuadPlace<Tile>(place, q), quad, thread);
  }
  meet(s, parity);  // before the next tile's sums take the place of these
}

// Stores the sums of a tile, or adds partial tiles and stores the results.
template <class Tile, class Shared, class Epilogue>
__device__ __forceinline__ void store_tile(Shared& s, const Args& args, const PartialTiles& to_add,
                                           const OutputTile<Epilogue>& to, const Results<Tile>& sum,
                                           const LanePlace<Tile>& place, int thread,
                                           unsigned* parity) {
  if constexpr (Tile::kGroups == 1) {
    store_own<Tile>(s, args, to_add, to, sum, place, thread);
  } else {
    store_groups<Tile>(s, args, to_add, to, sum, thread, parity);
  }
}

}  // namespace mygemm::tma
