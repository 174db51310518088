// Ops tests: products of infinities, NaN, and the largest and smallest numbers, by the kernels on
// tensor cores and by the plan's choice.
#include "ops/special_values.h"

#include "support/random.h"

namespace mygemm_tests {
namespace {

// 24 random bits each, between `low` and 2 and of either sign, or positive.
Factors ordinary(uint64_t seed = 1, double low = 0, bool positive = false, Factors f = {}) {
  Random random(seed);
  const auto next = [&] {
    const double magnitude = random.real(low, 2);
    return static_cast<float>(positive || random.integer(0, 1) != 0 ? magnitude : -magnitude);
  };
  for (float& x : f.a_values) x = next();
  for (float& x : f.b_values) x = next();
  return f;
}

// Puts a value into each of five rows of A, and of five columns of B.
void scatter(const uint32_t (&values)[5], Factors* in_a, Factors* in_b) {
  for (int64_t at = 0; at < 5; ++at) {
    in_a->a(5 + 8 * at, 3 + 100 * at) = from_bits(values[at]);
    in_b->b(3 + 100 * at, 4 + 3 * at) = from_bits(values[at]);
  }
}

TEST_P(SpecialValues, OrdinaryOnesAreTrusted) {
  Factors f = ordinary(8, 0, false, {.k = 500});
  f.ordinary = true;
  run("ordinary", f);
  run("larger and smaller", f.scale(-40, 60));
  if (GetParam().find("bf16x6") == std::string::npos) return;
  // Three TF32 products of these are too small.
  run("small ones", f.scale(-20, -120));
  for (int64_t l = 64; l < f.k; ++l) {
    for (int64_t i = 0; i < f.m; ++i) f.a(i, l) *= 0x1p110f;
    for (int64_t j = 0; j < f.n; ++j) f.b(l, j) *= 0x1p110f;
  }
  run("small ones at first", f);
  f = ordinary(14, 1, false, {.k = 500}).scale(-60, -60);
  f.ordinary = true;
  for (int64_t i = 0; i < f.m; ++i) f.a(i, 100) = from_bits(1);  // of which bits are lost
  run("small ones and a smaller one", f);
}

// ---- infinities and NaN ------------------------------------------------------------------------

// Quiet and signalling NaN; the first three become infinite or zero when cut to TF32.
constexpr uint32_t kNans[] = {0x7f800001, 0x7fffffff, 0xff801fff, 0x7fc00000, 0xffc01000};

TEST_P(SpecialValues, NanReachesItsRowOrColumnAlone) {
  Factors in_a = ordinary(), in_b = ordinary();
  scatter(kNans, &in_a, &in_b);
  run("in A", in_a);
  run("in B", in_b);
  in_a.b_values.assign(in_a.b_values.size(), 0.0f);
  run("in A, B is zero", in_a);
  Factors beside = ordinary();
  beside.a(36, 3) = from_bits(kNans[3]);
  beside.a(37, 5) = kInfinity;
  run("beside an infinity", beside);
}

TEST_P(SpecialValues, InfinityReachesItsRowOrColumnAlone) {
  Factors in_a = ordinary(), in_b = ordinary();
  in_a.a(17, 33) = kInfinity;
  in_a.a(40, 519) = -kInfinity;
  in_b.b(0, 3) = -kInfinity;
  in_b.b(511, 19) = kInfinity;
  run("in A", in_a);
  run("in B", in_b);
  in_b.a(9, 0) = kInfinity;  // meets the infinity of B in one element
  run("in both", in_b);
}

TEST_P(SpecialValues, InfinityAndZeroOrTheOtherInfinityAreNan) {
  Factors f = ordinary();
  f.a(12, 77) = kInfinity;
  f.b(77, 5) = 0;
  f.b(77, 6) = -0.0f;
  f.a(30, 10) = kInfinity;
  f.a(30, 500) = kInfinity;  // one product with it is +, one -
  f.b(10, 8) = 1, f.b(500, 8) = -2;
  f.b(10, 9) = 1, f.b(500, 9) = 2;
  run("in A", f);
  Factors g = ordinary();
  g.b(519, 12) = -kInfinity;
  for (int64_t i = 0; i < kM; i += 3) g.a(i, 519) = 0;
  for (int64_t k = 0; k < kK; ++k) g.a(7, k) = 0;
  run("in B", g);
}

// ---- large values ------------------------------------------------------------------------------

// FLT_MAX, and the neighbours of the smallest value that rounds to infinity in TF32.
constexpr uint32_t kLarge[] = {0x7f7fffff, 0x7f7ff000, 0x7f7fefff, 0x7f7fe000, 0xff7fffff};

TEST_P(SpecialValues, TheLargestNumbersAreNotInfinite) {
  Factors in_a = ordinary().scale(0, -12), in_b = ordinary().scale(-12, 0);
  scatter(kLarge, &in_a, &in_b);
  run("in A", in_a);
  run("in B", in_b);

  Factors alone;
  for (int64_t i = 0; i < kM; ++i) alone.a(i, 7 * i) = from_bits(kLarge[i % 5]);
  for (int64_t j = 0; j < kN; ++j) {
    constexpr float kFactors[] = {1.0f, -0.5f, 0x1p-30f};
    for (int64_t k = 0; k < kK; ++k) alone.b(k, j) = kFactors[j % 3];
  }
  run("alone", alone);
}

TEST_P(SpecialValues, SumsOverflowWhereTheyShould) {
  run("all", ordinary(2, 1, true).scale(60, 62));
  run("few", ordinary(3, 1).scale(63, 62));
  run("none", ordinary(4, 1, true).scale(58, 58));
  run("products", ordinary(5, 1).scale(64, 64));
  Factors f = ordinary(6, 1, true).scale(63, 62);  // the sum is finite, the chain overflows
  for (int64_t i = 0; i < kM; i += 2) {
    for (int64_t k = 0; k < kK; ++k) f.a(i, k) = (k < kK / 2 ? 1 : -1) * std::fabs(f.a(i, k));
  }
  run("there and back", f);
  // 32 k overflow by themselves, but not added to the sum before them. Such results are computed
  // again in a chain where k is at most 512.
  Factors g = ordinary(7, 1, true, {.k = 500}).scale(61, 61);
  g.in_order = true;
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t k = 0; k < g.k; ++k) g.a(i, k) *= k < 32 ? -0.75f : k < 64 ? 1.25f : 0.0f;
  }
  run("from below", g);
}

