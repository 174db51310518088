// The steps of a cross entropy on the tiles of a row that a warp holds in registers. Device only.
#pragma once

#include "kernels/cross_entropy/loss.cuh"
#include "kernels/cross_entropy/rows.h"
#include "kernels/softmax/wide.cuh"

namespace mygemm {

// The tile, lane and element of a lane that the target is; no tile where there is none.
template <class Format>
struct TargetPlace {
  int tile;
  int element;  // of this lane; -1: another lane's
  int lane;

  __device__ __forceinline__ TargetPlace(const Target& target, const WideRow<Format>& row) {
    constexpr unsigned kTile = WideRow<Format>::kTileColumns, kPack = Format::kPack;
    const auto column = static_cast<uint64_t>(target.column + row.shift);
    const unsigned within = static_cast<unsigned>(column) % kTile, pack = within / kPack;
    tile = target.column < 0 ? -1 : static_cast<int>(column / kTile);
    lane = static_cast<int>(pack % 32);
    element =
        threadIdx.x % 32 == pack % 32 ? static_cast<int>(pack / 32 * kPack + within % kPack) : -1;
  }
  // Takes the target's logit out of its tile, which then has -inf there; every lane gets it.
  __device__ __forceinline__ float take(Tile<Format>& x, mygemmDataType_t type) const {
    float taken = 0.0f;
    change_all(x, type, [&](float v, int k, int i) {
      const bool is_target = k * Format::kPack + i == element;
      taken = is_target ? v : taken;
      return is_target ? -INFINITY : v;
    });
    return __shfl_sync(0xffffffffu, taken, lane);
  }
};

// Packs in FP32 are replaced by their exponentials, which are computed once. Packs of 16 bits stay
// logits, in half the registers: the gradient takes two instructions for each.

// The exponentials of a tile in FP32 in place of its logits, of which `maximum` is the largest, and
// their sum.
template <class Format>
__device__ __forceinline__ float tile_exponentials(const CrossEntropyProblem& p, const Scale& scale,
                                                   Tile<Format>& x, float maximum) {
  Reference to(scale, maximum);
  if (__any_sync(0xffffffffu, to.shift != 0.0f)) {
    change_all(x, MYGEMM_R_32F, [&](float v, int, int) { return v - to.shift; });
  }
  to.shift = 0.0f;
  return exponentials<kLossExp<Format>>(p.softmax(), scale, x, to);
}

// A lane's contribution to a run: the sum of exponentials, and of all logits but the target's where
// there is label smoothing.
template <class Format>
struct LaneLoss {
  LaneSum sum;
  float mean = 0.0f;

  // Adds a tile of logits without the target's and returns the largest, which the exponentials are
  // against. `at` says which logits belong to the row; the others are -inf.
  template <class Place>
  __device__ __forceinline__ float add(const CrossEntropyProblem& p, const Scale& scale,
                                       Tile<Format>& x, int tile, const Place& at,
                                       const TargetPlace<Format>& place) {
    if (p.label_smoothing > 0.0f) {
      add_to_mean(p, x, at, tile == place.tile ? place.element : -1);
    }
    const float maximum = largest(p.softmax(), x);
    if constexpr (Format::kKeepsFloats) {
      const MaxSum part{maximum, tile_exponentials(p, scale, x, maximum)};
      const bool huge = is_huge(scale, maximum) || is_huge(scale, sum.seen.maximum);
      if (__any_sync(0xffffffffu, huge)) [[unlikely]] {
        sum.add_part<false>(scale, part);
      } else {
        sum.add_ordinary_part(scale, part);
      }
    } else {
      add_logits(p, scale, x, maximum);
    }
    return maximum;
  }

