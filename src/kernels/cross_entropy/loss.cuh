// The formulas of mygemm_cross_entropy for one row; no other file of the device code has them.
// Device only.
//
// The target's exponential is left out of the row's sum and added last: of the loss and of the
// target's gradient then nothing cancels, however close to 1 its probability is.
#pragma once

#include "kernels/cross_entropy/rows.h"
#include "kernels/softmax/formulas.cuh"
#include "ptx/math.cuh"

namespace mygemm {

// The row's class, or why it has none.
struct Target {
  int64_t column;  // -1: none
  bool ignored;

  __device__ __forceinline__ Target(int64_t of_row, bool is_ignored)
      : column(of_row), ignored(is_ignored) {}
  // `given` is what the caller gave as the row's class.
  __device__ __forceinline__ Target(const CrossEntropyProblem& p, int64_t given)
      : column(-1), ignored(given == p.ignore_index) {
    const bool is_class = static_cast<uint64_t>(given) < static_cast<uint64_t>(p.cols);
    if (!ignored && is_class) column = given;
  }
};

// The factors of logits, known to the compiler. Parts of a row have references of their own, to the
// unit, so that the exponentials that count are near 1 and lose nothing.
__device__ __forceinline__ Scale logit_scale(const CrossEntropyProblem& p) {
  Scale scale(p.softmax(), true);
  scale.scale = 1.0f;
  scale.high = kLog2E;
  scale.low = kLog2ELow;
  scale.inverse = 0.693147182f;
  scale.round_to_integers();
  return scale;
}

// Exponentials in FP32 are within 2.5 * 2^-24, a third of what the contract allows for a gradient;
// those of 16 bits take two instructions.
template <class Format>
constexpr Exp kLossExp = Format::kAccurate ? Exp::kUnit : Exp::kDirect;

// A row's sums: of the exponentials of all logits but the target's, which is x, given their maximum
// and sum against that.
template <Exp kExp, class Total>
__device__ __forceinline__ LossParts parts_of(const Scale& scale, const Target& of,
                                              const MaxTotal<Total>& others, float x) {
  const Reference to(scale, fmaxf(others.maximum, of.column < 0 ? -INFINITY : x));
  return {to.shift, to.power, static_cast<float>(others.sum) * weight(scale, others.maximum, to),
          of.column < 0 ? 0.0f : exponential_of<kExp>(scale, x - to.shift, to), x};
}

// The sum of a row's exponentials, `high`, and what that lacks to be exact. A sum of 0 is that of a
// row without a finite largest logit.
struct ExactSum {
  float high, low;

  __device__ __forceinline__ explicit ExactSum(const LossParts& parts)
      : high(parts.others + parts.own) {
    const float own = high - parts.others;
    low = (parts.others - (high - own)) + (parts.own - own);
  }
};

// x / y, off by a rounding of the exact quotient; y and 1 / y are 2^-126 or more.
__device__ __forceinline__ float quotient(float x, float y) {
  const float inverse = ptx::reciprocal_approx(y);
  const float estimate = x * inverse;
  return fmaf(fmaf(-estimate, y, x), inverse, estimate);
}

// The logarithm of a row's sum of exponentials, as parts that do not cancel: shift + n ln 2 + rest.
struct LogSum {
  float shift = 0.0f, n = 0.0f, rest = 0.0f;

  LogSum() = default;
  // The sum is at least 1/2.
  __device__ __forceinline__ explicit LogSum(const LossParts& parts) : shift(parts.shift) {
    constexpr unsigned kRootOfHalf = 0x3f3504f3u;
    const ExactSum sum(parts);
    const unsigned bits = __float_as_uint(sum.high);
    const int exponent = static_cast<int>(bits - kRootOfHalf) >> 23;
    n = parts.power + static_cast<float>(exponent);
    rest = logf(__uint_as_float(bits - (static_cast<unsigned>(exponent) << 23))) +
           sum.low * ptx::reciprocal_approx(sum.high);
  }
  // The logarithm less x, rounded where that is small.
  __device__ __forceinline__ float above(float x) const {
    constexpr float kLn2 = 0.693147182f, kLn2Low = -1.90465432e-9f;
    const float small = fmaf(n, kLn2Low, rest);
    return shift == 0.0f ? fmaf(n, kLn2, -x) + small : (shift - x) + fmaf(n, kLn2, small);
  }
};

// The factor of a logit in the mean of its row: a sum might overflow, a mean does not.
__device__ __forceinline__ float share_of_mean(const CrossEntropyProblem& p) {
  return quotient(1.0f, static_cast<float>(p.cols));
}

// The row's loss and the logarithm of its sum, by one thread. mean: the other logits' part of it,
// where there is label smoothing.
__device__ __forceinline__ void store_loss(const CrossEntropyProblem& p, int64_t row,
                                           const Target& of, const LossParts& parts, float mean) {
  // Far below the others, the target's exponential has lost its bits or is 0.
  constexpr float kSmallest = 0x1p-40f;
  const bool has_sum = ExactSum(parts).high > 0.0f, has_own = parts.own >= kSmallest;
  const float smoothing = p.label_smoothing;
  LogSum log;
  float lse = 0.0f;
  if (p.lse || !has_own || smoothing > 0.0f || p.z_loss != 0.0f) {
    log = LogSum(parts);
    lse = log.above(0.0f);
  }
  if (p.lse) p.lse[row] = has_sum ? lse : NAN;
  if (!p.loss) return;
  float loss = NAN;
  if (of.ignored) {
    loss = 0.0f;
  } else if (of.column >= 0 && has_sum) {
    loss = has_own ? log1pf(quotient(parts.others, parts.own)) : log.above(parts.target);
    if (smoothing > 0.0f) {
      loss = (smoothing < 1.0f ? (1.0f - smoothing) * loss : 0.0f) +
             smoothing * log.above(fmaf(parts.target, share_of_mean(p), mean));
    }
    if (p.z_loss != 0.0f) loss = fmaf(p.z_loss * lse, lse, loss);
  }
  p.loss[row] = loss;
}

// kExp: Exp::kDirect for gradients of 16 bits.
template <Exp kExp = Exp::kPolynomial>
__device__ __forceinline__ RowGradient gradient_of_row(const CrossEntropyProblem& p,
                                                       const Target& of, const LossParts& parts,
                                                       float weight) {
  RowGradient row{parts.shift, parts.power, 0.0f, 0.0f, 0.0f, 0.0f, of.ignored};
  const ExactSum sum(parts);
  RowFactor one{ptx::reciprocal_approx(sum.high), 0.0f};  // 1 / sum
  if constexpr (kExp != Exp::kDirect) {
    one.high = fmaf(fmaf(-sum.high, one.high, 1.0f), one.high, one.high);
    one.low = fmaf(-sum.low, one.high, fmaf(-sum.high, one.high, 1.0f)) * one.high;
  }
  row.target = -fmaf(parts.others, one.high, parts.others * one.low);
  if (p.label_smoothing > 0.0f) {
    const float share = p.label_smoothing * share_of_mean(p);
    row.target += p.label_smoothing - share;
    row.constant = -weight * share;
  }
  float scaled = weight;
  if (p.z_loss != 0.0f) {
    const float slope = 2.0f * p.z_loss * (sum.high > 0.0f ? LogSum(parts).above(0.0f) : NAN);
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
