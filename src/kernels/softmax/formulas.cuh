// The formulas of mygemm_softmax and mygemm_softmax_backward, element by element: the one place
// where they stand. Device only.
//
// Parts of a matrix row (of a thread, a warp, a block) take their exponentials against a Reference
// of their own, the part's largest s or a power of two near its exponential; see weight() for how
// the parts' sums come together.
#pragma once

#include "problem.h"
#include "ptx/math.cuh"

namespace mygemm {

// 1.5 * 2^23: x + kRounder has the integer nearest to x in its lowest bits.
constexpr float kRounder = 12582912.0f;
// ln(2) = kLn2 + kLn2Low to 48 bits, and log2(e) likewise.
constexpr float kLn2 = 0.693147182f, kLn2Low = -1.90465421e-9f;
constexpr float kLog2E = 1.44269502f, kLog2ELow = 1.92596303e-8f;

// What x is multiplied by, worked out once a thread: scale, and scale * log2(e) = high + low.
struct Scale {
  float scale, sign, high, low;
  float huge;  // s from which on exponentials need a difference; see Reference

  // A scale of 0 is applied by load_x() and 1 from then on.
  __device__ Scale(const SoftmaxProblem& p, bool accurate)
      : scale(p.scale == 0.0f ? 1.0f : p.scale),
        sign(p.scale < 0.0f ? -1.0f : 1.0f),
        huge(accurate ? 1048576.0f : 1024.0f) {
    // Rounded towards 0, so that `low` has the sign of `high` or is made to have it: an infinite x
    // then is one in the sum of both products, not a NaN.
    constexpr float kLargest = 3.40282347e38f, kSmallest = 1.40129846e-45f;
    const float product = __fmul_rz(scale, kLog2E);
    high = fmaxf(fminf(product, kLargest), -kLargest);
    low = fmaf(scale, kLog2E, -high) + scale * kLog2ELow;
    if (!(fabsf(low) < fabsf(high)) || low == 0.0f) low = sign * kSmallest;
  }

  // What stands for an x that is not there: s = -inf.
  __device__ float missing() const { return -sign * INFINITY; }
};

// What maxima are taken of: the order of s, and exact. Its largest value stands for a part's
// maximum everywhere below.
__device__ __forceinline__ float ordered(const Scale& scale, float x) { return scale.sign * x; }

// The largest s, rounded, from the largest ordered(x).
__device__ __forceinline__ float largest_s(const Scale& scale, float maximum) {
  return __fmul_rn(fabsf(scale.scale), maximum);
}

// Exponentials are of scale * (x - C) - N * ln 2, where x - C is exact wherever the exponential is
// not 0. For all but huge maxima C = 0: s needs no difference, only its distance from the integer N
// in log2. (Rounding s - max = -12 by half a unit changes its exponential by 4 ulp.) Exponentials
// against different N differ by a power of two exactly, and so do their sums: which parts of a row
// are summed up against maxima of their own does not change a bit of the result. For huge maxima C
// is the x of the maximum, within a factor of 2 of all that count.
struct Reference {
  float shift;  // C
  float power;  // N, an integer

  __device__ Reference(const Scale& scale, float maximum) : shift(0.0f), power(0.0f) {
    const float s = largest_s(scale, maximum);
    if (fabsf(s) < scale.huge) {
      power = fmaf(s, kLog2E, kRounder) - kRounder;
    } else if (s > -INFINITY) {
      shift = s < INFINITY ? scale.sign * maximum : s;
    }
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
    return accurate_exp(scale, x - to.shift, to.power);
  }
};

template <>
struct Exponential<false> {
  static constexpr float kLog2Factor = 12.0f;
  static __device__ __forceinline__ float of(const Scale& scale, float x, const Reference& to) {
    return ptx::exp2_approx(fmaf(x - to.shift, scale.high, kLog2Factor - to.power));
  }
};

// The exponentials of some x in their place.
template <bool kAccurate, int kCount>
__device__ __forceinline__ void take_exponentials(const Scale& scale, float (&x)[kCount],
                                                  const Reference& to) {
#pragma unroll
  for (float& v : x) v = Exponential<kAccurate>::of(scale, v, to);
}

// Part of a row: its largest ordered(x), and the sum of its exponentials against that Reference.
struct MaxSum {
  float maximum, sum;
};

// By what the exponentials of a part, given its maximum, count in the whole row: a power of two
// unless one of the maxima is huge. A part that has seen nothing but -inf counts as it is: 0, or
// NaN if it has seen one.
__device__ __forceinline__ float weight(const Scale& scale, float part, const Reference& whole) {
  const float s = largest_s(scale, part);
  if (fabsf(s) < scale.huge && whole.shift == 0.0f) {
    const float biased = fmaf(s, kLog2E, kRounder) - whole.power;
    return __uint_as_float(__float_as_uint(fmaxf(biased + 127.0f, kRounder)) << 23);
  }
  if (s == -INFINITY) return 1.0f;
  const Reference own(scale, part);
  return accurate_exp(scale, own.shift - whole.shift, whole.power - own.power);
}

// log y = (s - max) - log(sum exp(s - max)): differences of numbers that are 0 or less lose
// nothing.
__device__ __forceinline__ float log_softmax_of(const Scale& scale, float x, float maximum,
                                                float log_sum) {
  return fmaf(scale.scale, x - scale.sign * maximum, -log_sum);
}

// log(sum exp(s - max)) of a row from its sum of Exponential<kAccurate> against its reference.
template <bool kAccurate>
__device__ __forceinline__ float log_of_sum(const Scale& scale, const MaxSum& row) {
  const Reference to(scale, row.maximum);
  const float power = to.power - Exponential<kAccurate>::kLog2Factor;
  // power * ln 2 + scale * C - max, the last two together exactly 0 or -max = -(high + low).
  const float scale_up = fabsf(scale.scale), difference = row.maximum - scale.sign * to.shift;
  const float high = __fmul_rn(scale_up, difference);
  const float low = fmaf(scale_up, difference, -high);
  return logf(row.sum) + (fmaf(power, kLn2, -high) + fmaf(power, kLn2Low, -low));
}

// What an element adds to the row's sum in the gradient.
__device__ __forceinline__ float gradient_term(const SoftmaxProblem& p, float y, float dy) {
  return p.log_mode() ? dy : dy * y;
}

// dx from the row's sum of the terms above.
template <bool kAccurate>
__device__ __forceinline__ float gradient_of(const SoftmaxProblem& p, float y, float dy,
                                             float sum) {
  if (!p.log_mode()) return p.scale * (y * (dy - sum));
  const float exponential = kAccurate ? expf(y) : ptx::exp2_approx(y * kLog2E);
  return p.scale * (dy - exponential * sum);
}

}  // namespace mygemm