// ---- small values ------------------------------------------------------------------------------

TEST_P(SpecialValues, DenormalsCount) {
  run("A", ordinary(1, 1).scale(-130, 0));
  run("B", ordinary(2, 1).scale(0, -130));
  run("A, hardly any bits", ordinary(3, 1).scale(-147, 3));
  run("both", ordinary(4, 1).scale(-130, -130));
}

// Around the smallest values whose high and low part are exact.
TEST_P(SpecialValues, SmallValuesLoseNoBits) {
  for (const int exponent : {-144, -126, -120, -114, -113, -112, -104}) {
    const std::string name = "2^" + std::to_string(exponent);
    run_large("A " + name, ordinary(1, 1).scale(exponent, 0));
    run_large("B " + name, ordinary(2, 1).scale(0, exponent));
  }
}

TEST_P(SpecialValues, TinyTimesHuge) {
  run("A tiny", ordinary(1, 1, true).scale(-130, 120));
  run("B tiny", ordinary(2, 1).scale(120, -130));
  run("one", ordinary(3, 1).scale(-118, 118));
}

// The first products are small, and those of the first rows matter: others are large in later rows.
TEST_P(SpecialValues, SmallValuesGrow) {
  Factors f = ordinary(13, 1);
  f.scale(-60, -60);
  for (int64_t l = 64; l < f.k; ++l) {
    for (int64_t i = 0; i < f.m; ++i) f.a(i, l) *= i % 2 == 0 ? 0x1p40f : 0.0f;
  }
  run("in every other row", f);
}

TEST_P(SpecialValues, ProductsThatAreSmall) {
  run("1e-40", ordinary(1, 1).scale(-100, -33));
  run("positive", ordinary(2, 1, true).scale(-33, -100));
  run("positive, of few bits", ordinary(7, 1, true).scale(-70, -70));
  run("around the smallest", ordinary(3, 1).scale(-75, -74));
  run("around the normal ones", ordinary(4, 1).scale(-63, -63));
  run("where none are lost", ordinary(6, 1).scale(-50, -50));
}

TEST_P(SpecialValues, OneSmallValueAmongOrdinaryOnes) {
  Factors f = ordinary(1, 1);
  for (const int64_t i : {0, 21, 43}) {
    for (int64_t k = 0; k < kK; ++k) f.a(i, k) = 0;
    f.a(i, 100 + i) = from_bits(0x00012345);
  }
  f.a(5, 5) = from_bits(1);
  run("alone in a row of A", f);
  Factors g = ordinary(2, 1);
  for (int64_t k = 0; k < kK; ++k) g.b(k, 17) = 0;
  g.b(333, 17) = -0x1.234568p-120f;
  run("alone in a column of B", g);
  // In the first and the last k steps only, which may be in different partial sums.
  Factors h = ordinary(3, 1);
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t k = 0; k < kK; ++k) h.a(i, k) *= (k < 8) == (i % 2 == 0) ? 0x1p-125f : 0.0f;
  }
  run("in pieces", h);
}

