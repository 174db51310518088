// Tests of the drop-in BLAS: products by both interfaces against sums in double, what must not be
// read or written, threads, fork.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "blas.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Case {
  bool row_major;
  char transa, transb;
  int m, n, k;
  float alpha, beta;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << (c.row_major ? "row" : "column") << "-major " << c.transa << c.transb << ' ' << c.m
             << 'x' << c.n << 'x' << c.k << " alpha " << c.alpha << " beta " << c.beta;
}

// A matrix in either order, with NaN in the gaps between its lines.
struct Matrix {
  Matrix(bool row_major, int rows, int cols, uint64_t seed)
      : ld((row_major ? cols : rows) + 3), across(row_major ? ld : 1), along(row_major ? 1 : ld) {
    const auto lines = static_cast<size_t>(row_major ? rows : cols);
    values.assign(lines * static_cast<size_t>(ld), kNaN);
    Random random(seed);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) at(i, j) = static_cast<float>(random.real(-1, 1));
    }
  }
  float& at(int i, int j) { return values[static_cast<size_t>(i * across + j * along)]; }

  int ld, across, along;
  std::vector<float> values;
};

int cblas_operation(char letter) {
  return letter == 'N' || letter == 'n' ? 111 : letter == 'T' || letter == 't' ? 112 : 113;
}

class Product {
 public:
  explicit Product(const Case& c)
      : case_(c),
        transposed_a_(cblas_operation(c.transa) != 111),
        transposed_b_(cblas_operation(c.transb) != 111),
        a_(c.row_major, transposed_a_ ? c.k : c.m, transposed_a_ ? c.m : c.k, 1),
        b_(c.row_major, transposed_b_ ? c.n : c.k, transposed_b_ ? c.k : c.n, 2),
        c_(c.row_major, c.m, c.n, 3),
        before_(c_) {}

  void run() {
    if (case_.row_major) {
      cblas_sgemm(kRowMajor, cblas_operation(case_.transa), cblas_operation(case_.transb), case_.m,
                  case_.n, case_.k, case_.alpha, a_.values.data(), a_.ld, b_.values.data(), b_.ld,
                  case_.beta, c_.values.data(), c_.ld);
    } else {
      sgemm_(&case_.transa, &case_.transb, &case_.m, &case_.n, &case_.k, &case_.alpha,
             a_.values.data(), &a_.ld, b_.values.data(), &b_.ld, &case_.beta, c_.values.data(),
             &c_.ld);
    }
  }

  // Counts elements that are off, and gaps that have been written.
  int wrong() {
    int count = 0;
    for (int i = 0; i < case_.m; ++i) {
      for (int j = 0; j < case_.n; ++j) {
        count += std::abs(c_.at(i, j) - expected(i, j)) <= 1e-5 * (1 + case_.k) ? 0 : 1;
        c_.at(i, j) = kNaN;
      }
    }
    for (const float value : c_.values) count += std::isnan(value) ? 0 : 1;
    return count;
  }

  // C as NaN, which beta = 0 must not read.
  void spoil_c() {
    for (float& value : c_.values) value = kNaN;
  }

 private:
  double expected(int i, int j) {
    double sum = 0;
    for (int l = 0; l < case_.k; ++l) {
      const double a = transposed_a_ ? a_.at(l, i) : a_.at(i, l);
      sum += a * (transposed_b_ ? b_.at(j, l) : b_.at(l, j));
    }
    return case_.alpha * sum + (case_.beta == 0 ? 0 : case_.beta * before_.at(i, j));
  }

  Case case_;
  bool transposed_a_, transposed_b_;
  Matrix a_, b_, c_, before_;
};

TEST(BlasSgemm, EqualsSumsInDouble) {
  for (const bool row_major : {false, true}) {
    for (const char transa : {'N', 'T', 'c'}) {
      for (const char transb : {'n', 't', 'C'}) {
        for (const auto& [m, n, k] : {std::array{1, 1, 1}, {17, 5, 33}, {40, 61, 9}}) {
          for (const float beta : {0.0f, 1.0f, -0.5f}) {
            const Case c{row_major, transa, transb, m, n, k, 0.75f, beta};
            Product product(c);
            product.run();
            EXPECT_EQ(product.wrong(), 0) << c;
          }
        }
      }
    }
  }
}

TEST(BlasSgemm, DoesNotReadCWhereBetaIsZero) {
  Product product({false, 'N', 'N', 30, 20, 10, 1, 0});
  product.spoil_c();
  product.run();
  EXPECT_EQ(product.wrong(), 0);
}

TEST(BlasSgemm, ScalesCWhereNothingIsMultiplied) {
  for (const bool row_major : {false, true}) {
    for (const float beta : {0.0f, 1.0f, 2.0f}) {
      Product without_k({row_major, 'N', 'T', 8, 9, 0, 1, beta});
      without_k.run();
      EXPECT_EQ(without_k.wrong(), 0);
      Product without_alpha({row_major, 'N', 'T', 8, 9, 4, 0, beta});
      without_alpha.run();
      EXPECT_EQ(without_alpha.wrong(), 0);
    }
  }
}

TEST(BlasSgemm, NeedsNoMatricesWhereThereIsNothingToDo) {
  cblas_sgemm(kColumnMajor, 111, 111, 0, 5, 5, 1, nullptr, 1, nullptr, 5, 0, nullptr, 1);
  cblas_sgemm(kColumnMajor, 111, 111, 5, 0, 5, 1, nullptr, 5, nullptr, 5, 0, nullptr, 5);
  cblas_sgemm(kColumnMajor, 111, 111, 5, 5, 0, 1, nullptr, 5, nullptr, 1, 1, nullptr, 5);
  EXPECT_EQ(take_report().position, 0);
}

// The standard leaves this open; the reference BLAS computes what its loops compute.
TEST(BlasSgemm, OperandsThatOverlapAreNoError) {
  std::vector<float> values{1, 2, 3, 4};
  cblas_sgemm(kColumnMajor, 111, 111, 1, 1, 2, 1, values.data(), 1, values.data() + 2, 2, 1,
              values.data(), 1);
  EXPECT_EQ(values[0], 1 + 1 * 3 + 4 * 2);
}

TEST(BlasSgemm, MayBeCalledByManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, t] {
      for (int round = 0; round < 8; ++round) {
        Product product({t % 2 == 0, 'N', 'T', 20 + round, 30, 12, 1, 0.5f});
        product.run();
        wrong[t] += product.wrong();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// Large enough for threads on the host.
TEST(BlasSgemm, WorksInAChildOfAProcessThatHasUsedIt) {
  const Case c{false, 'T', 'N', 150, 140, 130, 1, 0.5f};
  Product before(c);
  before.run();
  EXPECT_EQ(before.wrong(), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a child that waits for threads it does not have would wait for ever
    Product product(c);
    product.run();
    _exit(product.wrong() == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mygemm_tests
