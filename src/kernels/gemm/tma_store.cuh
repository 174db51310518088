// Matrix product, step 4 of the ladder: from the results of a tile, or of a piece of one, to C.
// Device only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/cut_tiles.cuh"
#include "kernels/gemm/tma_multiply.cuh"
#include "kernels/gemm/tma_producer.cuh"
#include "ptx/global.cuh"
#include "ptx/grid.cuh"

namespace mygemm {

struct FedArgs {
  GemmProblem p;
  int tiles_m, tiles_n;  // of one matrix
  WorkShares shares;
  float* pieces;    // [block][n][m] of a tile: pieces of cut tiles
  unsigned* ready;  // [block]: 1 once its piece is there
};

namespace fed {

// Where a tile's results go: into C, or, as they are, into a dense tile of partial sums.
struct Destination {
  TileOfC tile;
  float alpha, beta;
};

template <class Tile>
__device__ __forceinline__ Destination destination(const FedArgs& args, const WorkItem& item,
                                                   float alpha, float beta) {
  const auto [i, j, batch] = tile_origin<Tile>(item.tile, args.tiles_m, args.tiles_n);
  const GemmProblem& p = args.p;
  return {{p.c.matrix(batch) + i + j * p.c.ld, p.c.ld, p.m - i, p.n - j}, alpha, beta};
}

// The piece that a block leaves for the block that finishes the tile.
template <class Tile>
__device__ __forceinline__ float* piece_of(const FedArgs& args, int block) {
  return args.pieces + int64_t{block} * Tile::kBlockM * Tile::kBlockN;
}

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

// A quad of each lane; all lanes of a warp together.
template <class Tile, class Shared>
__device__ __forceinline__ void store_at(Shared& s, const Destination& to,
                                         const QuadPlace<Tile>& at, const float (&quad)[4],
                                         int thread) {
  const int lane = thread % 32;
  TileOfC c = to.tile;
  c.skip_columns(at.column - lane / Tile::kLanesM * 4);  // to lane 0's
  store_quads<Tile::kLanesM, 4>(s.results.exchange[thread / 32], c,
                                at.row - lane % Tile::kLanesM * 4, quad, to.alpha, to.beta);
}

// Adds kCount quads of each piece, the thread's quads first, first + kStep, ..., to its sums in
// shared memory, sums[4 * kStep * i + e][slot] for quad i. First block to last, so that the order
// of additions depends on the shapes alone. All loads of a piece, and of some pieces where quads
// are few, are in flight together. To shared memory: what was added to results in registers cost
// the main loop half of its good register numbers.
template <class Tile, int kCount, int kStep>
__device__ __forceinline__ void add_pieces(float (*sums)[Tile::kGroupThreads], const FedArgs& args,
                                           const Pieces& pieces, const LanePlace<Tile>& place,
                                           int first, int slot) {
  [[maybe_unused]] constexpr int kAtOnce =
      Tile::kGroups == 1 ? 1 : 16 / kCount;  // one: registers are taken
  float quads[kCount][4] = {};
#pragma unroll kAtOnce
  for (int block = pieces.first; block < pieces.end; ++block) {
    const float* piece = piece_of<Tile>(args, block);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const QuadPlace<Tile> at(place, first + i * kStep);
      const float4 quad =
          __ldcg(reinterpret_cast<const float4*>(piece + at.column * Tile::kBlockM + at.row));
      quads[i][0] += quad.x, quads[i][1] += quad.y, quads[i][2] += quad.z, quads[i][3] += quad.w;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[4 * kStep * i + e][slot] += quads[i][e];
  }
}

// A thread's own results, where one group has them all. By way of shared memory, in which they can
// be counted through: stores from registers are thousands of instructions, which come from L2 once
// for each tile and took 20 us on an H200, and want results in quads of registers, which then come
// from the same bank as what they are multiplied with.
template <class Tile, class Shared>
__device__ __forceinline__ void store_own(Shared& s, const FedArgs& args, const Pieces& pieces,
                                          const Destination& to, const Results<Tile>& sum,
                                          const LanePlace<Tile>& place, int thread) {
  constexpr int kAtOnce = Tile::kResultsAtOnce;
#pragma unroll
  for (int first = 0; first < Tile::kResults; first += kAtOnce) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      s.results.values[0][r][thread] =
          sum[(first + r) / Tile::kThreadM][(first + r) % Tile::kThreadM];
    }
    if (pieces.first < pieces.end) {
      add_pieces<Tile, kAtOnce / 4, 1>(s.results.values[0], args, pieces, place, first / 4, thread);
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

// The warps of a block that consume, in one of a row of meetings.
template <class Shared>
__device__ __forceinline__ void meet(Shared& s, unsigned* parity) {
  ptx::mbarrier_arrive(&s.consumers);
  ptx::mbarrier_wait(&s.consumers, *parity);
  *parity ^= 1;
}

// What several groups have, added up group by group; the threads of all groups share the quads.
template <class Tile, class Shared>
__device__ __forceinline__ void store_groups(Shared& s, const FedArgs& args, const Pieces& pieces,
                                             const Destination& to, const Results<Tile>& sum,
                                             int thread, unsigned* parity) {
  const int group = thread / Tile::kGroupThreads, slot = thread % Tile::kGroupThreads;
#pragma unroll
  for (int r = 0; r < Tile::kResults; ++r) {
    s.results.values[group][r][slot] = sum[r / Tile::kThreadM][r % Tile::kThreadM];
  }
  meet(s, parity);
  const LanePlace<Tile> place(slot / 32, slot % 32);
  if (pieces.first < pieces.end) {
    add_pieces<Tile, Tile::kResults / 4 / Tile::kGroups, Tile::kGroups>(
        s.results.values[0] + 4 * group, args, pieces, place, group, slot);
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

}  // namespace fed

}  // namespace mygemm
