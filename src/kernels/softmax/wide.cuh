// Device code that the kernels for wide rows share: the sums of runs and rows in the order of
// wide.h. Device only.
#pragma once

#include "kernels/softmax/packs.cuh"
#include "kernels/softmax/wide.h"

namespace mygemm {

template <class Format>
using Tile = Packs<Format, tile_packs(Format::kPack)>;

template <class Format>
using TilePlace = RaggedPlace<Format::kPack>;

// One row of a matrix, in tiles. Tiles begin at multiples of a pack: the first one begins `shift`
// columns before the row.
template <class Format>
struct WideRow {
  static constexpr int kTileColumns = 32 * tile_packs(Format::kPack) * Format::kPack;
  int64_t row, cols;
  int shift;

  __device__ __forceinline__ WideRow(const SoftmaxProblem& p, int64_t r)
      : row(r), cols(p.cols), shift(shift_of<Format>(p.out, r)) {}

  // Columns from the beginning of a tile to the end of the row.
  __device__ __forceinline__ int64_t columns_from(int64_t tile) const {
    return cols + shift - tile * kTileColumns;
  }
  // The lane's packs of a tile; none for a tile past the end.
  __device__ __forceinline__ TilePlace<Format> place(int64_t tile) const {
    const int64_t left = columns_from(tile);
    const int64_t end = left < kTileColumns ? left : kTileColumns;
    return {static_cast<int>(threadIdx.x % 32), 32, tile == 0 ? shift : 0,
            static_cast<int>(end < 0 ? 0 : end)};
  }
  __device__ __forceinline__ char* address(const TypedMatrix& matrix, int64_t tile) const {
    return address_of<Format>(matrix, row, tile * kTileColumns - shift);
  }
};

// A lane's maximum and sum of a run, to which tiles are added one after another.
struct LaneSum {
  MaxSum seen{-INFINITY, 0.0f};

  // Adds a tile of x. Its exponentials are against the largest x so far.
  template <class Format>
  __device__ __forceinline__ void add(const SoftmaxProblem& p, const Scale& scale,
                                      Tile<Format>& x) {
    Reference to = see(scale, largest(p, x));
    if (Format::kKeepsFloats && !p.log_mode()) subtract_once(x, to);
    seen.sum += exponentials<kWideExp<Format>>(p, scale, x, to);
  }
  // Adds the maximum and sum of a tile that another warp computed.
  template <bool kBackward>
  __device__ __forceinline__ void add_part(const Scale& scale, const MaxSum& tile) {
    if constexpr (kBackward) {
      seen.sum += tile.sum;
    } else {
      const Reference to = see(scale, tile.maximum);
      seen.sum += tile.sum * weight(scale, tile.maximum, to);
    }
  }
  // The same where neither the part's maximum nor the one so far is huge: both sums are multiplied
  // by a power of two, without a branch.
  __device__ __forceinline__ void add_ordinary_part(const Scale& scale, const MaxSum& part) {
    const float before = ordinary_power(scale, seen.maximum);
    const float own = ordinary_power(scale, part.maximum);
    seen.maximum = fmaxf(seen.maximum, part.maximum);
    const float after = fmaxf(before, own);
    // fminf: a sum of nothing but -inf, which is 0, has a power of -inf, less `after` NaN.
    const auto factor = [after](float of) { return power_of_two(fminf(of - after, 0.0f)); };
    seen.sum = fmaf(part.sum, factor(own), seen.sum * factor(before));
  }
  // Takes another maximum into account and rescales the sum where the larger one changes.
  __device__ __forceinline__ Reference see(const Scale& scale, float maximum) {
    maximum = fmaxf(maximum, seen.maximum);
    const Reference to(scale, maximum);
    if (!(Reference(scale, seen.maximum) == to)) [[unlikely]] {
      seen.sum *= weight(scale, seen.maximum, to);
    }
    seen.maximum = maximum;
    return to;
  }
  // Adds a tile of the gradient.
  template <class Format>
  __device__ __forceinline__ void add(const SoftmaxProblem& p, const Tile<Format>& y,
                                      const Tile<Format>& dy) {
    seen.sum += gradient_sum(p, y, dy);
  }
  // The result of the run, after all its tiles have been added; every lane gets it.
  template <bool kBackward>
  __device__ __forceinline__ MaxSum run(const Scale& scale) const {
    if constexpr (kBackward) {
      return {0.0f, warp_reduce<Sum>(seen.sum)};
    } else {
      return warp_merge(scale, seen);
    }
  }
};

// Combines the runs of a row, by one warp; every lane gets the result.
template <bool kBackward>
__device__ __forceinline__ MaxSum combine_runs(const Scale& scale, const MaxSum* run, int runs) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  MaxSum row{-INFINITY, 0.0f};
  if constexpr (kBackward) {
    for (int i = lane; i < runs; i += 32) row.sum += run[i].sum;
  } else {
#pragma unroll 4
    for (int i = lane; i < runs; i += 32) row.maximum = fmaxf(row.maximum, run[i].maximum);
    row.maximum = warp_reduce<Max>(row.maximum);
    const Reference to(scale, row.maximum);
#pragma unroll 4
    for (int i = lane; i < runs; i += 32) {
      const MaxSum part = run[i];
      row.sum += Reference(scale, part.maximum) == to ? part.sum
                                                      : part.sum * weight(scale, part.maximum, to);
    }
  }
  row.sum = warp_reduce<Sum>(row.sum);
  return row;
}

