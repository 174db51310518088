// Test support: see oracle.h. Plain loops in FP64.
#include "support/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnitRoundoff = 0x1p-24;  // of FP32
constexpr double kSmallestNormal = 0x1p-126;

struct Format {
  int mantissa_bits;      // stored
  int smallest_exponent;  // of a normal number
  double largest;
};

Format format_of(mygemmDataType_t type) {
  switch (type) {
    case MYGEMM_R_16F: return {10, -14, 65504.0};
    case MYGEMM_R_16BF: return {7, -126, 0x1.FEp127};
    case MYGEMM_R_32F: break;
  }
  return {23, -126, 0x1.FFFFFEp127};
}

// A 16-bit float is sign, exponent, mantissa; its exponent of all ones means inf or NaN.
double decode_16(uint16_t bits, const Format& format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits & 0x7fff) >> format.mantissa_bits;
  const int all_ones = 0x7fff >> format.mantissa_bits;
  double magnitude;
  if (exponent == all_ones) {
    magnitude = mantissa != 0 ? kNaN : kInfinity;
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, format.smallest_exponent - format.mantissa_bits);
  } else {
    magnitude = std::ldexp(mantissa + (1 << format.mantissa_bits),
                           exponent - 1 + format.smallest_exponent - format.mantissa_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// All of them: programs decode millions.
std::vector<double> decode_all_16(const Format& format) {
  std::vector<double> values(1 << 16);
  for (size_t bits = 0; bits < values.size(); ++bits) {
    values[bits] = decode_16(static_cast<uint16_t>(bits), format);
  }
  return values;
}

uint16_t encode_16(double value, const Format& format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = 0x7fff >> format.mantissa_bits << format.mantissa_bits;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | 1);
  const double magnitude = std::fabs(value);
  const int exponent = magnitude == 0 ? format.smallest_exponent
                                      : std::max(std::ilogb(magnitude), format.smallest_exponent);
  if (std::isinf(magnitude) || exponent > 128) return static_cast<uint16_t>(sign | infinity);
  // nearbyint rounds to even. A mantissa that rounds up to the next power of two carries into the
  // exponent by plain addition, up to infinity.
  const int steps =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const int biased = exponent - format.smallest_exponent;
  return static_cast<uint16_t>(sign | std::min((biased << format.mantissa_bits) + steps, infinity));
}

}  // namespace

int64_t type_bytes(mygemmDataType_t type) { return type == MYGEMM_R_32F ? 4 : 2; }

const char* type_name(mygemmDataType_t type) {
  switch (type) {
    case MYGEMM_R_16F: return "f16";
    case MYGEMM_R_16BF: return "bf16";
    case MYGEMM_R_32F: break;
  }
  return "f32";
}

double decode(mygemmDataType_t type, const void* element) {
  if (type == MYGEMM_R_32F) {
    float value;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, element, sizeof bits);
  static const std::vector<double> of_fp16 = decode_all_16(format_of(MYGEMM_R_16F));
  static const std::vector<double> of_bf16 = decode_all_16(format_of(MYGEMM_R_16BF));
  return (type == MYGEMM_R_16F ? of_fp16 : of_bf16)[bits];
}

void encode(mygemmDataType_t type, double value, void* element) {
  if (type == MYGEMM_R_32F) {
    const float rounded = static_cast<float>(value);
    std::memcpy(element, &rounded, sizeof rounded);
    return;
  }
  const uint16_t bits = encode_16(value, format_of(type));
  std::memcpy(element, &bits, sizeof bits);
}

