// See distributions.h.
#include "distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "parallel.h"
#include "values.h"

namespace bench {
namespace {

constexpr int kMostExponent = 30;  // of scaled lines and depth
constexpr int64_t kBlock = 64;     // side of the blocks of zeros
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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

// Streams of random numbers: those of a side, and those that both sides read.
enum Stream : uint32_t { kOfA, kOfB, kExponentsOfA, kExponentsOfB, kShared, kStreams };

bool of_a(const Line& line) { return line.side == Side::kA; }
uint32_t values(const Line& line) { return line.seed * kStreams + (of_a(line) ? kOfA : kOfB); }
uint32_t exponents(const Line& line) {
  return line.seed * kStreams + (of_a(line) ? kExponentsOfA : kExponentsOfB);
}
uint32_t of_both(const Line& line) { return line.seed * kStreams + kShared; }
int64_t index_of(const Line& line, int64_t l) { return line.number * line.k + l; }

// Every kind of data is a function of this form, or uses one; `shared` is the figure of the line.
using L = const Line&;

double normal(L line, int64_t l, double = 0) { return normal(values(line), index_of(line, l)); }

double uniform_signed(L line, int64_t l, double = 0) {
  return static_cast<double>(random_value(values(line), index_of(line, l)));
}

// In (0, 1): every product has the same sign.
double uniform(L line, int64_t l, double) { return uniform(values(line), index_of(line, l)); }

// A number in (0, 1) that does not depend on the element's own.
double chance(L line, int64_t l) { return uniform(exponents(line), index_of(line, l)); }

// Few terms of a sum matter.
double wide(L line, int64_t l, double) {
  return normal(line, l) * std::exp2(40.0 * chance(line, l) - 20.0);
}

double scaled_lines(L line, int64_t l, double) {
  return std::ldexp(normal(line, l), integer(exponents(line), line.number, kMostExponent));
}

// op(A)'s column l * 2^s(l), op(B)'s row l * 2^-s(l): normal products.
double scaled_depth(L line, int64_t l, double) {
  const int exponent = integer(of_both(line), l, kMostExponent);
  return std::ldexp(normal(line, l), of_a(line) ? exponent : -exponent);
}

// As that, but with s(l) negated in odd lines: half of C as that, half as of wide data.
double mixed_depth(L line, int64_t l, double) {
  const int exponent = integer(of_both(line), l, kMostExponent);
  return std::ldexp(normal(line, l), of_a(line) != (line.number % 2 == 1) ? exponent : -exponent);
}

// The largest magnitude of which k products stay below 2^24, where FP32 holds every integer.
int largest_integer(int64_t k) {
  return std::min(2048, static_cast<int>(std::sqrt(0x1p24 / static_cast<double>(k))));
}

double exact_integers(L line, int64_t l, double) {
  return integer(values(line), index_of(line, l), largest_integer(line.k));
}

template <int kPerMille>  // elements that are not 0
double sparse(L line, int64_t l, double) {
  return chance(line, l) < kPerMille * 1e-3 ? normal(line, l) : 0;
}

double identity(L line, int64_t l, double) {
  return of_a(line) ? (line.number % line.k == l ? 1 : 0) : normal(line, l);
}

// From the literature on grading implementations of the BLAS, with `graded`: see docs/accuracy.md.
// Row i of op(A) is 0 where column i of op(B) is not: C's diagonal is 0.
double disjoint(L line, int64_t l, double) {
  const bool there = (uniform(of_both(line), index_of(line, l)) < 0.5) == of_a(line);
  return there ? normal(line, l) : 0;
}

// Along a line of the graded matrices exponents fall evenly from this to its negative. Sums of k
// products of two such values stay below 2^124, and no product is a denormal.
int largest_exponent(int64_t k) {
  return 62 - static_cast<int>(std::ceil(std::log2(static_cast<double>(k))));
}

// op(B) has the opposite sign of the exponent, so that the diagonal of C sums x^2, and elements
// further from it cover more and more of the range of FP32.
double graded(L line, int64_t l, double) {
  const int64_t place = (line.number + l) % line.k;
  const int most = largest_exponent(line.k);
  const double fall = 2.0 * most / static_cast<double>(std::max<int64_t>(line.k - 1, 1));
  const int exponent = most - static_cast<int>(static_cast<double>(place) * fall);
  return std::ldexp(1.0 + uniform(of_both(line), place), of_a(line) ? exponent : -exponent);
}

// ---- activations, probabilities ----------------------------------------------------------------

double relu(L line, int64_t l, double) {
  return of_a(line) ? std::max(0.0, normal(line, l)) : normal(line, l);
}

double logit(L line, int64_t l) { return 3 * normal(line, l); }
double sum_of_exponentials(L line) {
  double sum = 0;
  for (int64_t l = 0; of_a(line) && l < line.k; ++l) {
    sum += std::exp(logit(line, l));
  }
  return sum;
}
double softmax(L line, int64_t l, double sum) {
  return of_a(line) ? std::exp(logit(line, l)) / sum : normal(line, l);
}

double log_normal(L line, int64_t l, double) { return std::exp(normal(line, l)); }

// ---- zeros -------------------------------------------------------------------------------------

double zero_rows(L line, int64_t l, double) {
  return of_a(line) && line.number % 10 == 0 ? 0 : uniform_signed(line, l);
}

double zero_columns(L line, int64_t l, double) {
  return !of_a(line) && line.number % 3 == 0 ? 0 : uniform_signed(line, l);
}

double zero_blocks(L line, int64_t l, double) {
  const int64_t block = line.number / kBlock * (int64_t{1} << 24) + l / kBlock;
  return uniform(exponents(line), block) < 0.5 ? 0 : uniform_signed(line, l);
}

// The place of the only element of a line of op(A) that is not 0: any, or each in one line.
double any_place(L line) {
  return std::floor(uniform(exponents(line), line.number) * static_cast<double>(line.k));
}
double place_of_its_own(L line) {
  int64_t step = static_cast<int64_t>(0.618 * static_cast<double>(line.k)) + 1;
  while (std::gcd(step, line.k) != 1) {
    ++step;
  }
  return static_cast<double>((line.number % line.k * step + 1) % line.k);
}
double one_at(L line, int64_t l, double place) {
  return of_a(line) ? (static_cast<double>(l) == place ? 1 : 0) : normal(line, l);
}

double diagonal(L line, int64_t l, double) {
  return of_a(line) && line.number % line.k != l ? 0 : normal(line, l);
}

double all_zero(L, int64_t, double) { return 0; }

// ---- few bits, and exponents -------------------------------------------------------------------

template <int kBits>
double integers(L line, int64_t l, double) {
  return integer(values(line), index_of(line, l), (1 << (kBits - 1)) - 1);
}

// Columns of op(B) by 2^(-j / 8), again from 1 after 512 columns.
double graded_columns(L line, int64_t l, double) {
  const double fall = of_a(line) ? 0 : static_cast<double>(line.number % 512) / 8;
  return uniform_signed(line, l) * std::exp2(-fall);
}

double mixed_exponents(L line, int64_t l, double) {
  return std::ldexp(uniform_signed(line, l), integer(exponents(line), index_of(line, l), 31));
}

template <int kExponent>
double scaled(L line, int64_t l, double) {
  return std::ldexp(uniform_signed(line, l), kExponent);
}

double denormal(L line, int64_t l, double) {
  const double value = uniform_signed(line, l);
  return std::copysign(std::ceil(std::fabs(value) * 0x1p22) * 0x1p-149, value);
}

// ---- elements of op(A) that are not finite -----------------------------------------------------

double special_if(bool there, double special, L line, int64_t l) {
  return of_a(line) && there ? special : uniform_signed(line, l);
}

bool in_the_middle(L line, int64_t l) { return line.number == 0 && l == line.k / 2; }

double one_nan(L line, int64_t l, double) {
  return special_if(in_the_middle(line, l), kNan, line, l);
}
double nan_rows(L line, int64_t l, double) {
  return special_if(line.number % 100 == 0, kNan, line, l);
}
double half_nan(L line, int64_t l, double) {
  return special_if(chance(line, l) < 0.5, kNan, line, l);
}
double one_inf(L line, int64_t l, double) {
  return special_if(in_the_middle(line, l), kInfinity, line, l);
}
double inf_row(L line, int64_t l, double) {
  return special_if(line.number == 0, kInfinity, line, l);
}
double all_inf(L, int64_t, double) { return kInfinity; }

constexpr auto kNone = Errors32::kNone, kRounding = Errors32::kRounding, kAny = Errors32::kAny;

}  // namespace

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> kinds = {
      {"normal", kRounding, true, normal},
      {"uniform", kRounding, true, uniform},
      {"uniform_signed", kRounding, true, uniform_signed},
      {"wide", kRounding, true, wide},
      {"scaled_lines", kRounding, true, scaled_lines},
      {"scaled_depth", kRounding, true, scaled_depth},
      {"mixed_depth", kRounding, true, mixed_depth},
      {"integers", kNone, true, exact_integers},
      {"sparse", kRounding, true, sparse<100>},
      {"identity", kRounding, true, identity},
      {"disjoint", kRounding, true, disjoint},
      {"graded", kRounding, true, graded},
      {"relu", kRounding, false, relu},
      {"softmax", kRounding, false, softmax, sum_of_exponentials},
      {"log_normal", kRounding, false, log_normal},
      {"sparse99", kRounding, false, sparse<10>},
      {"sparse999", kRounding, false, sparse<1>},
      {"zero_rows", kRounding, false, zero_rows},
      {"zero_columns", kRounding, false, zero_columns},
      {"zero_blocks", kRounding, false, zero_blocks},
      {"one_hot", kRounding, false, one_at, any_place},
      {"permutation", kRounding, false, one_at, place_of_its_own},
      {"diagonal", kRounding, false, diagonal},
      {"all_zero", kNone, false, all_zero},
      {"int8", kRounding, false, integers<8>},
      {"int12", kRounding, false, integers<12>},
      {"int16", kRounding, false, integers<16>},
      {"graded_columns", kRounding, false, graded_columns},
      {"mixed_exponents", kRounding, false, mixed_exponents},
      {"tiny", kRounding, false, scaled<-60>},
      {"huge", kAny, false, scaled<60>},
      {"denormal", kAny, false, denormal},
      {"one_nan", kAny, false, one_nan},
      {"nan_rows", kAny, false, nan_rows},
      {"half_nan", kAny, false, half_nan},
      {"one_inf", kAny, false, one_inf},
      {"inf_row", kAny, false, inf_row},
      {"all_inf", kAny, false, all_inf}};
  return kinds;
}

