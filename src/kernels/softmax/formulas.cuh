// The formulas of mygemm_softmax and mygemm_softmax_backward for single elements; no other file of
// the device code has them. Device only.
//
// x stands for the elements as load_x() leaves them: times factor_of_x(), and negated where the
// scale is negative, so that the largest x has the largest s = Scale::scale * x. Parts of a matrix
// row (of a thread, a warp, a block) take their exponentials against a Reference of their own,
// which is mostly the same one; see weight() for how the parts' sums come together.
#pragma once

#include "kernels/softmax/storage.h"
#include "ptx/math.cuh"

namespace mygemm {

// 1.5 * 2^23: x + kRounder has the integer nearest to x in its lowest bits.
constexpr float kRounder = 12582912.0f;
// log2(e) to 48 bits.
constexpr float kLog2E = 1.44269502f, kLog2ELow = 1.92596303e-8f;

// 1.5 * 2^28: x + kFrameRounder is rounded to a multiple of kFrame.
constexpr float kFrameRounder = 402653184.0f, kFrame = 32.0f;

// 2^n, n an integer of at most 127; 0 for n < -126.
__device__ __forceinline__ float power_of_two(float n) {
  const float biased = fmaxf(n + (kRounder + 127.0f), kRounder);  // 127 + n is the exponent field
  return __uint_as_float(__float_as_uint(biased) << 23);
}

// The power of two by which load_x() multiplies x, which Scale divides the scale by: not 1 where
// the scale's product with log2(e), to 48 bits, would overflow or have a denormal part. 0 for a
// scale of 0, in place of which Scale has 1. What such x lose, in 16 bits too, s does not show: an
// x that overflows has an s that does, and one that becomes 0 an s below 2^-40.
__device__ __forceinline__ float factor_of_x(const SoftmaxProblem& p) {
  const float magnitude = fabsf(p.scale);
  if (magnitude >= 0x1p-60f && magnitude <= 0x1p120f) [[likely]]
    return 1.0f;
  if (magnitude > 1.0f) return 0x1p8f;
  return magnitude > 0.0f ? 0x1p-64f : 0.0f;
}

// The factors of x, computed once per thread: |scale|, and |scale| * log2(e) = high + low.
struct Scale {
  float scale, high, low, inverse;  // inverse: 1 / high, roughly
  float huge;                       // N from which on exponentials need a difference; see Reference
  // The N of a Reference is rounded to a multiple of kFrame, or to the nearest integer.
  float rounder = kFrameRounder, below = kFrame / 2;

  __device__ void round_to_integers() {
    rounder = kRounder;
    below = 0.0f;
  }

