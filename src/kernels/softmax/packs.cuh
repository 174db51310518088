// The steps of a softmax on the packs of one row that a thread holds in registers. Device only.
#pragma once

#include "kernels/reduce.cuh"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"

namespace mygemm {

// Replaces every element by change(element, pack, index).
template <class Format, int kPacks, class Change>
__device__ __forceinline__ void change_all(Packs<Format, kPacks>& x, mygemmDataType_t type,
                                           Change change) {
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float value[Format::kPack];
    x.get(k, type, value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) value[i] = change(value[i], k, i);
    x.set(k, type, value);
  }
}

// A value of x that the formulas take as no element.
__device__ __forceinline__ float missing_x(const SoftmaxProblem& p) {
  return p.scale < 0.0f ? INFINITY : -INFINITY;
}

// Makes of x what the formulas take: negated where the scale is negative, times factor_of_x(), and
// -inf where missing_x() was loaded.
template <class Format, int kPacks, class Place>
__device__ __forceinline__ void adjust_x(const SoftmaxProblem& p, Packs<Format, kPacks>& x,
                                         const Place& at) {
  if (p.scale < 0.0f) {
    constexpr unsigned kSigns = Format::kKeepsFloats ? 0x80000000u : 0x80008000u;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (unsigned& word : x.word[k]) word ^= kSigns;
    }
  }
  const float factor = factor_of_x(p);
  if (factor != 1.0f) [[unlikely]] {  // 0 * -inf would be NaN outside the row, as it is inside
    change_all(x, p.in.type, [&](float v, int k, int i) { return at.has(k, i) ? v * factor : v; });
  }
}

// Loads x as the formulas take it.
template <class Format, int kPacks, class Place>
__device__ __forceinline__ void load_x(const SoftmaxProblem& p, Packs<Format, kPacks>& x,
                                       const void* row, const Place& at) {
  load(x, row, p.in.type, at, missing_x(p));
  adjust_x(p, x, at);
}

// Combines all values pairwise: a sum of 2^n terms has n roundings and short dependency chains.
template <int kCount, class T, class Operation>
__device__ __forceinline__ T combine_pairs(const T* value, Operation combine) {
  if constexpr (kCount == 1) {
    return value[0];
  } else {
    return combine(combine_pairs<kCount / 2>(value, combine),
                   combine_pairs<kCount - kCount / 2>(value + kCount / 2, combine));
  }
}
template <int kCount, class T>
__device__ __forceinline__ T sum_of(const T* value) {
  return combine_pairs<kCount>(value, [](T a, T b) { return a + b; });
}

// The largest x.
template <class Format, int kPacks>
__device__ __forceinline__ float largest(const SoftmaxProblem& p, const Packs<Format, kPacks>& x) {
  float maximum;
  const auto of_all = [&](auto larger) {
    unsigned word = combine_pairs<Format::kWords>(x.word[0], larger);
#pragma unroll
    for (int k = 1; k < kPacks; ++k) {
      word = larger(word, combine_pairs<Format::kWords>(x.word[k], larger));
    }
    return word;
  };
  if constexpr (Format::kKeepsFloats) {
    maximum = fmaxf(-INFINITY, __uint_as_float(of_all([](unsigned a, unsigned b) {
      return __float_as_uint(fmaxf(__uint_as_float(a), __uint_as_float(b)));
    })));
  } else {
    with_type<Format>(p.in.type, [&](auto zero) {
      using T = decltype(zero);
      const unsigned word = of_all([](unsigned a, unsigned b) { return larger_elements<T>(a, b); });
      maximum = fmaxf(-INFINITY, fmaxf(element_of<T>(&word, 0), element_of<T>(&word, 1)));
    });
  }
  return maximum;
}

// Subtracts C from x, once and for all. One branch for all elements: in exponentials() each takes a
// predicated instruction. Every lane of the warp must call.
template <class Format, int kPacks>
__device__ __forceinline__ void subtract_once(Packs<Format, kPacks>& x, Reference& to) {
  if (__any_sync(0xffffffffu, to.shift != 0.0f)) [[unlikely]] {
    change_all(x, MYGEMM_R_32F, [&](float v, int, int) { return v - to.shift; });
  }
  to.shift = 0.0f;
}

// The sum of the exponentials; those of packs are added in `Total`. In a softmax whose format keeps
// floats the exponentials replace x.
template <Exp kExp, class Total = float, class Format, int kPacks>
__device__ __forceinline__ Total exponentials(const SoftmaxProblem& p, const Scale& scale,
                                              Packs<Format, kPacks>& x, const Reference& to) {
  Total sum[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float e[Format::kPack];
    x.get(k, p.in.type, e);
    subtract(e, to);
    take_exponentials<kExp>(scale, e, to);
    sum[k] = sum_of<Format::kPack>(e);
    if (Format::kKeepsFloats && !p.log_mode()) x.set(k, p.in.type, e);
  }
  return sum_of<kPacks>(sum);
}

