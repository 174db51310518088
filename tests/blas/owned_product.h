// Tests of the drop-in BLAS: a product with memory of its own, and its expected result.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "blas/product.h"
#include "support/random.h"

namespace mygemm::blas {

// A column-major matrix of random values, NaN between its columns.
inline std::vector<float> random_matrix(int64_t rows, int64_t cols, int64_t ld, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(ld * cols),
                            std::numeric_limits<float>::quiet_NaN());
  mygemm_tests::Random random(seed);
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      values[static_cast<size_t>(i + j * ld)] = static_cast<float>(random.real(-1, 1));
    }
  }
  return values;
}

// op(A) is m x k; gaps between the columns hold NaN.
class OwnedProduct {
 public:
  OwnedProduct(bool transa, bool transb, int64_t m, int64_t n, int64_t k, float beta)
      : a_(random_matrix(transa ? k : m, transa ? m : k, (transa ? k : m) + 2, 1)),
        b_(random_matrix(transb ? n : k, transb ? k : n, (transb ? n : k) + 1, 2)),
        c_(random_matrix(m, n, m + 3, 3)),
        before_(c_),
        product_{transa,    transb,
                 m,         n,
                 k,         1.25f,
                 a_.data(), (transa ? k : m) + 2,
                 b_.data(), (transb ? n : k) + 1,
                 beta,      c_.data(),
                 m + 3} {}

  const Product& product() const { return product_; }
  const std::vector<float>& c() const { return c_; }
  void reset() { c_ = before_; }
  bool unchanged() const {
    return std::memcmp(c_.data(), before_.data(), c_.size() * sizeof(float)) == 0;
  }
  // Counts elements that are off, and gaps that have been written.
  int wrong() const {
    int count = 0;
    for (int64_t j = 0; j < product_.n; ++j) {
      for (int64_t i = 0; i < product_.ldc; ++i) {
        const float value = c_[static_cast<size_t>(i + j * product_.ldc)];
        const bool right = i < product_.m ? std::abs(value - expected(i, j)) <= 1e-5 * product_.k
                                          : std::isnan(value);
        count += right ? 0 : 1;
      }
    }
    return count;
  }

 private:
  double expected(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t l = 0; l < product_.k; ++l) {
      sum += static_cast<double>(*product_.a_at(i, l)) * *product_.b_at(l, j);
    }
    const double before = before_[static_cast<size_t>(i + j * product_.ldc)];
    return product_.alpha * sum + (product_.beta == 0 ? 0 : product_.beta * before);
  }

  std::vector<float> a_, b_, c_, before_;
  Product product_;
};

}  // namespace mygemm::blas
