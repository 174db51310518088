// The formulas of mygemm_cross_entropy for one row; no other file of the device code has them.
// Device only.
//
// The target's exponential is left out of the row's sum and added last: of the loss and of the
// target's gradient then nothing cancels, however close to 1 its probability is.
#pragma once

#include "kernels/cross_entropy/rows.h"
#include "kernels/softmax/formulas.cuh"

namespace mygemm {

// The row's class, or why it has none.
struct Target {
  int64_t column;  // -1: none
  bool ignored;

  __device__ __forceinline__ Target(const CrossEntropyProblem& p, int64_t given)
      : column(-1), ignored(given == p.ignore_index) {
    if (!ignored && given >= 0 && given < p.cols) column = given;
  }
};

// The factors of logits: parts of a row have references of their own, to the unit, so that the
// exponentials that count are near 1 and lose nothing.
__device__ __forceinline__ Scale logit_scale(const CrossEntropyProblem& p) {
  Scale scale(p.softmax(), true);
  scale.round_to_integers();
  return scale;
}

// A row's sums: of the exponentials of all logits but the target's, which is x, given their maximum
// and sum against that.
template <Exp kExp, class Total>
__device__ __forceinline__ LossParts parts_of(const Scale& scale, const Target& of,
                                              const MaxTotal<Total>& others, float x) {
  const Reference to(scale, fmaxf(others.maximum, of.column < 0 ? -INFINITY : x));
  return {to.shift, to.power, static_cast<float>(others.sum) * weight(scale, others.maximum, to),
          of.column < 0 ? 0.0f : exponential_of<kExp>(scale, x - to.shift, to), x};
}

// The sum of a row's exponentials; a sum of 0 is that of a row without a finite largest logit.
__device__ __forceinline__ double sum_of(const LossParts& parts) {
  return static_cast<double>(parts.others) + static_cast<double>(parts.own);
}

// The logarithm of a row's sum of exponentials, as parts that do not cancel: shift + n ln 2 + rest.
struct LogSum {
  float shift, n, rest;

  // The sum is at least 1/2.
  __device__ __forceinline__ explicit LogSum(const LossParts& parts) : shift(parts.shift) {
    constexpr unsigned kRootOfHalf = 0x3f3504f3u;
    const double sum = sum_of(parts);
    const auto high = static_cast<float>(sum);
    const auto low = static_cast<float>(sum - high);
    const int exponent = static_cast<int>(__float_as_uint(high) - kRootOfHalf) >> 23;
    n = parts.power + static_cast<float>(exponent);
    rest = logf(__uint_as_float(__float_as_uint(high) - (static_cast<unsigned>(exponent) << 23))) +
           low / high;
  }
  // The logarithm less x, rounded where that is small.
  __device__ __forceinline__ float above(float x) const {
    constexpr float kLn2 = 0.693147182f, kLn2Low = -1.90465432e-9f;
    const float small = fmaf(n, kLn2Low, rest);
    return shift == 0.0f ? fmaf(n, kLn2, -x) + small : (shift - x) + fmaf(n, kLn2, small);
  }
};

__device__ __forceinline__ float lse_of(const LossParts& parts) {
  return sum_of(parts) > 0.0 ? LogSum(parts).above(0.0f) : NAN;
}

// mean: the other logits' part of the mean, where there is label smoothing.
__device__ __forceinline__ float loss_of(const CrossEntropyProblem& p, const Target& of,
                                         const LossParts& parts, float mean) {
  // Far below the others, the target's exponential has lost its bits or is 0.
  constexpr float kSmallest = 0x1p-40f;
  if (of.ignored) return 0.0f;
  if (of.column < 0 || !(sum_of(parts) > 0.0)) return NAN;
  const float smoothing = p.label_smoothing;
  const LogSum log(parts);
  float loss = parts.own >= kSmallest ? log1pf(parts.others / parts.own) : log.above(parts.target);
  if (smoothing > 0.0f) {
    loss = (smoothing < 1.0f ? (1.0f - smoothing) * loss : 0.0f) +
           smoothing * log.above(mean + parts.target / static_cast<float>(p.cols));
  }
  if (p.z_loss != 0.0f) loss = fmaf(p.z_loss * log.above(0.0f), log.above(0.0f), loss);
  return loss;
}

// By one thread.
__device__ __forceinline__ void store_loss(const CrossEntropyProblem& p, int64_t row,
                                           const Target& of, const LossParts& parts, float mean) {
  if (p.loss) p.loss[row] = loss_of(p, of, parts, mean);
  if (p.lse) p.lse[row] = lse_of(parts);
}

// kExp: Exp::kDirect for gradients of 16 bits.
template <Exp kExp = Exp::kPolynomial>
__device__ __forceinline__ RowGradient gradient_of_row(const CrossEntropyProblem& p,
                                                       const Scale& scale, const Target& of,
                                                       const LossParts& parts, float weight) {
  RowGradient row{parts.shift, parts.power, 0.0f, 0.0f, 0.0f, 0.0f, of.ignored};
  RowFactor one;
  if constexpr (kExp == Exp::kDirect) {
    one = {ptx::reciprocal_approx(parts.others + parts.own), 0.0f};
  } else {
    one = factor_of<kExp>(p.softmax(), scale, MaxTotal<double>{0.0f, sum_of(parts)});
  }
  row.target = -fmaf(parts.others, one.high, parts.others * one.low);
  if (p.label_smoothing > 0.0f) {
    const float share = p.label_smoothing / static_cast<float>(p.cols);
    row.target += p.label_smoothing - share;
    row.constant = -weight * share;
  }
  float scaled = weight;
  if (p.z_loss != 0.0f) {
    const float slope = 2.0f * p.z_loss * lse_of(parts);
    row.target = fmaf(slope, parts.own * one.high, row.target);
    scaled *= 1.0f + slope;
  }
  row.target *= weight;
  row.high = scaled * one.high;
  row.low = fmaf(scaled, one.high, -row.high) + scaled * one.low;
  if (of.column < 0) row.constant = NAN;  // a target that is no class, or an ignored row
  return row;
}

}  // namespace mygemm