  __device__ Scale(const SoftmaxProblem& p, bool accurate)
      : scale(fabsf(p.scale)), huge(accurate ? 1048576.0f : 1024.0f) {
    const float factor = factor_of_x(p);
    if (factor != 1.0f) [[unlikely]] {
      scale = factor > 1.0f ? scale * 0x1p-8f : factor > 0.0f ? scale * 0x1p64f : 1.0f;
    }
    // Rounded towards 0, so that `low` is positive: an infinite x then is one in the sum of both
    // products, not a NaN.
    high = __fmul_rz(scale, kLog2E);
    low = fmaf(scale, kLog2ELow, fmaf(scale, kLog2E, -high));
    inverse = __fdividef(1.0f, high);
  }
};

// The largest s, rounded, from the largest x.
__device__ __forceinline__ float largest_s(const Scale& scale, float maximum) {
  return __fmul_rn(scale.scale, maximum);
}

// The N of a maximum's Reference where that has no C, or -inf for a maximum of -inf; and whether it
// may have a C.
__device__ __forceinline__ float ordinary_power(const Scale& scale, float maximum) {
  return fmaf(maximum, scale.high, scale.rounder) - scale.rounder - scale.below;
}
__device__ __forceinline__ bool is_huge(const Scale& scale, float maximum) {
  return !(fabsf(ordinary_power(scale, maximum)) < scale.huge) && maximum > -INFINITY;
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

  __device__ __forceinline__ Reference(float c, float n) : shift(c), power(n) {}
  __device__ __forceinline__ Reference(const Scale& scale, float maximum)
      : shift(0.0f), power(ordinary_power(scale, maximum)) {
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

// 2^x for |x| <= 1/2, exactly 1 for 0: within 1.34 * 2^-24, where the special function unit is off
// by 2.5 * 2^-24. Minimax in the relative error, 2^-28.9.
__device__ __forceinline__ float exp2_of_fraction(float x) {
  float value = fmaf(x, 0.000153533416f, 0.00133989006f);
  value = fmaf(value, x, 0.00961843785f);
  value = fmaf(value, x, 0.0555033237f);
  value = fmaf(value, x, 0.240226477f);
  value = fmaf(value, x, 0.693147182f);
  return fmaf(value, x, 1.0f);
}

// exp(scale * d) / 2^power, power an integer; 0 for -inf, a NaN for a NaN. Rounds scale * d to an
// integer i in log2 and takes the rest to 48 bits. Within 1.7 * 2^-24 by the polynomial.
template <Exp kExp>
__device__ __forceinline__ float accurate_exp(const Scale& scale, float d, float power) {
  const float bias = kRounder + 127.0f - power;  // 127 + i is the exponent field of 2^i
  if constexpr (kExp == Exp::kPolynomial) {
    d = ptx::max_or_nan(d, (power - 127.0f) * scale.inverse);  // there the field is 0, and 2^i is
  }
  float biased = fmaf(d, scale.high, bias);
  if constexpr (kExp == Exp::kUnit) biased = fmaxf(biased, kRounder + 1.0f);  // 2^-126 or more
  const float integer = biased - bias;
  const float rest = fmaf(d, scale.low, fmaf(d, scale.high, -integer));
  const float fraction = kExp == Exp::kPolynomial ? exp2_of_fraction(rest) : ptx::exp2_approx(rest);
  return fraction * __uint_as_float(__float_as_uint(biased) << 23);
}

// The exponential of x - C against a reference. For results of 16 bits it is within 2^-15, which is
// an eighth of their unit, with a third of the instructions, and 2^12 times as large, so that the
// subnormals of bf16 do not underflow on the way.
template <Exp kExp>
__device__ __forceinline__ float exponential_of(const Scale& scale, float x, const Reference& to) {
  if constexpr (kExp == Exp::k16Bit) {
    return ptx::exp2_approx(fmaf(x, scale.high, 12.0f - to.power));
  } else if constexpr (kExp == Exp::kDirect) {
    return ptx::exp2_approx(fmaf(x, scale.high, -to.power));
  } else {
    return accurate_exp<kExp>(scale, x, to.power);
  }
}

// x - C
template <int kCount>
__device__ __forceinline__ void subtract(float (&x)[kCount], const Reference& to) {
#pragma unroll
  for (float& v : x) v -= to.shift;
}

// The exponentials of some x - C in their place.
template <Exp kExp, int kCount>
__device__ __forceinline__ void take_exponentials(const Scale& scale, float (&x)[kCount],
                                                  const Reference& to) {
#pragma unroll
  for (float& v : x) v = exponential_of<kExp>(scale, v, to);
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
  return accurate_exp<Exp::kUnit>(scale, own.shift - whole.shift, whole.power - own.power);
}

// The value that finish() applies to every element: the factor of its exponential, or in log mode
// log(sum exp(s - max)).
struct RowFactor {
  float high, low;  // of which the factor is the sum
};

// `whole` is the row's maximum and sum. A sum of 0 is that of a row without a finite largest s, and
// gives NaN.
template <Exp kExp, class Total>
__device__ __forceinline__ RowFactor factor_of(const SoftmaxProblem& p, const Scale& scale,
                                               const MaxTotal<Total>& whole) {
  const auto sum = static_cast<float>(whole.sum);
  if (p.log_mode()) {
    // The sum contains the exponential of the maximum, to the bit, and is at least that: the
    // logarithm is never negative, and 0 where nothing else counts.
    const Reference to(scale, whole.maximum);
    const float largest = exponential_of<kExp>(scale, whole.maximum - to.shift, to);
    return {logf(sum / largest), 0.0f};
  }
  // Sums are 1 to 2^102, or none. An approximation within an ulp of FP32 does for 16 bits.
  const float high = kExp == Exp::k16Bit ? ptx::reciprocal_approx(sum) : 1.0f / sum;
  float rest = fmaf(-sum, high, 1.0f);
  if constexpr (std::is_same_v<Total, double>) {
    rest = fmaf(-static_cast<float>(whole.sum - sum), high, rest);
  }
  return {high, rest * high};
}

// y from an exponential. kExact: with both parts of the factor, which gives exactly 1 where the
// exponential is the sum, as no reciprocal in FP32 would.
template <bool kExact>
__device__ __forceinline__ float softmax_of(float exponential, const RowFactor& factor) {
  return kExact ? fmaf(exponential, factor.high, exponential * factor.low)
                : exponential * factor.high;
}

// log y = (s - max) - log(sum exp(s - max)): differences of numbers that are 0 or less lose
// nothing. By halves, since x - max may overflow where s - max does not.
__device__ __forceinline__ float log_softmax_of(const Scale& scale, float x, float maximum,
                                                const RowFactor& factor) {
  return fmaf(2.0f * scale.scale, fmaf(0.5f, x, -0.5f * maximum), -factor.high);
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
