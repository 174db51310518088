// The formulas of mygemm_softmax and mygemm_softmax_backward for single elements; no other file of
// the device code has them. Device only.
//
// x stands for the elements as load_x() leaves them: negated where the scale is negative, so that
// the largest x has the largest s = |scale| * x. Parts of a matrix row (of a thread, a warp, a
// block) take their exponentials against a Reference of their own, which is mostly the same one;
// see weight() for how the parts' sums come together.
#pragma once

#include "kernels/softmax/storage.h"
#include "ptx/math.cuh"

namespace mygemm {

// 1.5 * 2^23: x + kRounder has the integer nearest to x in its lowest bits.
constexpr float kRounder = 12582912.0f;
// ln(2) = kLn2 + kLn2Low to 48 bits, and log2(e) likewise.
constexpr float kLn2 = 0.693147182f, kLn2Low = -1.90465421e-9f;
constexpr float kLog2E = 1.44269502f, kLog2ELow = 1.92596303e-8f;

// 1.5 * 2^28: x + kFrameRounder is rounded to a multiple of kFrame.
constexpr float kFrameRounder = 402653184.0f, kFrame = 32.0f;

// 2^n, n an integer of at most 127; 0 for n < -126.
__device__ __forceinline__ float power_of_two(float n) {
  const float biased = fmaxf(n + (kRounder + 127.0f), kRounder);  // 127 + n is the exponent field
  return __uint_as_float(__float_as_uint(biased) << 23);
}

// The factors of x, computed once per thread: |scale|, and |scale| * log2(e) = high + low.
struct Scale {
  float scale, high, low;
  float huge;  // N from which on exponentials need a difference; see Reference

  // A scale of 0 is applied by load_x() and 1 from then on.
  __device__ Scale(const SoftmaxProblem& p, bool accurate)
      : scale(p.scale == 0.0f ? 1.0f : fabsf(p.scale)), huge(accurate ? 1048576.0f : 1024.0f) {
    // Rounded towards 0, so that `low` is not negative or is made to be so: an infinite x then is
    // one in the sum of both products, not a NaN.
    constexpr float kLargest = 3.40282347e38f, kSmallest = 1.40129846e-45f;
    high = fminf(__fmul_rz(scale, kLog2E), kLargest);
    low = fmaf(scale, kLog2E, -high) + scale * kLog2ELow;
    if (!(fabsf(low) < high) || low == 0.0f) low = kSmallest;
  }
};

// The largest s, rounded, from the largest x.
__device__ __forceinline__ float largest_s(const Scale& scale, float maximum) {
  return __fmul_rn(scale.scale, maximum);
}

// Exponentials are of |scale| * (x - C) - N * ln 2, where x - C is exact wherever the exponential
// is not 0. For all but huge maxima C = 0: s needs no difference, only its distance from N in log2.
// (Rounding s - max = -12 by half a unit changes its exponential by 4 ulp.) N is an odd
// multiple of kFrame / 2, and the largest exponential 1 to 2^32: parts of a row mostly have the
// same N, sums of 2^90 terms do not overflow, and exponentials against different N, and their sums,
// differ by a power of two exactly: which parts of a row are summed up against maxima of their own
// does not change a bit of the result. For huge maxima C is the x of the maximum, within a factor
// of 2 of all that count.
struct Reference {
  float shift;  // C
  float power;  // N

