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
  TileOrigin origin = {};
  int step = 0, end = 0;

  __device__ StepCursor(const WorkShares& shares, int tiles_m, int tiles_n)
      : list(shares, static_cast<int>(blockIdx.x)) {
    next_item(tiles_m, tiles_n);
  }

  __device__ bool valid() const { return end > 0; }
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
    WorkItem item;
    step = end = 0;
    if (!list.next(&item)) return;
    origin = tile_origin<Tile>(item.tile, tiles_m, tiles_n);
    step = item.begin;
    end = item.end;
  }
};

// What a producer warp does until the block's work is all in its stages. The warps take the k steps
// in turn, so that what one waits for the others do not. A stage is full with one arrival for the
// copies and one of the warp that has moved the raw ones.
template <class Tile, Feed kFeedA, Feed kFeedB>
__device__ __forceinline__ void produce(SharedStorage<Tile, kFeedA, kFeedB>& s,
                                        const OperandMaps& a, const OperandMaps& b,
                                        const WorkShares& shares, int tiles_m, int tiles_n,
                                        int warp, int lane) {
  using Shared = SharedStorage<Tile, kFeedA, kFeedB>;
  constexpr bool kRawA = kFeedA != Feed::kTile, kRawB = kFeedB != Feed::kTile;
  constexpr int kWarps = Shared::kMoves ? Tile::kMovers : 1;
  if (warp >= kWarps) return;

  StepCursor<Tile> ahead(shares, tiles_m, tiles_n);  // of the raw copies
  const auto ask_for_raw = [&](int slot) {
    if constexpr (Shared::kMoves) {
      if (!ahead.valid()) return;
      if (ptx::elect_one()) {
        uint64_t* full = &s.raw_full[slot];
        int bytes = 0;
        if constexpr (kRawA) bytes += decltype(s.a)::Raw::bytes(a);
        if constexpr (kRawB) bytes += decltype(s.b)::Raw::bytes(b);
        ptx::mbarrier_arrive_expect_tx(full, bytes);
        const auto& [i, j, batch] = ahead.origin;
        if constexpr (kRawA) s.a.raw[slot].ask(a, full, i, ahead.k(), batch);
        if constexpr (kRawB) s.b.raw[slot].ask(b, full, j, ahead.k(), batch);
      }
      ahead.advance(kWarps, tiles_m, tiles_n);
    }
  };
  if (ahead.valid()) ahead.advance(warp, tiles_m, tiles_n);
  StepCursor<Tile> at = ahead;
  for (int slot = warp; slot < Tile::kRawSlots; slot += kWarps) ask_for_raw(slot);

  RingPlace<Tile::kStages> place;
  RingPlace<Tile::kRawSlots> raw;
  place.advance(warp);
  raw.advance(warp);
  for (; at.valid(); at.advance(kWarps, tiles_m, tiles_n)) {
    const int stage = place.slot;
    ptx::mbarrier_wait(&s.empty[stage], place.parity ^ 1);  // the first round waits for nothing
    if (Shared::kCopies && ptx::elect_one()) {
      uint64_t* full = &s.full[stage];
      ptx::mbarrier_arrive_expect_tx(
          full, (kRawA ? 0 : decltype(s.a)::kBytes) + (kRawB ? 0 : decltype(s.b)::kBytes));
      const auto& [i, j, batch] = at.origin;
      if constexpr (!kRawA) {
        ptx::tma_load_3d(s.a.stage[stage], &a.maps[0], full, i, at.k(), batch * a.batch_step);
      }
      if constexpr (!kRawB) {
        ptx::tma_load_3d(s.b.stage[stage], &b.maps[0], full, j, at.k(), batch * b.batch_step);
      }
    }
    if constexpr (Shared::kMoves) {
      ptx::mbarrier_wait(&s.raw_full[raw.slot], raw.parity);
      if constexpr (kRawA) s.a.raw[raw.slot].move(s.a.stage[stage], a, lane);
      if constexpr (kRawB) s.b.raw[raw.slot].move(s.b.stage[stage], b, lane);
      __syncwarp();  // the warp has read its slot and written the stage
      if (ptx::elect_one()) ptx::mbarrier_arrive(&s.full[stage]);
      ask_for_raw(raw.slot);
      raw.advance(kWarps);
    }
    place.advance(kWarps);
  }
}

}  // namespace mygemm::fed
