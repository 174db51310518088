// What the kernels for wide rows share: the sums of runs and rows in the order of wide.h. Device
// only.
#pragma once

#include "kernels/softmax/packs.cuh"
#include "kernels/softmax/wide.h"

namespace mygemm {

template <class Format>
using Tile = Packs<Format, tile_packs(Format::kPack)>;

template <class Format>
using TilePlace = RaggedPlace<Format::kPack>;

// One row of a call. Columns before `shift` are of the pack in which the row begins.
template <class Format>
struct WideRow {
  static constexpr int kTileColumns = 32 * tile_packs(Format::kPack) * Format::kPack;
  int64_t row, end;
  int shift;

  __device__ WideRow(const SoftmaxProblem& p, int64_t r)
      : row(r), shift(shift_of<Format>(p.out, r)) {
    end = shift + p.cols;
  }

  // The lane's packs of a tile; none of a tile past the end.
  __device__ TilePlace<Format> place(int64_t tile) const {
    const int64_t left = end - tile * kTileColumns;
    const int64_t last = left < kTileColumns ? left : kTileColumns;
    return {static_cast<int>(threadIdx.x % 32), 32, tile == 0 ? shift : 0,
            static_cast<int>(last < 0 ? 0 : last)};
  }
  __device__ char* address(const TypedMatrix& matrix, int64_t tile) const {
    return address_of(matrix, row, tile * kTileColumns - shift);
  }
};

// What a lane has seen of a run: tiles are added one after the other.
struct LaneSum {
  MaxSum seen{-INFINITY, 0.0f};

  // One tile of x, whose exponentials are then against the largest x seen.
  template <class Format>
  __device__ __forceinline__ void add(const SoftmaxProblem& p, const Scale& scale,
                                      Tile<Format>& x) {
    see(scale, largest(p, scale, x));
    seen.sum += exponentials(p, scale, x, Reference(scale, seen.maximum));
  }
  // What the lane has seen of a tile elsewhere.
  template <bool kBackward>
  __device__ __forceinline__ void add_part(const Scale& scale, const MaxSum& tile) {
    if constexpr (kBackward) {
      seen.sum += tile.sum;
    } else {
      see(scale, tile.maximum);
      seen.sum += tile.sum * weight(scale, tile.maximum, Reference(scale, seen.maximum));
    }
  }
  __device__ __forceinline__ void see(const Scale& scale, float maximum) {
    if (!(maximum > seen.maximum)) return;
    seen.sum *= weight(scale, seen.maximum, Reference(scale, maximum));
    seen.maximum = maximum;
  }
  // One tile of the gradient.
  template <class Format>
  __device__ __forceinline__ void add(const SoftmaxProblem& p, const Tile<Format>& y,
                                      const Tile<Format>& dy) {
    seen.sum += gradient_sum(p, y, dy);
  }
  // The run, once all its tiles are added; every lane gets it.
  template <bool kBackward>
  __device__ __forceinline__ MaxSum run(const Scale& scale) const {
    if constexpr (kBackward) {
      return {0.0f, warp_reduce<Sum>(seen.sum)};
    } else {
      return warp_merge(scale, seen);
    }
  }
};

// The whole row from its runs, by one warp; every lane gets the result.
template <bool kBackward>
__device__ __forceinline__ MaxSum combine_runs(const Scale& scale, const MaxSum* run, int runs) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  MaxSum row{-INFINITY, 0.0f};
  if constexpr (kBackward) {
    for (int i = lane; i < runs; i += 32) row.sum += run[i].sum;
  } else {
    for (int i = lane; i < runs; i += 32) row.maximum = fmaxf(row.maximum, run[i].maximum);
    row.maximum = warp_reduce<Max>(row.maximum);
    const Reference to(scale, row.maximum);
    for (int i = lane; i < runs; i += 32) {
      row.sum += run[i].sum * weight(scale, run[i].maximum, to);
    }
  }
  row.sum = warp_reduce<Sum>(row.sum);
  return row;
}

// A tile of x or of y and dy, on its way through a kernel.
template <class Format, bool kBackward>
struct WideTile {
  Tile<Format> x, dy[1];

  __device__ __forceinline__ void load_from(const SoftmaxProblem& p, const Scale& scale,
                                            const WideRow<Format>& row, int64_t tile) {
    const TilePlace<Format> at = row.place(tile);
    if constexpr (kBackward) {
      load(x, row.address(p.in, tile), p.in.type, at, 0.0f);
      load(dy[0], row.address(p.dy, tile), p.dy.type, at, 0.0f);
    } else {
      load_x(p, scale, x, row.address(p.in, tile), at);
    }
  }
  __device__ __forceinline__ void add_to(LaneSum& sum, const SoftmaxProblem& p,
                                         const Scale& scale) {
    if constexpr (kBackward) {
      sum.add<Format>(p, x, dy[0]);
    } else {
      sum.add<Format>(p, scale, x);
    }
  }
  // The tile's results; x and dy as they were loaded.
  __device__ __forceinline__ void write(const SoftmaxProblem& p, const Scale& scale,
                                        const WideRow<Format>& row, int64_t tile,
                                        const MaxSum& whole) {
    const TilePlace<Format> at = row.place(tile);
    if constexpr (kBackward) {
      gradients(p, x, dy[0], whole.sum);
      store(dy[0], row.address(p.out, tile), p.out.type, at);
    } else {
      if (Format::kKeepsFloats && !p.log_mode()) {
        exponentials(p, scale, x, Reference(scale, whole.maximum));
      }
      finish(p, scale, x, whole.maximum, factor_of<Format>(p, scale, whole));
      store(x, row.address(p.out, tile), p.out.type, at);
    }
  }
};

}  // namespace mygemm