// Values that lose bits, and huge values that make the loss matter, lie in one partial sum only.
TEST_P(SpecialValues, TinyTimesHugeInOnePiece) {
  for (const bool at_the_end : {false, true}) {
    Factors in_a = ordinary(1, 1), in_b = ordinary(2, 1);
    for (Factors* f : {&in_a, &in_b}) {
      const int of_a = f == &in_a ? -130 : 100, of_b = f == &in_a ? 100 : -130;
      for (int64_t l = 0; l < kK; ++l) {
        const bool matters = at_the_end ? l >= kK - 200 : l < 200;  // less than half of k each
        for (int64_t i = 0; i < kM; ++i) f->a(i, l) *= std::ldexp(1.0f, matters ? of_a : -100);
        for (int64_t j = 0; j < kN; ++j) f->b(l, j) *= std::ldexp(1.0f, matters ? of_b : 0);
      }
    }
    run(at_the_end ? "A tiny, last piece" : "A tiny, first piece", in_a);
    run(at_the_end ? "B tiny, last piece" : "B tiny, first piece", in_b);
  }
}

// Results in several tiles that are single products, some of them in the same row or column.
TEST_P(SpecialValues, OneProductMakesAResult) {
  constexpr int64_t kPlaces[][2] = {{0, 0},     {9, 33},   {23, 198}, {44, 130}, {63, 1},
                                    {64, 64},   {77, 191}, {90, 31},  {98, 95},  {111, 122},
                                    {127, 160}, {128, 11}, {135, 70}, {139, 193}};
  // The first is 0 in TF32, the second has a few bits. The third is small only relative to the
  // other operand. The last makes a sum of zeros.
  struct Product {
    uint32_t bits;
    float other;
  };
  for (const auto& [bits, other] : {Product{0x00000fff, 0x1.8p60f}, Product{0x00012345, 0x1.8p60f},
                                    Product{0x21924924, 0x1.8p-30f}, Product{0, 1}}) {
    // The kernel that the plan chooses for these takes long in the emulator.
    if (kBuild == Build::kEmulated && GetParam().empty() && bits != 0x00012345) continue;
    for (const bool in_a : {true, false}) {
      Factors f =
          ordinary(3, 1, false, {.m = 141, .n = 200, .k = kBuild == Build::kEmulated ? 390 : kK});
      f.scale(in_a ? 0 : 60, in_a ? 60 : 0);
      for (const auto& [i, j] : kPlaces) {
        // Row i and column j have only l in common.
        const int64_t l = (3 * i + 5 * j) % f.k;
        for (int64_t between = 0; between < f.k; ++between) {
          (between % 2 == l % 2 ? f.a(i, between) : f.b(between, j)) = 0;
        }
        f.a(i, l) = f.b(l, j) = other;
        (in_a ? f.a(i, l) : f.b(l, j)) = from_bits(bits);
      }
      run_large(std::to_string(bits) + (in_a ? " in A" : " in B"), f);
    }
  }
}

// The nonzero product is anywhere along k. In the row above all products are 0.
TEST_P(SpecialValues, OneProductMakesAResultOfALongSum) {
  for (const int64_t l : {0, 700, 2499}) {
    Factors f = ordinary(3, 1, false, {.m = 40, .n = 9, .k = 2500});
    f.scale(0, 60);
    for (int64_t between = 0; between < f.k; ++between) {
      if (between % 2 == l % 2) {
        f.a(32, between) = f.a(33, between) = 0;
      } else {
        f.b(between, 5) = 0;
      }
    }
    f.a(33, l) = from_bits(0x00012345);
    f.b(l, 5) = 0x1.8p60f;
    run_large("k = " + std::to_string(l), f);
  }
}

