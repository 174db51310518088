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
constexpr double kDensity = 0.1;

// Streams of random numbers: those of a side, and those that both sides read.
enum Stream : uint32_t { kOfA, kOfB, kExponentsOfA, kExponentsOfB, kShared, kStreams };

// A random number in (0, 1).
double uniform(uint32_t stream, int64_t index) {
  return 0.5 * (1.0 + static_cast<double>(random_value(stream, index)));
}

// A normal random number by Box and Muller's method, which gives two.
double normal(uint32_t stream, int64_t index) {
  const double radius = std::sqrt(-2.0 * std::log(uniform(stream, 2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(stream, 2 * index + 1));
}

// A random integer in [-most, most], uniform.
int integer(uint32_t stream, int64_t index, int most) {
  return static_cast<int>(std::floor(uniform(stream, index) * (2 * most + 1))) - most;
}

// The largest magnitude of which k products stay below 2^24, where FP32 holds every integer.
int largest_integer(int64_t k) {
  return std::min(2048, static_cast<int>(std::sqrt(0x1p24 / static_cast<double>(k))));
}

// Along a line of the graded matrices exponents fall evenly from this to its negative. Sums of k
// products of two such values stay below 2^124, and no product is a denormal.
int largest_exponent(int64_t k) {
  return 62 - static_cast<int>(std::ceil(std::log2(static_cast<double>(k))));
}

// op(B) has the opposite sign of the exponent, so that the diagonal of C sums x^2, and elements
// further from it cover more and more of the range of FP32.
double graded(uint32_t stream, bool of_a, int64_t line, int64_t l, int64_t k) {
  const int64_t place = (line + l) % k;
  const int most = largest_exponent(k);
  const double fall = 2.0 * most / static_cast<double>(std::max<int64_t>(k - 1, 1));
  const int exponent = most - static_cast<int>(static_cast<double>(place) * fall);
  return std::ldexp(1.0 + uniform(stream, place), of_a ? exponent : -exponent);
}

}  // namespace

const std::vector<std::string>& distribution_names() {
  static const std::vector<std::string> names = {
      "normal",      "uniform",  "uniform_signed", "wide",     "scaled_lines", "scaled_depth",
      "mixed_depth", "integers", "sparse",         "identity", "disjoint",     "graded"};
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
  const uint32_t shared = first + kShared;
  const int64_t index = line * k + l;
  switch (distribution) {
    case Distribution::kNormal: return static_cast<float>(normal(stream, index));
    case Distribution::kUniform: return static_cast<float>(uniform(stream, index));
    case Distribution::kUniformSigned: return random_value(stream, index);
    case Distribution::kWide: {
      const double exponent = 40.0 * uniform(exponents, index) - 20.0;
      return static_cast<float>(normal(stream, index) * std::exp2(exponent));
    }
    case Distribution::kScaledLines: {
      const int exponent = integer(exponents, line, kMostExponent);
      return static_cast<float>(std::ldexp(normal(stream, index), exponent));
    }
    case Distribution::kScaledDepth:
    case Distribution::kMixedDepth: {
      const bool negated = distribution == Distribution::kMixedDepth && line % 2 == 1;
      const int exponent = integer(shared, l, kMostExponent);
      return static_cast<float>(
          std::ldexp(normal(stream, index), of_a != negated ? exponent : -exponent));
    }
    case Distribution::kIntegers:
      return static_cast<float>(integer(stream, index, largest_integer(k)));
    case Distribution::kSparse:
      return uniform(exponents, index) < kDensity ? static_cast<float>(normal(stream, index)) : 0;
    case Distribution::kIdentity:
      return of_a ? (line % k == l ? 1.0f : 0.0f) : static_cast<float>(normal(stream, index));
    case Distribution::kDisjoint:
      return (uniform(shared, index) < 0.5) == of_a ? static_cast<float>(normal(stream, index)) : 0;
    case Distribution::kGraded: return static_cast<float>(graded(shared, of_a, line, l, k));
  }
  return 0.0f;
}

}  // namespace bench