const Distribution& distribution(const std::string& name) {
  for (const Distribution& kind : distributions()) {
    if (kind.name == name) {
      return kind;
    }
  }
  throw std::invalid_argument("no distribution is called '" + name + "'");
}

namespace {

template <class Predicate>
std::vector<std::string> names_where(Predicate wanted) {
  std::vector<std::string> names;
  for (const Distribution& kind : distributions()) {
    if (wanted(kind)) {
      names.push_back(kind.name);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> distribution_names() {
  return names_where([](const Distribution&) { return true; });
}

std::vector<std::string> bounded_names() {
  return names_where([](const Distribution& kind) { return kind.errors != Errors32::kAny; });
}

std::vector<std::string> documented_names() {
  return names_where([](const Distribution& kind) { return kind.documented; });
}

void fill_matrix(const Distribution& distribution, uint32_t seed, Side side, const Lines& lines,
                 int64_t first, float* matrix) {
  constexpr int64_t kAtOnce = 16;  // lines of a thread, so that threads write different sectors
  in_parallel((lines.count + kAtOnce - 1) / kAtOnce, [&](int64_t group) {
    const int64_t end = std::min(lines.count, (group + 1) * kAtOnce);
    for (int64_t i = group * kAtOnce; i < end; ++i) {
      const Line line{seed, side, first + i, lines.k};
      const double shared = distribution.shared ? distribution.shared(line) : 0;
      float* const begin = matrix + (lines.contiguous ? i * lines.ld : i);
      const int64_t step = lines.contiguous ? 1 : lines.ld;
      for (int64_t l = 0; l < lines.k; ++l) {
        begin[l * step] = static_cast<float>(distribution.element(line, l, shared));
      }
    }
  });
}

}  // namespace bench
