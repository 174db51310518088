// Products whose results must be those of FP32 multiply-adds for all operands: the same infinities
// and NaN, and otherwise the same error bound against FP64.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/memory.h"

namespace mygemm_tests {

constexpr size_t kWorkspace = size_t{36} << 20;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Rows in several warps of a tile; deep enough for the plan to choose tensor cores, and stream-K.
constexpr int64_t kM = 44, kN = 20, kK = 520;
// Error bounds of a result: relative to |A||B|, and in the smallest denormals. Half of the error
// when the lower halves of values are lost.
constexpr double kRelative = 48 * 0x1p-24, kAbsolute = 64 * 0x1p-149;

inline float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

// op(A) and op(B), whatever the operations.
struct Factors {
  int64_t m = kM, n = kN, k = kK;
  std::vector<float> a_values = std::vector<float>(static_cast<size_t>(m * k));
  std::vector<float> b_values = std::vector<float>(static_cast<size_t>(k * n));
  bool exact = false;     // FP32 sums are exact in any order
  bool ordinary = false;  // results of the tensor cores pass without the guard
  bool in_order = false;  // sums must be finite where those of a chain are

  float& a(int64_t i, int64_t l) { return a_values[static_cast<size_t>(i + l * m)]; }
  float& b(int64_t l, int64_t j) { return b_values[static_cast<size_t>(l + j * k)]; }
  float a(int64_t i, int64_t l) const { return a_values[static_cast<size_t>(i + l * m)]; }
  float b(int64_t l, int64_t j) const { return b_values[static_cast<size_t>(l + j * k)]; }

  // Multiplies rows of A and columns of B by powers of two.
  Factors& scale(int of_a, int of_b) {
    for (float& x : a_values) x = std::ldexp(x, of_a);
    for (float& x : b_values) x = std::ldexp(x, of_b);
    return *this;
  }
};

// The expected value of an element.
struct Expected {
  float chain = 0;  // by fused multiply-adds, in the order of k
  double sum = 0, magnitude = 0;
  bool special = false;  // an operand is infinite or NaN
};

inline std::vector<Expected> expected_of(const Factors& f) {
  std::vector<Expected> all;
  for (int64_t j = 0; j < f.n; ++j) {
    for (int64_t i = 0; i < f.m; ++i) {
      Expected e;
      for (int64_t l = 0; l < f.k; ++l) {
        const float a = f.a(i, l), b = f.b(l, j);
        const double product = static_cast<double>(a) * b;
        e.chain = std::fma(a, b, e.chain);
        e.sum += product;
        e.magnitude += std::fabs(product);
        e.special = e.special || !std::isfinite(a) || !std::isfinite(b);
      }
      all.push_back(e);
    }
  }
  return all;
}

inline bool same_class(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return std::isinf(x) && x == y;
}

inline bool same_bits(float x, float y) {
  return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

struct Scalars {
  float alpha, beta;
};

inline float chain_result(const Expected& e, float c, const Scalars& s) {
  return s.beta == 0 ? s.alpha * e.chain : std::fma(s.alpha, e.chain, s.beta * c);
}

// any_order: sums may overflow where those of the chain do not, or to the other infinity, or to
// NaN.
inline bool is_right(float got, const Expected& e, float c, const Scalars& s, bool exact,
                     bool any_order) {
  const float chain = chain_result(e, c, s);
  if (e.special) return same_class(got, chain);
  if (exact || e.magnitude == 0) return same_bits(got, chain);
  // A sum that need not overflow may come out right, too.
  if (!std::isfinite(chain) && same_class(got, chain)) return true;
  if (any_order && e.magnitude > FLT_MAX && !std::isfinite(got)) return true;
  const double added = s.beta == 0 ? 0 : static_cast<double>(s.beta) * c;
  const double error = std::fabs(got - (s.alpha * e.sum + added));
  return error <= kRelative * (std::fabs(s.alpha) * e.magnitude + std::fabs(added)) + kAbsolute;
}

// A column-major matrix and its transposed.
inline std::vector<float> stored(const std::vector<float>& x, int64_t rows, bool transposed,
                                 int64_t ld) {
  const int64_t cols = static_cast<int64_t>(x.size()) / rows;
  std::vector<float> result(static_cast<size_t>(ld * (transposed ? rows : cols)));
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      result[static_cast<size_t>(transposed ? j + i * ld : i + j * ld)] =
          x[static_cast<size_t>(i + j * rows)];
    }
  }
  return result;
}

class SpecialValues : public RowTest {
 protected:
  // Runs the case with all operations, with and without alpha and beta, with a C that must not be
  // read, aligned and not.
  void run(const std::string& name, const Factors& f) { run(name, f, {0, 1, 2, 3}); }

