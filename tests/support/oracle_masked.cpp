// Test support: masked softmaxes in FP64; see oracle.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "support/oracle.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnitRoundoff = 0x1p-24, kSmallestNormal = 0x1p-126;

Reference sized(size_t elements) {
  Reference reference;
  reference.value.resize(elements);
  reference.tolerance.resize(elements);
  reference.tolerance_16_bit.resize(elements);
  return reference;
}

}  // namespace

Reference masked_softmax_reference(const MaskedScores& call, const std::vector<double>& x) {
  constexpr double kUlps = 16 * kUnitRoundoff;
  constexpr double kExponential16 = 0x1p-14;  // relative, of exponentials for 16-bit results
  const bool log_mode = call.mode == MYGEMM_LOG_SOFTMAX;
  Reference reference = sized(x.size());
  std::vector<double> t(static_cast<size_t>(call.cols));
  for (int64_t r = 0; r < call.rows; ++r) {
    const int64_t valid = call.valid[static_cast<size_t>(r)];
    const auto index = [&](int64_t c) { return static_cast<size_t>(r * call.cols + c); };
    double largest = -kInfinity, magnitude = 0;
    bool has_nan = false;
    for (int64_t c = 0; c < call.cols; ++c) {
      double& score = t[static_cast<size_t>(c)];
      score = -kInfinity;
      const double mask = call.mask[index(c)];
      if (c >= valid || mask == -kInfinity) continue;
      double s = call.scale * x[index(c)];
      if (call.softcap != 0) s = call.softcap * std::tanh(s / call.softcap);
      score = s + mask;
      has_nan = has_nan || std::isnan(score);
      largest = std::max(largest, score);
      if (std::isfinite(s)) magnitude = std::max(magnitude, std::fabs(s));
    }
    const bool empty = !has_nan && largest == -kInfinity;
    const bool undefined = has_nan || (!empty && std::isinf(static_cast<float>(largest)));
    double sum = 0;
    for (const double score : t) sum += std::exp(score - largest);
    for (int64_t c = 0; c < call.cols; ++c) {
      const double score = t[static_cast<size_t>(c)];
      double& value = reference.value[index(c)];
      if (empty || c >= valid) {
        value = empty && !call.zeros ? kNaN : log_mode ? -kInfinity : 0.0;
        continue;
      }
      const double argument = score - largest;
      double error = 0;
      if (!std::isinf(argument)) {
        error = kUnitRoundoff * (std::fabs(score) + std::fabs(largest) + std::fabs(argument));
        if (call.softcap != 0) error += 8 * kUnitRoundoff * magnitude;
      }
      if (undefined) {
        value = kNaN;
      } else if (log_mode) {
        value = argument - std::log(sum);
        reference.tolerance_16_bit[index(c)] = kExponential16;
        reference.tolerance[index(c)] = kUlps * std::max(1.0, std::log(sum)) + error;
      } else {
        value = std::exp(argument) / sum;
        reference.tolerance_16_bit[index(c)] = kExponential16 * value;
        reference.tolerance[index(c)] = value * (kUlps + error);
        if (!std::isinf(argument)) reference.tolerance[index(c)] += kSmallestNormal;
      }
    }
  }
  return reference;
}

Reference masked_softmax_backward_reference(const MaskedScores& call, const std::vector<double>& x,
                                            const std::vector<double>& y,
                                            const std::vector<double>& dy) {
  constexpr double kUlps = 8 * kUnitRoundoff;
  const bool log_mode = call.mode == MYGEMM_LOG_SOFTMAX;
  const double masked = log_mode ? -kInfinity : 0.0;
  Reference reference = sized(y.size());
  for (int64_t r = 0; r < call.rows; ++r) {
    const int64_t valid = call.valid[static_cast<size_t>(r)];
    const auto index = [&](int64_t c) { return static_cast<size_t>(r * call.cols + c); };
    double sum = 0, magnitude = 0;
    for (int64_t c = 0; c < valid; ++c) {
      if (y[index(c)] == masked) continue;
      const double term = log_mode ? dy[index(c)] : dy[index(c)] * y[index(c)];
      sum += term;
      magnitude += std::fabs(term);
    }
    const double sum_error = sum_bound(call.cols) * magnitude;
    for (int64_t c = 0; c < call.cols; ++c) {
      const size_t at = index(c);
      if (c >= valid || y[at] == masked) continue;  // exactly 0
      double slope = call.scale, slope_error = 0;
      if (call.softcap != 0) {
        const double v = call.scale * x[at] / call.softcap;
        slope /= std::cosh(v) * std::cosh(v);
        slope_error = (8 + 16 * std::fabs(v)) * kUnitRoundoff;
      }
      double error;
      if (log_mode) {
        const double p = std::exp(y[at]);
        reference.value[at] = slope * (dy[at] - p * sum);
        error = kUlps * (std::fabs(dy[at]) + p * std::fabs(sum)) + p * sum_error;
        reference.tolerance_16_bit[at] = 0x1p-20 * std::fabs(slope) * p * std::fabs(sum);
      } else {
        reference.value[at] = slope * y[at] * (dy[at] - sum);
        error = std::fabs(y[at]) * (kUlps * (std::fabs(dy[at]) + std::fabs(sum)) + sum_error);
      }
      reference.tolerance[at] =
          std::fabs(slope) * error + std::fabs(reference.value[at]) * slope_error + kSmallestNormal;
    }
  }
  return reference;
}

}  // namespace mygemm_tests
