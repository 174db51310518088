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
constexpr Exp kWideExp<Kept<Format>> = Format::kWidest == 4 ? Exp::kPolynomial : Exp::kDirect;

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
  // Takes the target's logit out of its tile, which then has -inf there; every lane gets it.
  __device__ __forceinline__ float take(Tile<Format>& x) const {
    float taken = 0.0f;
    change_all(x, MYGEMM_R_32F, [&](float v, int k, int i) {
      const bool is_target = k * Format::kPack + i == element;
      taken = is_target ? v : taken;
      return is_target ? -INFINITY : v;
    });
    return __shfl_sync(0xffffffffu, taken, lane);
  }
};

// The exponentials of a tile in place of its logits, of which `maximum` is the largest, and their
// sum.
template <class Format>
__device__ __forceinline__ float tile_exponentials(const CrossEntropyProblem& p, const Scale& scale,
                                                   Tile<Format>& x, float maximum) {
  Reference to(scale, maximum);
  if (__any_sync(0xffffffffu, to.shift != 0.0f)) {
    change_all(x, MYGEMM_R_32F, [&](float v, int, int) { return v - to.shift; });
  }
  to.shift = 0.0f;
  return exponentials<kWideExp<Format>>(p.softmax(), scale, x, to);
}

// A lane's contribution to a run: the sum of exponentials, and of all logits but the target's where
// there is label smoothing.
template <class Format>
struct LaneLoss {
  LaneSum sum;
  float mean = 0.0f;

  // Adds a tile of logits without the target's, whose exponentials replace them, and returns the
  // maximum that they are against: the tile's own. `at` says which logits belong to the row; the
  // others are -inf.
  template <class Place>
  __device__ __forceinline__ float add(const CrossEntropyProblem& p, const Scale& scale,
                                       Tile<Format>& x, int64_t tile, const Place& at,
                                       const TargetPlace<Format>& place) {
    if (p.label_smoothing > 0.0f) {
      add_to_mean(p, x, at, tile == place.tile ? place.element : -1);
    }
    const float maximum = largest(p.softmax(), x);
    sum.add_part<false>(scale, {maximum, tile_exponentials(p, scale, x, maximum)});
    return maximum;
  }

 private:
  template <class Place>
  __device__ __forceinline__ void add_to_mean(const CrossEntropyProblem& p, const Tile<Format>& x,
                                              const Place& at, int target) {
    const float share = 1.0f / static_cast<float>(p.cols);  // a sum might overflow, a mean does not
#pragma unroll
    for (int k = 0; k < tile_packs(Format::kPack); ++k) {
      float value[Format::kPack];
      x.get(k, MYGEMM_R_32F, value);
#pragma unroll
      for (int i = 0; i < Format::kPack; ++i) {
        const bool counts = at.has(k, i) && k * Format::kPack + i != target;
        if (counts) mean = fmaf(value[i], share, mean);
      }
    }
  }
};

// The gradient of a tile in place of its exponentials, which are against the Reference of
// `maximum`.
template <class Format>
__device__ __forceinline__ void finish_tile(const Scale& scale, Tile<Format>& e, float maximum,
                                            const RowGradient& row) {
  const float own = weight(scale, maximum, Reference(row.shift, row.power));
  const float high = row.high * own, low = row.low * own;
  change_all(e, MYGEMM_R_32F, [&](float v, int, int) {
    return fmaf(v, high, Format::kWidest == 4 ? fmaf(v, low, row.constant) : row.constant);
  });
  if (row.ignored) change_all(e, MYGEMM_R_32F, [](float, int, int) { return 0.0f; });
}
// The target's gradient, by the lane that has written its pack.
template <class Format>
__device__ __forceinline__ void write_target(const CrossEntropyProblem& p, const RowGradient& row,
                                             int64_t r, const Target& target,
                                             const TargetPlace<Format>& place) {
  if (place.element < 0) return;
  const Packs<MixedElements, 1> value{{{__float_as_uint(row.target)}}};
  store(value, address_of<MixedElements>(p.dx, r, target.column), p.dx.type, FullPlace{0});
}

// The mean of a row's logits from the parts of its runs, in the order of combine_runs().
template <class Part>
__device__ __forceinline__ float combine_means(int runs, Part part) {
  float mean = 0.0f;
  for (int i = static_cast<int>(threadIdx.x % 32); i < runs; i += 32) mean += part(i);
  return warp_reduce<Sum>(mean);
}

}  // namespace mygemm