double ulp(mygemmDataType_t type, double value) {
  const Format format = format_of(type);
  const int exponent = value == 0 || !std::isfinite(value)
                           ? format.smallest_exponent
                           : std::max(std::ilogb(value), format.smallest_exponent);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

double sum_bound(int64_t terms) {
  const double n = static_cast<double>(terms);
  return std::min(n + 4, 8 * std::sqrt(n) + 16) * kUnitRoundoff;
}

void sum_products(int64_t count, const double* a, const double* b, double* sum, double* magnitude) {
  *sum = *magnitude = 0;
  for (int64_t l = 0; l < count; ++l) {
    *sum += a[l] * b[l];
    *magnitude += std::fabs(a[l] * b[l]);
  }
}

void gemm_element(const GemmArguments& gemm, int64_t i, int64_t j, double* value,
                  double* tolerance) {
  double sum = 0;
  double magnitude = 0;
  if (gemm.alpha != 0) {
    for (int64_t l = 0; l < gemm.k; ++l) {
      const double a = gemm.transa ? gemm.a[l + i * gemm.lda] : gemm.a[i + l * gemm.lda];
      const double b = gemm.transb ? gemm.b[j + l * gemm.ldb] : gemm.b[l + j * gemm.ldb];
      sum += a * b;
      magnitude += std::fabs(a * b);
    }
    sum *= gemm.alpha;
    magnitude *= std::fabs(gemm.alpha);
  }
  if (gemm.beta != 0) {
    const double added = static_cast<double>(gemm.beta) * gemm.c[i + j * gemm.ldc];
    sum += added;
    magnitude += std::fabs(added);
  }
  *value = sum;
  *tolerance = std::max(sum_bound(gemm.k), gemm.least_bound) * magnitude +
               0x1p-149 * static_cast<double>(gemm.k + 1);
}

Reference gemm_reference(const GemmArguments& gemm) {
  Reference reference;
  reference.value.resize(static_cast<size_t>(gemm.m * gemm.n));
  reference.tolerance.resize(reference.value.size());
  for (int64_t j = 0; j < gemm.n; ++j) {
    for (int64_t i = 0; i < gemm.m; ++i) {
      const size_t at = static_cast<size_t>(i + j * gemm.m);
      gemm_element(gemm, i, j, &reference.value[at], &reference.tolerance[at]);
    }
  }
  return reference;
}

Reference softmax_reference(mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols, double scale,
                            const std::vector<double>& x) {
  // 8 ulp, and the error from rounding the argument of exp in FP32.
  constexpr double kUlps = 16 * kUnitRoundoff;
  constexpr double kExponential16 = 0x1p-14;  // relative, of exponentials for 16-bit results
  Reference reference;
  reference.value.resize(x.size());
  reference.tolerance.resize(x.size());
  reference.tolerance_16_bit.resize(x.size());
  std::vector<double> s(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r) {
    double largest = -kInfinity;
    bool has_nan = false;
    for (int64_t c = 0; c < cols; ++c) {
      const double scaled = scale * x[static_cast<size_t>(r * cols + c)];
      s[static_cast<size_t>(c)] = scaled;
      has_nan = has_nan || std::isnan(scaled);
      largest = std::max(largest, scaled);
    }
    const bool undefined = has_nan || std::isinf(static_cast<float>(largest));
    double sum = 0;
    for (const double scaled : s) sum += std::exp(scaled - largest);
    for (int64_t c = 0; c < cols; ++c) {
      const size_t at = static_cast<size_t>(r * cols + c);
      const double scaled = s[static_cast<size_t>(c)];
      const double argument = scaled - largest;
      const double argument_error =
          std::isinf(argument)
              ? 0
              : kUnitRoundoff * (std::fabs(scaled) + std::fabs(largest) + std::fabs(argument));
      if (undefined) {
        reference.value[at] = kNaN;
      } else if (mode == MYGEMM_LOG_SOFTMAX) {
        reference.value[at] = argument - std::log(sum);
        reference.tolerance_16_bit[at] = kExponential16;
        reference.tolerance[at] = kUlps * std::max(1.0, std::log(sum)) + argument_error;
      } else {
        reference.value[at] = std::exp(argument) / sum;
        reference.tolerance_16_bit[at] = kExponential16 * reference.value[at];
        reference.tolerance[at] = reference.value[at] * (kUlps + argument_error);
        // An s of -inf gives exactly 0; for the rest subnormal results may be flushed.
        if (!std::isinf(argument)) reference.tolerance[at] += kSmallestNormal;
      }
    }
  }
  return reference;
}

Reference softmax_backward_reference(mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols,
                                     double scale, const std::vector<double>& y,
                                     const std::vector<double>& dy) {
  constexpr double kUlps = 8 * kUnitRoundoff;
  const bool log_mode = mode == MYGEMM_LOG_SOFTMAX;
  Reference reference;
  reference.value.resize(y.size());
  reference.tolerance.resize(y.size());
  reference.tolerance_16_bit.resize(y.size());
  for (int64_t r = 0; r < rows; ++r) {
    const double* y_row = &y[static_cast<size_t>(r * cols)];
    const double* dy_row = &dy[static_cast<size_t>(r * cols)];
    double sum = 0;
    double magnitude = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const double term = log_mode ? dy_row[c] : dy_row[c] * y_row[c];
      sum += term;
      magnitude += std::fabs(term);
    }
    const double sum_error = sum_bound(cols) * magnitude;
    for (int64_t c = 0; c < cols; ++c) {
      const size_t at = static_cast<size_t>(r * cols + c);
      double error;
      if (log_mode) {
        const double p = std::exp(y_row[c]);
        reference.value[at] = scale * (dy_row[c] - p * sum);
        error = kUlps * (std::fabs(dy_row[c]) + p * std::fabs(sum)) + p * sum_error;
        reference.tolerance_16_bit[at] = 0x1p-20 * std::fabs(scale) * p * std::fabs(sum);
      } else {
        reference.value[at] = scale * y_row[c] * (dy_row[c] - sum);
        error = std::fabs(y_row[c]) * (kUlps * (std::fabs(dy_row[c]) + std::fabs(sum)) + sum_error);
      }
      reference.tolerance[at] = std::fabs(scale) * error + kSmallestNormal;
    }
  }
  return reference;
}

