// Tests of the drop-in BLAS: matrix copies by every interface against a loop over elements; gaps
// between lines stay unchanged.
#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "blas.h"

namespace mygemm_tests {
namespace {

constexpr float kGuard = -77.0f;

struct Case {
  bool row_major;
  char trans;
  int rows, cols;
  int pad_a, pad_b;  // leading dimensions are larger by these
  float alpha;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << (c.row_major ? "row-major " : "column-major ") << c.trans << ' ' << c.rows << 'x'
             << c.cols << " pads " << c.pad_a << ' ' << c.pad_b << " alpha " << c.alpha;
}

bool transposes(const Case& c) { return c.trans == 'T' || c.trans == 'C' || c.trans == 't'; }

struct Layout {
  int rows, cols, ld;
  bool row_major;
  size_t at(int i, int j) const { return static_cast<size_t>(row_major ? i * ld + j : i + j * ld); }
  size_t size() const { return static_cast<size_t>(ld) * (row_major ? rows : cols); }
};

Layout layout_of_a(const Case& c) {
  return {c.rows, c.cols, (c.row_major ? c.cols : c.rows) + c.pad_a, c.row_major};
}

Layout layout_of_b(const Case& c) {
  const int rows = transposes(c) ? c.cols : c.rows;
  const int cols = transposes(c) ? c.rows : c.cols;
  return {rows, cols, (c.row_major ? cols : rows) + c.pad_b, c.row_major};
}

float value_at(int i, int j) { return static_cast<float>(1 + 100 * i + j); }

void fill(const Case& c, std::vector<float>* memory) {
  const Layout a = layout_of_a(c);
  for (int i = 0; i < c.rows; ++i) {
    for (int j = 0; j < c.cols; ++j) (*memory)[a.at(i, j)] = value_at(i, j);
  }
}

// The expected memory after the call, given B's memory before it.
std::vector<float> expected(const Case& c, std::vector<float> memory) {
  const Layout b = layout_of_b(c);
  for (int i = 0; i < b.rows; ++i) {
    for (int j = 0; j < b.cols; ++j) {
      memory[b.at(i, j)] = c.alpha * (transposes(c) ? value_at(j, i) : value_at(i, j));
    }
  }
  return memory;
}

enum class Interface { kFortran, kCblas, kMkl };

int cblas_operation(char trans) {
  return trans == 'N' ? 111 : trans == 'R' ? 114 : trans == 'C' ? 113 : 112;
}

void copy(Interface interface, const Case& c, const float* a, float* b) {
  const int lda = layout_of_a(c).ld;
  const int ldb = layout_of_b(c).ld;
  const char order = c.row_major ? 'R' : 'c';
  switch (interface) {
    case Interface::kFortran:
      return somatcopy_(&order, &c.trans, &c.rows, &c.cols, &c.alpha, a, &lda, b, &ldb);
    case Interface::kCblas:
      return cblas_somatcopy(c.row_major ? kRowMajor : kColumnMajor, cblas_operation(c.trans),
                             c.rows, c.cols, c.alpha, a, lda, b, ldb);
    case Interface::kMkl:
      return MKL_Somatcopy(order, c.trans, c.rows, c.cols, c.alpha, a, lda, b, ldb);
  }
}

void copy_in_place(Interface interface, const Case& c, float* a) {
  const int lda = layout_of_a(c).ld;
  const int ldb = layout_of_b(c).ld;
  const char order = c.row_major ? 'r' : 'C';
  switch (interface) {
    case Interface::kFortran:
      return simatcopy_(&order, &c.trans, &c.rows, &c.cols, &c.alpha, a, &lda, &ldb);
    case Interface::kCblas:
      return cblas_simatcopy(c.row_major ? kRowMajor : kColumnMajor, cblas_operation(c.trans),
                             c.rows, c.cols, c.alpha, a, lda, ldb);
    case Interface::kMkl:
      return MKL_Simatcopy(order, c.trans, c.rows, c.cols, c.alpha, a, lda, ldb);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool row_major : {false, true}) {
    for (const char trans : {'N', 'T', 'C', 'R', 't'}) {
      for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 7}, {5, 12}, {13, 4}}) {
        for (const auto& [pad_a, pad_b] : {std::pair{0, 0}, {3, 0}, {0, 5}}) {
          for (const float alpha : {1.0f, -2.0f, 0.0f}) {
            all.push_back({row_major, trans, rows, cols, pad_a, pad_b, alpha});
          }
        }
      }
    }
  }
  return all;
}

TEST(BlasMatrixCopy, OutOfPlaceEqualsALoop) {
  for (const Case& c : cases()) {
    std::vector<float> a(layout_of_a(c).size(), kGuard);
    fill(c, &a);
    const std::vector<float> before = a;
    const std::vector<float> guards(layout_of_b(c).size(), kGuard);
    for (const Interface interface : {Interface::kFortran, Interface::kCblas, Interface::kMkl}) {
      std::vector<float> b = guards;
      copy(interface, c, a.data(), b.data());
      EXPECT_EQ(b, expected(c, guards)) << c;
      EXPECT_EQ(a, before) << c;
    }
  }
}

// Elements of B's layout and elements of neither layout are checked; those of A's layout only may
// hold anything.
TEST(BlasMatrixCopy, InPlaceEqualsALoop) {
  for (const Case& c : cases()) {
    const size_t size = std::max(layout_of_a(c).size(), layout_of_b(c).size());
    std::vector<float> filled(size, kGuard);
    fill(c, &filled);
    for (const Interface interface : {Interface::kFortran, Interface::kCblas, Interface::kMkl}) {
      std::vector<float> result = filled;
      copy_in_place(interface, c, result.data());
      std::vector<float> wanted = expected(c, filled);
      const std::vector<float> of_b = expected(c, std::vector<float>(size, kGuard));
      for (size_t i = 0; i < size; ++i) {
        if (filled[i] != kGuard && of_b[i] == kGuard) wanted[i] = result[i];
      }
      EXPECT_EQ(result, wanted) << c;
    }
  }
}

TEST(BlasMatrixCopy, OfAlphaZeroReadsNothing) {
  std::vector<float> a(12, std::numeric_limits<float>::quiet_NaN());
  cblas_simatcopy(kColumnMajor, 112, 3, 4, 0, a.data(), 3, 4);
  EXPECT_EQ(a, std::vector<float>(12, 0.0f));
}

TEST(BlasMatrixCopy, OfNothingSucceeds) {
  cblas_somatcopy(kColumnMajor, 111, 0, 3, 1, nullptr, 1, nullptr, 1);
  EXPECT_EQ(take_report().position, 0);
}

// Beyond the standard: the backend refuses operands that overlap, which then go through a copy of
// A.
TEST(BlasMatrixCopy, ThatOverlapsIsThroughACopy) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6, 7, 8};
  cblas_somatcopy(kColumnMajor, 112, 2, 3, 1, memory.data(), 2, memory.data() + 1, 3);
  EXPECT_EQ(memory, (std::vector<float>{1, 1, 3, 5, 2, 4, 6, 8}));
}

}  // namespace
}  // namespace mygemm_tests