  __device__ __forceinline__ Reference(const Scale& scale, float maximum)
      : shift(0.0f), power(fmaf(maximum, scale.high, kFrameRounder) - kFrameRounder - kFrame / 2) {
    if (!(fabsf(power) < scale.huge)) [[unlikely]] {
      power = 0.0f;
      const float s = largest_s(scale, maximum);
      if (s > -INFINITY) shift = s < INFINITY ? maximum : s;
    }
  }
  __device__ bool operator==(const Reference& other) const {
    return shift == other.shift && power == other.power;
  }
};

// exp(scale * d) / 2^power within 2 ulp, power an integer. Rounds scale * d to an integer in log2
// and takes the rest to 48 bits; -inf gives 0, a NaN a NaN.
__device__ __forceinline__ float accurate_exp(const Scale& scale, float d, float power) {
  const float bias = kRounder + 127.0f - power;  // 127 + i is the exponent field of 2^i
  const float biased = fmaxf(fmaf(d, scale.high, bias), kRounder + 1.0f);  // 2^-126 or more
  const float integer = biased - bias;
  const float rest = fmaf(d, scale.low, fmaf(d, scale.high, -integer));
  return ptx::exp2_approx(rest) * __uint_as_float(__float_as_uint(biased) << 23);
}

// Exponentials of x against a reference: for results in FP32 within 2 ulp; for results of 16 bits
// within 2^-15, which is an eighth of their unit, and with a third of the instructions.
// kLog2Factor: of() gives 2^kLog2Factor times as much, so that the subnormals of bf16 do not
// underflow on the way.
template <bool kAccurate>
struct Exponential;

template <>
struct Exponential<true> {
  static constexpr float kLog2Factor = 0.0f;
  static __device__ __forceinline__ float of(const Scale& scale, float x, const Reference& to) {
    return accurate_exp(scale, x, to.power);
  }
};

template <>
struct Exponential<false> {
  static constexpr float kLog2Factor = 12.0f;
  static __device__ __forceinline__ float of(const Scale& scale, float x, const Reference& to) {
    return ptx::exp2_approx(fmaf(x, scale.high, kLog2Factor - to.power));
  }
};

// x - C
template <int kCount>
__device__ __forceinline__ void subtract(float (&x)[kCount], const Reference& to) {
#pragma unroll
  for (float& v : x) v -= to.shift;
}

// The exponentials of some x - C in their place.
template <bool kAccurate, int kCount>
__device__ __forceinline__ void take_exponentials(const Scale& scale, float (&x)[kCount],
                                                  const Reference& to) {
#pragma unroll
  for (float& v : x) v = Exponential<kAccurate>::of(scale, v, to);
}

// The factor by which the sum of a part, given the part's maximum, is multiplied in the sum of the
// whole row: a power of two unless one of the maxima is huge. Below 2^-126 it is 0, as the row's
// sum is 1 or more. It is 1 for a part of nothing but -inf, whose sum is 0, or NaN if it contains
// one.
__device__ __forceinline__ float weight(const Scale& scale, float part, const Reference& whole) {
  const float s = largest_s(scale, part);
  if (s == -INFINITY) return 1.0f;
  const Reference own(scale, part);
  if (own.shift == 0.0f && whole.shift == 0.0f) {
    return power_of_two(own.power - whole.power);
  }
  return accurate_exp(scale, own.shift - whole.shift, whole.power - own.power);
}

// log y = (s - max) - log(sum exp(s - max)): differences of numbers that are 0 or less lose
// nothing.
__device__ __forceinline__ float log_softmax_of(const Scale& scale, float x, float maximum,
                                                float log_sum) {
  return fmaf(scale.scale, x - maximum, -log_sum);
}

// log(sum exp(s - max)) of a row from its sum of Exponential<kAccurate> against its reference.
template <bool kAccurate>
__device__ __forceinline__ float log_of_sum(const Scale& scale, const MaxSum& row) {
  const Reference to(scale, row.maximum);
  float nearest = 0.0f, maximum = 0.0f;  // to max in log2, and the x of it, both from C on
  if (to.shift == 0.0f) {
    nearest = fmaf(largest_s(scale, row.maximum), kLog2E, kRounder) - kRounder;
    maximum = row.maximum;
  }
  // The sum against 2^nearest is 0.7 or more, and its logarithm not far from the result.
  const float sum =
      row.sum * power_of_two(to.power - nearest - Exponential<kAccurate>::kLog2Factor);
  // nearest * ln 2 - max, where max = high + low.
  const float high = __fmul_rn(scale.scale, maximum), low = fmaf(scale.scale, maximum, -high);
  return logf(sum) + (fmaf(nearest, kLn2, -high) + fmaf(nearest, kLn2Low, -low));
}

// Adds an element to the row's sum in the gradient. The multiply-adds of gradients are explicit:
// left to the compiler, kernels differed in which products they rounded, and so in their bits.
__device__ __forceinline__ void add_gradient_term(const SoftmaxProblem& p, float& sum, float y,
                                                  float dy) {
  sum = fmaf(p.log_mode() ? 1.0f : y, dy, sum);
}

// dx from the row's sum of the terms above.
template <bool kAccurate>
__device__ __forceinline__ float gradient_of(const SoftmaxProblem& p, float y, float dy,
                                             float sum) {
  if (!p.log_mode()) return p.scale * (y * (dy - sum));
  const float exponential = kAccurate ? expf(y) : ptx::exp2_approx(y * kLog2E);
  return p.scale * fmaf(-exponential, sum, dy);
}

}  // namespace mygemm
