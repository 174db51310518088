// Matrix product, step 4 of the ladder: from the results of a tile, or of a piece of one, to C.
// Device only.
#pragma once

#include "kernels/epilogue.cuh"
#include "kernels/gemm/tma_multiply.cuh"
#include "kernels/gemm/tma_producer.cuh"
#include "ptx/global.cuh"

namespace mygemm {

struct FedArgs {
  GemmProblem p;
  int tiles_m, tiles_n;  // of one matrix
  WorkShares shares;
  float* pieces;    // [block][2][n][m] of a tile: pieces of cut tiles
  unsigned* ready;  // [block]: 1 once its piece is there
};

namespace fed {

// Where a tile's results go: into C, or, as they are, into a dense tile of partial sums.
struct Destination {
  float* first;
  int64_t ld;
  int64_t m, n;  // rows and columns from there to the edge
  float alpha, beta;

  __device__ bool as_float4() const {
    return common_alignment(reinterpret_cast<uintptr_t>(first), ld * 4) == 16;
  }
};

template <class Tile>
__device__ __forceinline__ Destination destination(const FedArgs& args, const WorkItem& item,
                                                   float alpha, float beta) {
  const auto [i, j, batch] = tile_origin<Tile>(item.tile, args.tiles_m, args.tiles_n);
  const GemmProblem& p = args.p;
  return {p.c.matrix(batch) + i + j * p.c.ld, p.c.ld, p.m - i, p.n - j, alpha, beta};
}

// A block's piece of a cut tile, of which it can have two: one that it finishes, and one for
// others.
template <class Tile>
__device__ __forceinline__ float* piece_of(const FedArgs& args, int block, bool finishes) {
  constexpr int64_t kTile = Tile::kBlockM * Tile::kBlockN;
  return args.pieces + (2 * block + (finishes ? 1 : 0)) * kTile;
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

template <class Tile>
__device__ __forceinline__ void store_at(const Destination& to, const QuadPlace<Tile>& at,
                                         const float (&quad)[4]) {
  if (at.column >= to.n) return;
  store_quad(to.first + at.row + at.column * to.ld, quad, to.m - at.row, to.alpha, to.beta,
             to.as_float4());
}

// A thread's own results, where one group has them all. By way of shared memory, in which they can
// be counted through: stores from registers are thousands of instructions, which come from L2 once
// for each tile and took 20 us on an H200, and want results in quads of registers, which then come
// from the same bank as what they are multiplied with.
template <class Tile, class Shared>
__device__ __forceinline__ void store_own(Shared& s, const Destination& to,
                                          const Results<Tile>& sum, const LanePlace<Tile>& place,
                                          int thread) {
  constexpr int kAtOnce = Tile::kResultsAtOnce;
#pragma unroll
  for (int first = 0; first < Tile::kResults; first += kAtOnce) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      s.results.values[0][r][thread] =
          sum[(first + r) / Tile::kThreadM][(first + r) % Tile::kThreadM];
    }
#pragma unroll 1
    for (int q = 0; q < kAtOnce / 4; ++q) {
      float quad[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) quad[e] = s.results.values[0][4 * q + e][thread];
      store_at(to, QuadPlace<Tile>(place, first / 4 + q), quad);
    }
  }
}

// The warps of a block that consume, in one of a row of meetings.
template <class Shared>
__device__ __forceinline__ void meet(Shared& s, unsigned* parity) {
  __syncwarp();
  if (ptx::elect_one()) ptx::mbarrier_arrive(&s.consumers);
  ptx::mbarrier_wait(&s.consumers, *parity);
  *parity ^= 1;
}

// What several groups have, added up group by group; the threads of all groups share the quads.
template <class Tile, class Shared>
__device__ __forceinline__ void store_groups(Shared& s, const Destination& to,
                                             const Results<Tile>& sum, int thread,
                                             unsigned* parity) {
  const int group = thread / Tile::kGroupThreads, slot = thread % Tile::kGroupThreads;
#pragma unroll
  for (int r = 0; r < Tile::kResults; ++r) {
    s.results.values[group][r][slot] = sum[r / Tile::kThreadM][r % Tile::kThreadM];
  }
  meet(s, parity);
  const LanePlace<Tile> place(slot / 32, slot % 32);
#pragma unroll 1
  for (int q = group; q < Tile::kResults / 4; q += Tile::kGroups) {
    float quad[4] = {};
#pragma unroll
    for (int g = 0; g < Tile::kGroups; ++g) {
#pragma unroll
      for (int e = 0; e < 4; ++e) quad[e] += s.results.values[g][4 * q + e][slot];
    }
    store_at(to, QuadPlace<Tile>(place, q), quad);
  }
  meet(s, parity);  // before the next tile's sums take the place of these
}

// Finishes a cut tile: all its pieces, first block to last, so that the order of additions depends
// on the shapes alone. The other blocks run: they start in the order of their numbers, and each
// leaves its last piece before it waits for others. From memory, this block's own piece too: sums
// added to the results in registers cost the main loop half of its good register numbers.
template <class Tile>
__device__ __forceinline__ void add_pieces(const FedArgs& args, const WorkItem& item,
                                           const Destination& to, int thread) {
  constexpr int kThreads = 32 * Tile::kConsumerWarps, kQuadsM = Tile::kBlockM / 4;
  constexpr int kQuads = kQuadsM * Tile::kBlockN;
  constexpr int kAtOnce = kQuads / kThreads < 8 ? kQuads / kThreads : 8;  // loads in flight
  static_assert(kQuads % (kThreads * kAtOnce) == 0);
  const auto own = static_cast<int>(blockIdx.x);
  const int first = args.shares.first_block_of(item.tile, own);
  const bool as_float4 = to.as_float4();
  for (int block = first; block < own; ++block) {
    if (!args.shares.has_piece(block)) continue;
    while (ptx::load_acquire(&args.ready[block]) == 0) {
    }
  }
#pragma unroll 1
  for (int start = thread; start < kQuads; start += kThreads * kAtOnce) {
    float quads[kAtOnce][4] = {};
#pragma unroll 4  // so that loads of several pieces are on their way
    for (int block = first; block <= own; ++block) {
      const bool there = args.shares.has_piece(block);
      const auto* piece =
          reinterpret_cast<const float4*>(piece_of<Tile>(args, block, block == own));
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q) {
        float4 quad = {};
        if (there) quad = __ldcg(&piece[start + q * kThreads]);
        quads[q][0] += quad.x, quads[q][1] += quad.y, quads[q][2] += quad.z, quads[q][3] += quad.w;
      }
    }
#pragma unroll
    for (int q = 0; q < kAtOnce; ++q) {
      const int row = (start + q * kThreads) % kQuadsM * 4,
                column = (start + q * kThreads) / kQuadsM;
      if (column >= to.n) continue;
      store_quad(to.first + row + column * to.ld, quads[q], to.m - row, to.alpha, to.beta,
                 as_float4);
    }
  }
}

}  // namespace fed

}  // namespace mygemm
