// The tiles of a wide row that a warp of a cluster owns, and the copies that bring them into its
// slots in shared memory. Device only, SM 90.
#pragma once

#include "kernels/softmax/cluster.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/warp.cuh"

namespace mygemm {

// The tiles of a warp's runs; the same ones in all rows.
struct OwnTiles {
  int first_run, runs;  // the same number in every warp; those past the row's last one are empty
  int first, count, of_first_run;

  __device__ OwnTiles(const WideRows& rows, const ClusterRing& ring, int warp)
      : OwnTiles(rows,
                 (static_cast<int>(ptx::cluster_rank()) * kClusterWarps + warp) * ring.runs_of_warp,
                 ring.runs_of_warp) {}
  __device__ OwnTiles(const WideRows& rows, int from, int run_count)
      : first_run(from), runs(run_count) {
    const auto first_tile = [&](int run) {
      return static_cast<int>(rows.first_tile(run < rows.runs ? run : rows.runs));
    };
    first = first_tile(first_run);
    count = first_tile(first_run + runs) - first;
    of_first_run = first_tile(first_run + 1) - first;
  }
};

// One of these tiles in one row: its first column, and the range of its columns that belong to the
// row. `begin` and `left` are relative to the first column.
template <class Format>
struct TileOfRow {
  static constexpr int kColumns = WideRow<Format>::kTileColumns;
  int64_t row;
  int first_column, begin, left;  // left >= kColumns in all tiles but the last one of a row

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

// Starts the copy of a tile of one matrix. A bulk copy loads the whole pack in which a row begins
// or ends: the rest of the pack belongs to the neighbouring rows or to the gap between them. Before
// the first row and after the last one memory must not be read, and lanes copy single elements
// instead.
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

// Replaces elements that do not belong to the row by `missing`.
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
