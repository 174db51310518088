// The tiles of a wide row that a warp of a cluster owns, and how they get into its slots in shared
// memory. Device only, SM 90.
#pragma once

#include "kernels/softmax/cluster.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

// The tiles of a warp's runs, the same ones of all rows.
struct OwnTiles {
  int first_run, runs;  // that every warp has, empty ones past the row's last
  int first, count, of_first_run;

  __device__ OwnTiles(const WideRows& rows, const ClusterRing& ring, int warp)
      : first_run((static_cast<int>(ptx::cluster_rank()) * kClusterWarps + warp) *
                  ring.runs_of_warp),
        runs(ring.runs_of_warp) {
    const auto first_tile = [&](int run) {
      return static_cast<int>(rows.first_tile(run < rows.runs ? run : rows.runs));
    };
    first = first_tile(first_run);
    count = first_tile(first_run + runs) - first;
    of_first_run = first_tile(first_run + 1) - first;
  }
};

// One of them in one row: where it begins, and the columns of it that are the row's, from there on.
template <class Format>
struct TileOfRow {
  static constexpr int kColumns = WideRow<Format>::kTileColumns;
  int64_t row;
  int first_column, begin, left;  // `left`: kColumns or more of all but the row's last one

  __device__ __forceinline__ TileOfRow(const WideRow<Format>& of, int tile)
      : row(of.row),
        first_column(tile * kColumns - of.shift),
        begin(tile == 0 ? of.shift : 0),
        left(static_cast<int>(of.columns_from(tile))) {}
  __device__ __forceinline__ bool full() const { return begin == 0 && left >= kColumns; }
  __device__ __forceinline__ TilePlace<Format> place() const {
    const int end = left < kColumns ? left : kColumns;
    return {static_cast<int>(threadIdx.x % 32), 32, begin, end < 0 ? 0 : end};
  }
  __device__ __forceinline__ char* address(const TypedMatrix& matrix) const {
    return address_of<Format>(matrix, row, first_column);
  }
};

// Starts the copy of a tile of one matrix. Bulk copies may bring the whole pack in which a row
// begins or ends: the rest of it is of the rows before and after this one, or lies between them.
// But nothing lies before the first row and after the last one, and there lanes copy the elements.
template <class Format>
__device__ __forceinline__ void start_copy(const TypedMatrix& matrix, const TileOfRow<Format>& tile,
                                           int64_t last_row, unsigned char* slot, uint64_t* full) {
  constexpr int kPack = Format::kPack;
  const int bytes = bytes_of<Format>(matrix.type);
  const char* global = tile.address(matrix);
  if (tile.full()) {
    if (ptx::elect_one()) {
      ptx::mbarrier_arrive_expect_tx(full, static_cast<unsigned>(tile.kColumns * bytes));
      ptx::bulk_load(slot, global, static_cast<unsigned>(tile.kColumns * bytes), full);
    }
    return;
  }
  const TilePlace<Format> at = tile.place();
  const int first = at.begin > 0 && tile.row == 0 ? kPack : 0;
  const int last = (at.end + (tile.row < last_row ? kPack - 1 : 0)) / kPack * kPack;
  if (ptx::elect_one()) {
    const int count = last > first ? last - first : 0;
    ptx::mbarrier_arrive_expect_tx(full, static_cast<unsigned>(count * bytes));
    if (count > 0) {
      ptx::bulk_load(slot + first * bytes, global + first * bytes,
                     static_cast<unsigned>(count * bytes), full);
    }
  }
  const auto copy_element = [&](int e) {
    if (e < at.begin || e >= at.end) return;
    if (bytes == 4) {
      reinterpret_cast<uint32_t*>(slot)[e] = reinterpret_cast<const uint32_t*>(global)[e];
    } else {
      reinterpret_cast<uint16_t*>(slot)[e] = reinterpret_cast<const uint16_t*>(global)[e];
    }
  };
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (lane < kPack) {
    if (first > 0) copy_element(lane);
    if (last < at.end && last >= first) copy_element(last + lane);
  }
  __syncwarp();  // all lanes see the elements
}

// Elements that are not the row's become `missing`.
template <class Format>
__device__ __forceinline__ void mask(Tile<Format>& x, const TilePlace<Format>& at,
                                     mygemmDataType_t type, float missing) {
#pragma unroll
  for (int k = 0; k < tile_packs(Format::kPack); ++k) {
    if (at.whole(k)) continue;
    float value[Format::kPack];
    x.get(k, type, value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) value[i] = at.has(k, i) ? value[i] : missing;
    x.set(k, type, value);
  }
}

}  // namespace mygemm
