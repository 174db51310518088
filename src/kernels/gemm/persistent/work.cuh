// Persistent kernels: their arguments, and the k steps that a block takes one after another. Device
// only.
#pragma once

#include <cuda.h>

#include "kernels/gemm/persistent/stream_k.h"
#include "kernels/gemm/tile_order.h"
#include "problem.h"

namespace mygemm::persistent {

// The row, the column and the matrix at which a tile begins.
struct TilePosition {
  int i, j, batch;
};

// The order of TilesInBands, found by four divisions, each of which waits for the one before.
struct TileOrder {
  static constexpr int kBand = TilesInBands::kBand;

  int tiles_m, tiles_n;  // of one matrix

  template <class Tile>
  __device__ __forceinline__ TilePosition position_of(int tile) const {
    const int batch = tile / (tiles_m * tiles_n), in_matrix = tile - batch * tiles_m * tiles_n;
    const int first_m = in_matrix / (kBand * tiles_n) * kBand;
    const int left = tiles_m - first_m, band = left < kBand ? left : kBand;
    const int in_band = in_matrix - first_m * tiles_n;
    return {(first_m + in_band % band) * Tile::kBlockM, in_band / band * Tile::kBlockN, batch};
  }
};

// The same order by multiplications. It begins products of 16 bits 270 clocks sooner (H200). Others
// keep the divisions: producer warps of the tf32x3 kernels have one register too few for this.
struct FastTileOrder : TilesInBands {
  using TilesInBands::TilesInBands;

  template <class Tile>
  __device__ __forceinline__ TilePosition position_of(int tile) const {
    const Place place = place_of(static_cast<unsigned>(tile));
    return {static_cast<int>(place.m) * Tile::kBlockM, static_cast<int>(place.n) * Tile::kBlockN,
            static_cast<int>(place.batch)};
  }
};

// A kernel's arguments besides its operands' tensor maps. Where D^T is computed, p is the
// transposed product: A and B are then those of p, and results are stored transposed.
struct Args {
  GemmProblem p;
  bool transposed;
  TileOrder order;
  FastTileOrder fast_order;
  StreamK schedule;
  StreamKFlags* flags;  // nullptr: all tiles are data-parallel
  void* partial_tiles;  // by block
};

// The tensor map of an operand that has one.
struct OperandMap {
  CUtensorMap map;
  int batch_step;  // matrices from one of the batch to the next: 0 where all are the same
};

// Those of an operand whose lines begin anywhere: has_shifted_maps(). Map r has lines r, r + 4, and
// so on, and the elements of its lines begin at shifts[r].
struct ShiftedMaps {
  static constexpr int kMaps = 4;

  CUtensorMap maps[kMaps];
  int shifts[kMaps];
  int batch_step;
};

// A place in a ring of kSlots, and the parity of its phase.
template <int kSlots>
struct RingPlace {
  int slot = 0;
  unsigned parity = 0;

  __device__ void advance(int places) {  // fewer than kSlots + 1
    slot += places;
    if (slot >= kSlots) {
      slot -= kSlots;
      parity ^= 1;
    }
  }
};

// The k step of a tile of one operand that a copy brings: where it begins, and how much from there
// is inside the matrix.
struct StepOfOperand {
  int64_t batch;
  int origin, extent;  // rows of op(A), or columns of op(B)
  int k, depth;
};

// The k steps of all items of a block, one after another.
template <class Tile>
struct StepCursor {
  WorkList list;
  WorkItem item = {};
  TilePosition position = {};
  int step = 0, end = 0;

  template <class Order>
  __device__ StepCursor(const StreamK& schedule, int block, const Order& order)
      : list(schedule, block) {
    next_item(order);
  }

  __device__ bool valid() const { return end > 0; }
  __device__ bool begins_item() const { return step == item.begin; }
  __device__ bool ends_item() const { return step + 1 == end; }
  __device__ int k() const { return step * Tile::kBlockK; }
  // By `steps`, past the end of items. Only while valid().
  template <class Order>
  __device__ void advance(int steps, const Order& order) {
    step += steps;
    while (step >= end && end > 0) {
      const int beyond = step - end;
      next_item(order);
      step += beyond;
    }
  }

 private:
  template <class Order>
  __device__ void next_item(const Order& order) {
    step = end = 0;
    if (!list.next(&item)) return;
    position = order.template position_of<Tile>(item.tile);
    step = item.begin;
    end = item.end;
  }
};

}  // namespace mygemm::persistent
