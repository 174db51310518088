// See distributions.h.
#include "distributions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "values.h"

namespace bench {
namespace {

constexpr int kMostExponent = 30;  // of scaled lines and depth

// A side's streams of random numbers. Both sides scale the depth by the same ones.
enum Stream : uint32_t { kOfA, kOfB, kExponentsOfA, kExponentsOfB, kExponentsOfDepth, kStreams };

// In (0, 1).
double uniform(uint32_t stream, int64_t index) {
  return 0.5 * (1.0 + static_cast<double>(random_value(stream, index)));
}

// Box and Muller's, one of the two that they get.
double normal(uint32_t stream, int64_t index) {
  const double radius = std::sqrt(-2.0 * std::log(uniform(stream, 2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(stream, 2 * index + 1));
}

// In [-most, most], evenly.
int integer(uint32_t stream, int64_t index, int most) {
  return static_cast<int>(std::floor(uniform(stream, index) * (2 * most + 1))) - most;
}

// k of their products stay below 2^24, up to which FP32 holds every integer.
int largest_integer(int64_t k) {
  return std::min(8, static_cast<int>(std::sqrt(0x1p24 / static_cast<double>(k))));
}

}  // namespace

const std::vector<std::string>& distribution_names() {
  static const std::vector<std::string> names = {"normal",       "uniform",      "wide",
                                                 "scaled_lines", "scaled_depth", "integers"};
  return names;
}

Distribution distribution(const std::string& name) {
  const std::vector<std::string>& names = distribution_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw std::invalid_argument("no distribution is called '" + name + "'");
  }
  return static_cast<Distribution>(found - names.begin());
}

float element(Distribution distribution, uint32_t seed, Side side, int64_t line, int64_t l,
              int64_t k) {
  const bool of_a = side == Side::kA;
  const uint32_t first = seed * kStreams;
  const uint32_t stream = first + (of_a ? kOfA : kOfB);
  const uint32_t exponents = first + (of_a ? kExponentsOfA : kExponentsOfB);
  const int64_t index = line * k + l;
  switch (distribution) {
    case Distribution::kNormal: return static_cast<float>(normal(stream, index));
    case Distribution::kUniform: return static_cast<float>(uniform(stream, index));
    case Distribution::kWide: {
      const double exponent = 40.0 * uniform(exponents, index) - 20.0;
      return static_cast<float>(normal(stream, index) * std::exp2(exponent));
    }
    case Distribution::kScaledLines: {
      const int exponent = integer(exponents, line, kMostExponent);
      return static_cast<float>(std::ldexp(normal(stream, index), exponent));
    }
    case Distribution::kScaledDepth: {
      const int exponent = integer(first + kExponentsOfDepth, l, kMostExponent);
      return static_cast<float>(std::ldexp(normal(stream, index), of_a ? exponent : -exponent));
    }
    case Distribution::kIntegers:
      return static_cast<float>(integer(stream, index, largest_integer(k)));
  }
  return 0.0f;
}

}  // namespace bench