  // Runs an expensive case, or one of many alike: in the emulator with two of the four operations.
  void run_large(const std::string& name, const Factors& f) {
    if (kBuild != Build::kEmulated) return run(name, f);
    const bool first = (large_runs_ + large_runs_ / 2) % 2 == 0;  // 0 1 1 0
    ++large_runs_;
    run(name, f, first ? std::vector{0, 3} : std::vector{1, 2});
  }

 private:
  void run(const std::string& name, const Factors& f, const std::vector<int>& operations) {
    if (IsSkipped() || HasFailure()) return;
    const Handle handle(Family::kGemm, GetParam(), kWorkspace);
    const std::vector<Expected> expected = expected_of(f);
    for (const int ops : operations) {
      const Scalars scalars = runs_ % 2 == 0 ? Scalars{1, 0} : Scalars{-1.25f, 0.5f};
      const int padding = runs_ / 2 % 2;
      SCOPED_TRACE(name + ", operations " + std::to_string(ops) + ", beta " +
                   std::to_string(scalars.beta) + ", padding " + std::to_string(padding));
      product(handle, f, expected, ops / 2 != 0, ops % 2 != 0, scalars, padding);
      if (IsSkipped() || HasFailure()) return;
      ++runs_;
    }
    ++runs_;  // the next case has other scalars
  }

  void product(mygemmHandle_t handle, const Factors& f, const std::vector<Expected>& expected,
               bool transa, bool transb, const Scalars& scalars, int padding) {
    const int64_t lda = (transa ? f.k : f.m) + padding, ldb = (transb ? f.n : f.k) + padding;
    const std::vector<float> a = stored(f.a_values, f.m, transa, lda);
    const std::vector<float> b = stored(f.b_values, f.k, transb, ldb);
    std::vector<float> old(expected.size(), std::numeric_limits<float>::quiet_NaN());
    if (scalars.beta != 0) {  // as large as the products, and 1 where these are 0
      for (size_t at = 0; at < old.size(); ++at) {
        const auto magnitude = static_cast<float>(expected[at].magnitude / 4);
        old[at] = expected[at].magnitude == 0            ? 1.0f
                  : f.exact || !std::isfinite(magnitude) ? 0.0f
                                                         : magnitude;
      }
    }
    const int64_t ldc = f.m + padding;
    constexpr float kBetween = 7;  // padding between the columns of C
    std::vector<float> image(static_cast<size_t>(ldc * f.n), kBetween);
    const auto m = static_cast<size_t>(f.m), pitch = static_cast<size_t>(ldc);
    for (size_t at = 0; at < old.size(); ++at) image[at / m * pitch + at % m] = old[at];
    const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
    const DeviceBuffer b_buffer(b.data(), b.size() * sizeof(float), 0);
    const DeviceBuffer c_buffer(image.data(), image.size() * sizeof(float), 0);
    const mygemmStatus_t status =
        mygemm_sgemm(handle, transa ? MYGEMM_OP_T : MYGEMM_OP_N, transb ? MYGEMM_OP_T : MYGEMM_OP_N,
                     f.m, f.n, f.k, &scalars.alpha, a_buffer.as<float>(), lda, b_buffer.as<float>(),
                     ldb, &scalars.beta, c_buffer.as<float>(), ldc);
    synchronize();
    if (!GetParam().empty() && status == MYGEMM_STATUS_NOT_SUPPORTED) {
      GTEST_SKIP() << mygemm_last_error();
    }
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    c_buffer.download(image.data());
    std::vector<float> c;
    for (size_t at = 0; at < image.size(); ++at) {
      if (at % pitch < m) {
        c.push_back(image[at]);
      } else {
        ASSERT_EQ(image[at], kBetween) << "written between the columns of C";
      }
    }
    int wrong = 0;
    for (size_t at = 0; at < c.size(); ++at) {
      if (is_right(c[at], expected[at], old[at], scalars, f.exact,
                   !f.in_order || GetParam().empty())) {
        continue;
      }
      if (++wrong > 1) continue;
      ADD_FAILURE() << "element " << at % m << ", " << at / m << " is " << c[at] << ", a chain "
                    << expected[at].chain << ", the sum " << expected[at].sum << " of "
                    << expected[at].magnitude;
    }
    EXPECT_EQ(wrong, 0);
    if (!f.ordinary || GetParam().empty()) return;
    // Suspects are computed again from global memory, in a chain where k is at most 512. This would
    // also hide operands that are read from shared memory before they are there, as NaN.
    for (size_t first = 0; first < m; first += m / 4) {
      bool all = true;
      for (size_t at = 0; at < c.size(); ++at) {
        if (at % m < first || at % m >= first + m / 4) continue;
        all = all && same_bits(c[at], chain_result(expected[at], old[at], scalars));
      }
      EXPECT_FALSE(all) << "rows from " << first << " on are not those of tensor cores";
    }
  }

  int runs_ = 0, large_runs_ = 0;
};

}  // namespace mygemm_tests
