// Products on tensor cores: results of a tile that wait in shared memory, from which the tensor
// memory accelerator stores them while the next tile is multiplied. Where C is read, it came there
// the same way before. Device only.
#pragma once

#include "kernels/gemm/tensor/rows.cuh"
#include "kernels/gemm/tensor/target.cuh"
#include "kernels/swizzle.h"
#include "ptx/bulk.cuh"

namespace mygemm::tensor {

// C and D as the accelerator copies boxes of them.
struct ResultMaps {
  OperandMap c, d;
  bool loads_c;  // where beta is not 0
  bool stores_d;
};

// Whether C comes from the boxes of a warpgroup, and whether all its results, which are right, go
// there.
struct Boxed {
  bool c, d;
};

// Whether a thread starts the copies of its consumer warpgroup's boxes, and waits for them.
__device__ __forceinline__ bool copies_boxes(int warp, int lane) {
  return warp % kGroupWarps == 0 && lane == 0;
}

// Calls copy(box, x, y, matrix) for each box of a warpgroup: that box, and its place in C or D, x
// along columns.
template <class Tile, class Copy>
__device__ __forceinline__ void for_boxes(ResultBoxes<Tile>& boxes, const OperandMap& map,
                                          const Target& to, int warp, Copy&& copy) {
  using Boxes = ResultBoxes<Tile>;
  const int row = to.i + first_row_of(warp);
  const int matrix = static_cast<int>(to.batch) * map.batch_step;
  const int count = to.transposed ? Boxes::kAcrossColumns : Boxes::kAcrossRows;
  int x = to.transposed ? to.j : row;
  float* box = boxes.of_group[warp / kGroupWarps];
#pragma unroll 1
  for (int b = 0; b < count; ++b) {
    copy(box, x, to.transposed ? row : to.j, matrix);
    x += kBoxLine;
    box += Boxes::kFloats / count;
  }
}

// Has C's part of a tile brought to the boxes of a warpgroup, once stores have read them. One
// thread, copies_boxes().
template <class Tile>
__device__ __forceinline__ void load_boxes(ResultBoxes<Tile>& boxes, const OperandMap& map,
                                           const Target& to, int warp) {
  uint64_t* const full = &boxes.full[warp / kGroupWarps];
  ptx::tma_wait_for_reads_of_stores();
  ptx::mbarrier_arrive_expect_tx(full, ResultBoxes<Tile>::kFloats * sizeof(float));
  for_boxes(boxes, map, to, warp, [&](float* box, int x, int y, int matrix) {
    ptx::tma_load_3d(box, &map.map, full, x, y, matrix);
  });
}

// Has the boxes of a warpgroup, which calls this together, stored.
template <class Tile>
__device__ __forceinline__ void store_boxes(ResultBoxes<Tile>& boxes, const OperandMap& map,
                                            const Target& to, int warp, int lane) {
  ptx::fence_bulk();
  any_in_group(false, warp);  // all results are there
  if (!copies_boxes(warp, lane)) return;
  for_boxes(boxes, map, to, warp, [&](const float* box, int x, int y, int matrix) {
    ptx::tma_store_3d(&map.map, box, x, y, matrix);
  });
  ptx::tma_commit_stores();
}

// The places in the boxes of a lane's results, whose rows are those of Rows.
template <class Tile, class Rows, bool kTransposed>
class PlacesInBoxes {
 public:
  __device__ __forceinline__ PlacesInBoxes(const ResultBoxes<Tile>& boxes, int warp, int lane) {
    const unsigned first = ptx::shared_address(boxes.of_group[warp / kGroupWarps]);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = Rows::row(warp, lane / 4 + r / 2 * 8) % kGroupRows;
      const int column = lane % 4 * 2 + r % 2;
      const int line = kTransposed ? row : column, along = kTransposed ? column : row % kBoxLine;
      const int box = kTransposed ? 0 : row / kBoxLine * Tile::kBlockN * kLineBytes;
      places_[r] = first + static_cast<unsigned>(box + swizzle_128b(line * kLineBytes + along * 4));
    }
  }

  // Those of the columns from `column` on, in the order of tensor::Results.
  template <int kCount>
  __device__ __forceinline__ void read(float (&old)[kCount], int column) const {
#pragma unroll
    for (int r = 0; r < kCount; ++r) old[r] = __uint_as_float(ptx::load_shared_4(at(column, r)));
  }
  template <int kCount>
  __device__ __forceinline__ void write(const float (&results)[kCount], int column) const {
#pragma unroll
    for (int r = 0; r < kCount; ++r) ptx::store_shared_4(at(column, r), results[r]);
  }

 private:
  static constexpr int kLineBytes = kBoxLine * sizeof(float);
  static_assert(Rows::kNeighbours, "results are where the tensor cores left them");

  // The next eight columns are eight lines further on, swizzled alike, or 32 bytes along a line.
  __device__ __forceinline__ unsigned at(int column, int r) const {
    const unsigned turn = column * (kTransposed ? kGroupRows / kBoxLine : 1) * kLineBytes;
    const unsigned eight = r / 4;
    return turn +
           (kTransposed ? places_[r % 4] ^ eight * 32 : places_[r % 4] + eight * 8 * kLineBytes);
  }

  unsigned places_[4];  // of four results of the first eight columns
};

// In place of these where there are no boxes.
struct NoPlaces {
  template <class Results>
  __device__ __forceinline__ void read(Results&, int) const {}
  template <class Results>
  __device__ __forceinline__ void write(const Results&, int) const {}
};

// Writes alpha * sum + beta * C to the boxes; where C is read, it is there.
template <class Tile, class Places>
__device__ __forceinline__ void write_scaled(const Places& places, const Results<Tile>& sum,
                                             const Scalars& scalars) {
  constexpr int kColumns = kBoxLine, kCount = kColumns / 2;  // of a turn, and its results
  const auto write = [&](const ScaleEpilogue& epilogue, bool reads_c) {
#pragma unroll
    for (int column = 0; column < Tile::kBlockN; column += kColumns) {
      float results[kCount] = {};
      if (reads_c) places.read(results, column);
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        results[r] = epilogue.finish(0, 0, sum[column / 2 + r], &results[r]);
      }
      places.write(results, column);
    }
  };
  if (scalars.beta == 0.0f) {
    write({scalars.alpha, 0.0f}, false);
  } else {
    write({scalars.alpha, scalars.beta}, true);
  }
}

}  // namespace mygemm::tensor
