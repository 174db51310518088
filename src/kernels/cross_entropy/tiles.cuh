// The steps of a cross entropy on the tiles of a row that a warp holds in registers. Device only.
#pragma once

#include "kernels/cross_entropy/loss.cuh"
#include "kernels/cross_entropy/rows.h"
#include "kernels/softmax/wide.cuh"

namespace mygemm {

// A format of softmax whose packs are kept as floats, and whose exponentials are those of FP32: the
// loss is FP32 whatever the logits are. Exponentials are computed once and kept.
template <class Format>
struct Kept : Format {
  static constexpr bool kKeepsFloats = true, kAccurate = true;
  static constexpr int kWords = Format::kPack;
};
// In gradients of 16 bits the polynomial would not be seen.
template <class Format>
constexpr Exp kWideExp<Kept<Format>> = Format::kWidest == 4 ? Exp::kPolynomial : Exp::kUnit;

// Calls body with the format for rows of the shape.
template <class Body>
auto with_kept_format(const RowShape& shape, Body body) {
  return with_wide_format(shape, [&](auto format) { return body(Kept<decltype(format)>{}); });
}

// The tile, lane and element of a lane that the target is; no tile where there is none.
template <class Format>
struct TargetPlace {
  int64_t tile;
  int element;  // of this lane; -1: another lane's
  int lane;

  __device__ __forceinline__ TargetPlace(const Target& target, const WideRow<Format>& row) {
    const int64_t column = target.column + row.shift;
    tile = target.column < 0 ? -1 : column / WideRow<Format>::kTileColumns;
    const int within = static_cast<int>(column % WideRow<Format>::kTileColumns);
    const int pack = within / Format::kPack;
    lane = pack % 32;
    element = static_cast<int>(threadIdx.x % 32) == lane
                  ? pack / 32 * Format::kPack + within % Format::kPack
                  : -1;
  }
  // Calls change(element) for the target, in the tile that has it; for one lane.
  template <class Change>
  __device__ __forceinline__ void change_target(Tile<Format>& x, Change change) const {
    change_all(x, MYGEMM_R_32F, [&](float v, int k, int i) {
      return k * Format::kPack + i == element ? change(v) : v;
    });
  }
};

// A lane's contribution to a run: the sum of exponentials, and of all logits where there is label
// smoothing, and the target's logit if the run has it.
template <class Format>
struct LaneLoss {
  LaneSum sum;
  float mean = 0.0f, target = 0.0f;

  // Adds a tile of logits, whose exponentials replace them. `at` says which belong to the row; the
  // others are -inf.
  template <class Place>
  __device__ __forceinline__ void add(const CrossEntropyProblem& p, const Scale& scale,
                                      Tile<Format>& x, int64_t tile, const Place& at,
                                      const TargetPlace<Format>& place) {
    if (p.label_smoothing > 0.0f) add_to_mean(p, x, at);
    if (tile == place.tile) {
      float taken = 0.0f;
      place.change_target(x, [&](float v) {
        taken = v;
        return -INFINITY;
      });
      target = __shfl_sync(0xffffffffu, taken, place.lane);
    }
    sum.add<Format>(p.softmax(), scale, x);
  }

 private:
  template <class Place>
  __device__ __forceinline__ void add_to_mean(const CrossEntropyProblem& p, const Tile<Format>& x,
                                              const Place& at) {
    const float share = 1.0f / static_cast<float>(p.cols);  // a sum might overflow, a mean does not
#pragma unroll
    for (int k = 0; k < tile_packs(Format::kPack); ++k) {
      float value[Format::kPack];
      x.get(k, MYGEMM_R_32F, value);
#pragma unroll
      for (int i = 0; i < Format::kPack; ++i) {
        if (at.has(k, i)) mean = fmaf(value[i], share, mean);
      }
    }
  }
};

// The gradient of a tile in place of its exponentials, which are against the Reference of
// `maximum`.
template <class Format>
__device__ __forceinline__ void finish_tile(const Scale& scale, Tile<Format>& e, float maximum,
                                            const RowGradient& row, int64_t tile,
                                            const TargetPlace<Format>& place) {
  if (row.ignored) {
    change_all(e, MYGEMM_R_32F, [](float, int, int) { return 0.0f; });
    return;
  }
  change_reference(scale, e, maximum, row.to);
  change_all(e, MYGEMM_R_32F, [&](float v, int, int) { return row.of<Format::kWidest == 4>(v); });
  if (tile == place.tile) place.change_target(e, [&](float) { return row.target; });
}

// The mean of a row's logits from the parts of its runs, in the order of combine_runs().
template <class Part>
__device__ __forceinline__ float combine_means(int runs, Part part) {
  float mean = 0.0f;
  for (int i = static_cast<int>(threadIdx.x % 32); i < runs; i += 32) mean += part(i);
  return warp_reduce<Sum>(mean);
}

}  // namespace mygemm