 private:
  __device__ __forceinline__ void add_logits(const CrossEntropyProblem& p, const Scale& scale,
                                             Tile<Format>& x, float maximum) {
    const Reference to(scale, maximum);
    const auto sum_of_all = [&](const Reference& reference) {
      float total = 0.0f;
      with_type<Format>(p.x.type, [&](auto zero) {
        constexpr int kPacks = tile_packs(Format::kPack);
        float part[kPacks];
#pragma unroll
        for (int k = 0; k < kPacks; ++k) {
          float e[Format::kPack];
#pragma unroll
          for (int i = 0; i < Format::kPack; ++i) e[i] = element_of<decltype(zero)>(x.word[k], i);
          subtract(e, reference);
          take_exponentials<kLossExp<Format>>(scale, e, reference);
          part[k] = sum_of<Format::kPack>(e);
        }
        total = sum_of<kPacks>(part);
      });
      return total;
    };
    const bool huge = to.shift != 0.0f || is_huge(scale, sum.seen.maximum);
    if (__any_sync(0xffffffffu, huge)) [[unlikely]] {
      sum.add_part<false>(scale, {maximum, sum_of_all(to)});
    } else {
      const Reference power_alone(0.0f, to.power);  // without a subtraction for each element
      sum.add_ordinary_part(scale, {maximum, sum_of_all(power_alone)});
    }
  }
  template <class Place>
  __device__ __forceinline__ void add_to_mean(const CrossEntropyProblem& p, const Tile<Format>& x,
                                              const Place& at, int target) {
    const float share = share_of_mean(p);
#pragma unroll
    for (int k = 0; k < tile_packs(Format::kPack); ++k) {
      float value[Format::kPack];
      x.get(k, p.x.type, value);
#pragma unroll
      for (int i = 0; i < Format::kPack; ++i) {
        const bool counts = at.has(k, i) && k * Format::kPack + i != target;
        if (counts) mean = fmaf(value[i], share, mean);
      }
    }
  }
};

// The gradient of a tile in FP32 in place of its exponentials, which are against the Reference of
// `maximum`.
template <class Format>
__device__ __forceinline__ void finish_tile(const Scale& scale, Tile<Format>& e, float maximum,
                                            const RowGradient& row) {
  const bool huge = row.shift != 0.0f || is_huge(scale, maximum);
  float own;
  if (__any_sync(0xffffffffu, huge)) [[unlikely]] {
    own = weight(scale, maximum, Reference(row.shift, row.power));
  } else {
    own = power_of_two(ordinary_power(scale, maximum) - row.power);
  }
  const float high = row.high * own, low = row.low * own;
  change_all(e, MYGEMM_R_32F,
             [&](float v, int, int) { return fmaf(v, high, fmaf(v, low, row.constant)); });
  if (row.ignored) change_all(e, MYGEMM_R_32F, [](float, int, int) { return 0.0f; });
}

// The gradient of a tile of 16 bits in place of its logits.
template <class Format>
__device__ __forceinline__ void finish_logits(const CrossEntropyProblem& p, const Scale& scale,
                                              Tile<Format>& x, const RowGradient& row) {
  const auto change = [&](auto gradient) {
    with_type<Format>(p.x.type, [&](auto x_zero) {
      with_type<Format>(p.dx.type, [&](auto dx_zero) {
#pragma unroll
        for (auto& word : x.word) {
#pragma unroll
          for (int i = 0; i < Format::kPack; i += 2) {
            const float low = gradient(element_of<decltype(x_zero)>(word, i));
            const float high = gradient(element_of<decltype(x_zero)>(word, i + 1));
            set_element<decltype(dx_zero)>(word, i, bits_of(from_float<decltype(dx_zero)>(low)));
            set_element<decltype(dx_zero)>(word, i + 1,
                                           bits_of(from_float<decltype(dx_zero)>(high)));
          }
        }
      });
    });
  };
  const Reference power_alone(0.0f, row.power), whole(row.shift, row.power);
  const auto gradient_of = [&](float v, const Reference& to) {
    return fmaf(exponential_of<kLossExp<Format>>(scale, v - to.shift, to), row.high, row.constant);
  };
  if (__any_sync(0xffffffffu, row.shift != 0.0f || row.ignored)) [[unlikely]] {
    change([&](float v) { return row.ignored ? 0.0f : gradient_of(v, whole); });
  } else {
    change([&](float v) { return gradient_of(v, power_alone); });
  }
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