// More than a band of 8 tiles of 128 rows, along either side. Suspects, infinities and NaN lie in
// both bands.
TEST_P(SpecialValues, SecondBandOfTiles) {
  constexpr int64_t kLong = 8 * 128 + 50, kShort = 12, kDepth = 330;
  constexpr int64_t kLines[] = {7, 1024, 1070};
  for (const bool of_a : {true, false}) {
    Factors f = ordinary(9, 1, false,
                         {.m = of_a ? kLong : kShort, .n = of_a ? kShort : kLong, .k = kDepth});
    // Element l of a line along the long side, and of one along the other.
    const auto at = [&](int64_t line, int64_t l) -> float& {
      return of_a ? f.a(line, l) : f.b(l, line);
    };
    const auto across = [&](int64_t line, int64_t l) -> float& {
      return of_a ? f.b(l, line) : f.a(line, l);
    };
    for (const int64_t line : kLines) {
      for (int64_t l = 0; l < kDepth; ++l) at(line, l) *= 0x1p-130f;
      at(line - 1, line % kDepth) = kInfinity;
      at(line - 2, line % kDepth) = from_bits(kNans[line % 4]);
      for (int64_t l = 0; l < kDepth; ++l) at(line - 3, l) = 0;
    }
    across(3, 200) = -kInfinity;
    across(5, 11) = 0x1p100f;
    run_large(of_a ? "rows" : "columns", f);
  }
}

// ---- many results at once ----------------------------------------------------------------------

// Every other result, in most columns and rows of several tiles; the others have zeros alone. k is
// longer than the runs in which they are summed.
TEST_P(SpecialValues, ManyResultsAreComputedAgain) {
  constexpr int64_t kLongRun = 520;
  for (const bool of_b : {true, false}) {
    Factors f = ordinary(11, 1, false, {.m = 70, .n = 150, .k = kLongRun});
    f.scale(of_b ? 120 : -135, of_b ? -135 : 120);
    for (int64_t l = 0; l < f.k; ++l) {
      const bool even = l % 2 == 0;
      for (int64_t i = 0; i < f.m; ++i) f.a(i, l) *= (i % 2 == 0) == even ? 1.0f : 0.0f;
      for (int64_t j = 0; j < f.n; ++j) f.b(l, j) *= (j % 2 == 0) == even ? 1.0f : 0.0f;
    }
    run_large(of_b ? "small values of B" : "small values of A", f);
  }
}

TEST_P(SpecialValues, InfinitiesEverywhere) {
  Factors f = ordinary(12, 1, false, {.m = 70, .n = 130, .k = 600});
  for (float& x : f.a_values) x = std::copysign(kInfinity, x);
  run_large("in A", f);
  for (float& x : f.b_values) x = kInfinity;
  for (float& x : f.a_values) x = std::fabs(x);
  run_large("of one sign in both", f);
}

// ---- zeros -------------------------------------------------------------------------------------

TEST_P(SpecialValues, ZerosOfEitherSign) {
  Factors f = ordinary();
  f.exact = true;
  for (float& x : f.a_values) x = -0.0f;
  run("A is -0", f);
  for (float& x : f.b_values) x = -0.0f;
  run("both are -0", f);
  Factors g = ordinary();
  for (int64_t k = 0; k < kK; ++k) g.a(16, k) = 0, g.a(17, k) = -0.0f, g.b(k, 13) = 0;
  run("rows and columns", g);
}

TEST_P(SpecialValues, WhatCancelsLeavesNothing) {
  Factors f;
  // The machine's CBLAS may round before sums cancel: OpenBLAS 0.3.21 does on an AMD EPYC.
  f.exact = kBuild != Build::kHost;
  Random random(7);
  constexpr int64_t kDistances[] = {1, 8, 16, 24, 32, 64, 260, 300};
  // Values of 12 bits, whose products are exact.
  const auto next = [&] { return static_cast<float>(random.integer(2049, 4095)) * 0x1p-11f; };
  for (int64_t i = 0; i < kM; ++i) {
    const int64_t first = 3 + i * 4, second = first + kDistances[i % 8];
    f.a(i, first) = next();
    f.a(i, second) = -f.a(i, first);
  }
  for (int64_t j = 0; j < kN; ++j) {
    f.b(0, j) = next();
    for (int64_t k = 1; k < kK; ++k) f.b(k, j) = f.b(0, j);
  }
  run("pairs", f);
  f.scale(-60, -70);
  run("small pairs", f);
}

std::vector<std::string> rows() {
  std::vector<std::string> names = {""};
  for (const std::string& name : row_names(Family::kGemm)) {
    if (runs_on_tensor_cores(name)) names.push_back(name);
  }
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.empty() ? "chosen" : info.param;
}

INSTANTIATE_TEST_SUITE_P(Rows, SpecialValues, ::testing::ValuesIn(rows()), test_name);

}  // namespace
}  // namespace mygemm_tests