// A tile of x, or of y and dy, in registers.
template <class Format, bool kBackward>
struct WideTile {
  Tile<Format> x, dy[1];

  __device__ __forceinline__ void load_from(const SoftmaxProblem& p, const WideRow<Format>& row,
                                            int64_t tile) {
    const TilePlace<Format> at = row.place(tile);
    load(x, row.address(p.in, tile), p.in.type, at, kBackward ? 0.0f : missing_x(p));
    if constexpr (kBackward) {
      load(dy[0], row.address(p.dy, tile), p.dy.type, at, 0.0f);
    } else {
      adjust_x(p, x, at);
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
  // Computes and writes the tile's results from x, or from y and dy, as they were loaded.
  __device__ __forceinline__ void write(const SoftmaxProblem& p, const Scale& scale,
                                        const WideRow<Format>& row, int64_t tile,
                                        const MaxSum& whole, const RowFactor& factor) {
    if (!kBackward && Format::kKeepsFloats && !p.log_mode()) {
      exponentials<kWideExp<Format>>(p, scale, x, Reference(scale, whole.maximum));
    }
    write_results(p, scale, row, tile, whole, factor);
  }
  // The same after add_to(), whose exponentials are against the Reference of `maximum`.
  __device__ __forceinline__ void write_added(const SoftmaxProblem& p, const Scale& scale,
                                              const WideRow<Format>& row, int64_t tile,
                                              float maximum, const MaxSum& whole,
                                              const RowFactor& factor) {
    if (!kBackward && Format::kKeepsFloats && !p.log_mode()) {
      change_reference(scale, x, maximum, Reference(scale, whole.maximum));
    }
    write_results(p, scale, row, tile, whole, factor);
  }

 private:
  __device__ __forceinline__ void write_results(const SoftmaxProblem& p, const Scale& scale,
                                                const WideRow<Format>& row, int64_t tile,
                                                const MaxSum& whole, const RowFactor& factor) {
    const TilePlace<Format> at = row.place(tile);
    if constexpr (kBackward) {
      gradients(p, x, dy[0], whole.sum);
      store(dy[0], row.address(p.out, tile), p.out.type, at);
    } else {
      finish(p, scale, x, whole.maximum, factor);
      store(x, row.address(p.out, tile), p.out.type, at);
    }
  }
};

}  // namespace mygemm