// Rescales exponentials that were computed against the reference of `part`, the maximum of some of
// the row's elements, to the reference of the whole row. Every lane of the warp must call.
template <class Format, int kPacks>
__device__ __forceinline__ void change_reference(const Scale& scale, Packs<Format, kPacks>& e,
                                                 float part, const Reference& whole) {
  const Reference own(scale, part);
  const bool changes = part > -INFINITY && !(own == whole);
  if (!__any_sync(0xffffffffu, changes)) return;
  if (!changes) return;
  // In two steps, since the exponentials are as large as 2^32 and results may be 2^-126.
  constexpr float kStep = -3 * kFrame;
  const bool huge = own.shift != 0.0f || whole.shift != 0.0f;
  const float power = own.power - whole.power;
  const float first = huge ? weight(scale, part, whole) : power_of_two(fmaxf(power, kStep));
  const float second = huge ? 1.0f : power_of_two(fmaxf(fminf(power - kStep, 0.0f), kStep));
  change_all(e, MYGEMM_R_32F, [&](float v, int, int) { return v * first * second; });
}

// Computes y in place of x or of the exponentials; those that were not kept, for results of 16
// bits, are computed again. kExact: see softmax_of().
template <bool kExact = false, class Format, int kPacks>
__device__ __forceinline__ void finish(const SoftmaxProblem& p, const Scale& scale,
                                       Packs<Format, kPacks>& x, float maximum,
                                       const RowFactor& factor) {
  const Reference to(scale, maximum);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float value[Format::kPack];
    x.get(k, p.in.type, value);
    if (p.log_mode()) {
#pragma unroll
      for (float& v : value) v = log_softmax_of(scale, v, maximum, factor);
    } else {
      if (!Format::kKeepsFloats) {
        subtract(value, to);
        take_exponentials<Exp::k16Bit>(scale, value, to);
      }
#pragma unroll
      for (float& v : value) v = softmax_of<kExact>(v, factor);
    }
    x.set(k, p.out.type, value);
  }
}

// The thread's contribution to the row's sum in the gradient; missing packs are 0.
template <class Format, int kPacks>
__device__ __forceinline__ float gradient_sum(const SoftmaxProblem& p,
                                              const Packs<Format, kPacks>& y,
                                              const Packs<Format, kPacks>& dy) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float y_value[Format::kPack], dy_value[Format::kPack];
    y.get(k, p.in.type, y_value);
    dy.get(k, p.dy.type, dy_value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) add_gradient_term(p, sum, y_value[i], dy_value[i]);
  }
  return sum;
}

// Computes dx in place of dy.
template <class Format, int kPacks>
__device__ __forceinline__ void gradients(const SoftmaxProblem& p, const Packs<Format, kPacks>& y,
                                          Packs<Format, kPacks>& dy, float sum) {
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float y_value[Format::kPack], value[Format::kPack];
    y.get(k, p.in.type, y_value);
    dy.get(k, p.dy.type, value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) {
      value[i] = gradient_of<Format::kAccurate>(p, y_value[i], value[i], sum);
    }
    dy.set(k, p.out.type, value);
  }
}

// Combines the parts of a warp's lanes; every lane gets the result.
template <class Total = float>
__device__ __forceinline__ MaxTotal<Total> warp_merge(const Scale& scale, MaxSum part) {
  const float maximum = warp_reduce<Max>(part.maximum);
  const float own = part.sum * weight(scale, part.maximum, Reference(scale, maximum));
  return {maximum, warp_reduce<Sum>(static_cast<Total>(own))};
}

// The row of which 2^log2_lanes lanes of a warp hold x, in its place.
template <class Format, int kPacks>
__device__ __forceinline__ void softmax_of_lanes(const SoftmaxProblem& p, const Scale& scale,
                                                 Packs<Format, kPacks>& x, int log2_lanes) {
  MaxTotal<typename Format::Total> row;
  row.maximum = warp_reduce<Max>(largest(p, x), log2_lanes);
  Reference to(scale, row.maximum);
  if (Format::kKeepsFloats && !p.log_mode()) subtract_once(x, to);
  row.sum = warp_reduce<Sum>(
      exponentials<kNarrowExp<Format>, typename Format::Total>(p, scale, x, to), log2_lanes);
  constexpr bool kExact = Format::kThorough || (Format::kAccurate && kPacks == 1);  // one column
  finish<kExact>(p, scale, x, row.maximum, factor_of<kNarrowExp<Format>>(p, scale, row));
}

}  // namespace mygemm