LossReference cross_entropy_reference(const LossArguments& call, const std::vector<double>& x) {
  constexpr double kU = kUnitRoundoff, kSum = 8 * kU;  // relative error of a sum of exponentials
  LossReference result;
  const auto resize = [](Reference* reference, int64_t count) {
    reference->value.resize(static_cast<size_t>(count));
    reference->tolerance.resize(static_cast<size_t>(count));
  };
  resize(&result.loss, call.rows);
  resize(&result.lse, call.rows);
  resize(&result.dx, call.rows * call.cols);
  const double e = call.smoothing, z = call.z_loss, cols = static_cast<double>(call.cols);
  // The error of exponentials of 16 bits grows with their exponents: that of a probability besides.
  const auto exponent_error = [&](double p) {
    return call.all_16_bits && p > 0 ? kU * std::fabs(std::log(p)) : 0;
  };
  for (int64_t r = 0; r < call.rows; ++r) {
    const auto row = static_cast<size_t>(r);
    const double* logits = &x[row * static_cast<size_t>(call.cols)];
    const int64_t target = call.targets[row];
    const bool ignored = target == call.ignore_index;
    const bool has_class = !ignored && target >= 0 && target < call.cols;
    double largest = -kInfinity, mean = 0, magnitude = 0;
    bool has_nan = false;
    for (int64_t c = 0; c < call.cols; ++c) {
      has_nan = has_nan || std::isnan(logits[c]);
      largest = std::max(largest, logits[c]);
      mean += logits[c] / cols;
      magnitude += std::fabs(logits[c]) / cols;
    }
    const bool undefined = has_nan || std::isinf(largest);
    double others = 0, own = 0;
    for (int64_t c = 0; c < call.cols; ++c) {
      (c == target ? own : others) += std::exp(logits[c] - largest);
    }
    const double sum = others + own;
    const double lse = undefined ? kNaN : largest + std::log(sum);
    const double lse_error = kSum + 4 * kU * std::fabs(lse);
    result.lse.value[row] = lse;
    result.lse.tolerance[row] = lse_error;

    double loss = ignored ? 0 : kNaN, loss_error = 0;
    if (has_class && !undefined) {
      const double own_loss = own > 1e-200 ? std::log1p(others / own) : lse - logits[target];
      loss = (e < 1 ? (1 - e) * own_loss : 0) + (e > 0 ? e * (lse - mean) : 0) + z * lse * lse;
      loss_error = (12 * kU + exponent_error(others / sum)) * std::fabs(own_loss) +
                   2 * kU * std::fabs(loss) +
                   (e > 0 ? e * (kSum + 4 * kU * std::fabs(lse - mean) + 16 * kU * magnitude) : 0) +
                   std::fabs(z) * (2 * std::fabs(lse) * lse_error + 4 * kU * lse * lse);
    }
    result.loss.value[row] = loss;
    result.loss.tolerance[row] = std::isinf(loss) ? 0 : loss_error;

    const double slope = z != 0 ? 2 * z * lse : 0, w = call.weights[row];
    for (int64_t c = 0; c < call.cols; ++c) {
      const size_t at = row * static_cast<size_t>(call.cols) + static_cast<size_t>(c);
      const double p = std::exp(logits[c] - largest) / sum;
      const double derivative = c == target ? slope * p - others / sum + e : (1 + slope) * p;
      const double size =
          (c == target ? others / sum + std::fabs(slope) * p + e : (1 + std::fabs(slope)) * p) +
          e / cols;
      const double error = kSum + exponent_error(c == target ? others / sum : p);
      result.dx.value[at] = ignored                   ? 0
                            : has_class && !undefined ? w * (derivative - e / cols)
                                                      : kNaN;
      // Probabilities that are subnormal may be flushed.
      result.dx.tolerance[at] =
          ignored ? 0
                  : std::fabs(w) * (error * size + 2 * std::fabs(z) * p * lse_error +
                                    (logits[c] > -kInfinity ? kSmallestNormal : 0));
    }
  }
  return result;
}

