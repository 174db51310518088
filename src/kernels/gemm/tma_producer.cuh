// Matrix product, step 4 of the ladder: the warps that bring k steps of both operands into a ring
// of shared-memory stages, ahead of the warps that multiply. Device only.
#pragma once

#include "kernels/gemm/streamk.h"
#include "kernels/gemm/tma_feed.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/warp.cuh"

namespace mygemm::fed {

// Where a tile begins. Blocks that run together walk a band of kBand tiles of m, so that they share
// columns of A and B in L2.
struct TileOrigin {
  int i, j, batch;
};

template <class Tile>
__device__ __forceinline__ TileOrigin tile_origin(int tile, int tiles_m, int tiles_n) {
  constexpr int kBand = 8;
  const int batch = tile / (tiles_m * tiles_n);
  const int in_matrix = tile - batch * tiles_m * tiles_n;
  const int first_m = in_matrix / (kBand * tiles_n) * kBand;
  const int band = min(tiles_m - first_m, kBand);
  const int in_band = in_matrix - first_m * tiles_n;
  return {(first_m + in_band % band) * Tile::kBlockM, in_band / band * Tile::kBlockN, batch};
}

// The k steps of all items of a block, one after another.
template <class Tile>
struct StepCursor {
  WorkList list;
  WorkItem item = {};
  TileOrigin origin = {};
  int step = 0, end = 0;

  __device__ StepCursor(const WorkShares& shares, int tiles_m, int tiles_n)
      : list(shares, static_cast<int>(blockIdx.x)) {
    next_item(tiles_m, tiles_n);
  }

  __device__ bool valid() const { return end > 0; }
  __device__ bool ends_item() const { return step + 1 == end; }
  __device__ int k() const { return step * Tile::kBlockK; }
  // By `steps`, past the end of items. Only while valid().
  __device__ void advance(int steps, int tiles_m, int tiles_n) {
    step += steps;
    while (step >= end && end > 0) {
      const int beyond = step - end;
      next_item(tiles_m, tiles_n);
      step += beyond;
    }
  }

 private:
  __device__ void next_item(int tiles_m, int tiles_n) {
    step = end = 0;
    if (!list.next(&item)) return;
    origin = tile_origin<Tile>(item.tile, tiles_m, tiles_n);
    step = item.begin;
    end = item.end;
  }
};

// What a kernel knows of its operands besides the problem: their tensor maps, where they have any.
struct OperandMap {
  CUtensorMap map;
  int batch_step;  // matrices from one of the batch to the next: 0 where all are the same
};

// What a producer warp does until the block's work is all in its stages. The warps take the k steps
// in turn: one alone is too slow for 4-byte copies, and for the accelerator's where tiles are small
// (512^3 NT on an H200: 12.4 us, against 8.9).
template <class Tile, class Shared>
__device__ __forceinline__ void produce(Shared& s, const GemmProblem& p, const OperandMap& a,
                                        const OperandMap& b, const WorkShares& shares, int tiles_m,
                                        int tiles_n, int warp, int lane) {
  constexpr bool kMapA = Shared::kFeedA == Feed::kTile, kMapB = Shared::kFeedB == Feed::kTile;
  constexpr int kWarps = Tile::kProducerWarps;

  StepCursor<Tile> at(shares, tiles_m, tiles_n);
  if (at.valid()) at.advance(warp, tiles_m, tiles_n);
  RingPlace<Tile::kStages> place;
  place.advance(warp);
  for (; at.valid(); at.advance(kWarps, tiles_m, tiles_n)) {
    const int stage = place.slot, k = at.k();
    const auto& [i, j, batch] = at.origin;
    uint64_t* full = &s.full[stage];
    ptx::mbarrier_wait(&s.empty[stage], place.parity ^ 1);  // the first round waits for nothing
    if (Shared::kHasMaps && ptx::elect_one()) {
      ptx::mbarrier_arrive_expect_tx(
          full, (kMapA ? decltype(s.a)::kBytes : 0) + (kMapB ? decltype(s.b)::kBytes : 0));
      if constexpr (kMapA) {
        ptx::tma_load_3d(s.a.stage[stage], &a.map, full, i, k, batch * a.batch_step);
      }
      if constexpr (kMapB) {
        ptx::tma_load_3d(s.b.stage[stage], &b.map, full, j, k, batch * b.batch_step);
      }
    }
    if constexpr (Shared::kHasCopies) {
      const int depth = static_cast<int>(p.k) - k;
      if constexpr (!kMapA) {
        copy_step<Shared::kFeedA, Tile::kBlockM>(
            s.a.stage[stage], p.a, {batch, i, static_cast<int>(p.m) - i, k, depth}, lane);
      }
      if constexpr (!kMapB) {
        copy_step<Shared::kFeedB, Tile::kBlockN>(
            s.b.stage[stage], p.b, {batch, j, static_cast<int>(p.n) - j, k, depth}, lane);
      }
      ptx::cp_async_arrive(full);
    }
    place.advance(kWarps);
  }
  if constexpr (Shared::kHasCopies) ptx::cp_async_wait_all();
}

}  // namespace mygemm::fed