void Comparison::add(int64_t i, int64_t j, double got, double expected, double tolerance) {
  ++elements_;
  double ratio = kInfinity;
  if (std::isnan(expected)) {
    if (std::isnan(got)) ratio = 0;
  } else if (got == expected) {
    ratio = 0;  // infinities too
  } else {
    const double error = std::fabs(got - expected);
    if (tolerance > 0 && !std::isnan(error)) ratio = error / tolerance;
  }
  if (!(ratio <= 1)) ++wrong_;
  if (ratio > worst_ratio_) {
    worst_ratio_ = ratio;
    std::ostringstream text;
    text.precision(9);
    text << "[" << i << "][" << j << "] is " << got << ", expected " << expected << " +- "
         << tolerance;
    worst_ = text.str();
  }
}

::testing::AssertionResult Comparison::result() const {
  if (wrong_ == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong_ << " of " << elements_ << " elements are wrong; the worst: " << worst_;
}

::testing::AssertionResult compare(mygemmDataType_t type, const void* result, int64_t rows,
                                   int64_t cols, int64_t ld, const Reference& reference) {
  Comparison comparison;
  const auto* bytes = static_cast<const unsigned char*>(result);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const size_t at = static_cast<size_t>(r * cols + c);
      const double got = decode(type, bytes + (r * ld + c) * type_bytes(type));
      const double expected = reference.value[at];
      double tolerance = reference.tolerance[at];
      // Rounding to 16 bits of a value with an error of the tolerance. Exact values stay exact.
      if (type != MYGEMM_R_32F && tolerance > 0) {
        if (!reference.tolerance_16_bit.empty()) tolerance += reference.tolerance_16_bit[at];
        tolerance += 0.5 * ulp(type, std::fabs(expected) + tolerance);
      }
      comparison.add(r, c, got, expected, tolerance);
    }
  }
  return comparison.result();
}

}  // namespace mygemm_tests
