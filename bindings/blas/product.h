// A matrix product inside the drop-in BLAS: column-major, its arguments checked.
#pragma once

#include <cstdint>

#include "mygemm/mygemm.h"

namespace mygemm::blas {

inline mygemmOperation_t operation(bool transpose) { return transpose ? MYGEMM_OP_T : MYGEMM_OP_N; }

// A rectangle of a column-major matrix.
struct Rect {
  int64_t row, col;
  int64_t rows, cols;
};

// A rectangle of a rectangle, in the matrix of the latter.
inline Rect within(const Rect& outer, const Rect& inner) {
  return {outer.row + inner.row, outer.col + inner.col, inner.rows, inner.cols};
}

// C = alpha * op(A) * op(B) + beta * C in host memory; see mygemm_sgemm().
struct Product {
  bool transa, transb;
  int64_t m, n, k;
  float alpha;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float beta;
  float* c;
  int64_t ldc;

  bool reads_inputs() const { return k > 0 && alpha != 0.0f; }
  bool changes_nothing() const { return m == 0 || n == 0 || (!reads_inputs() && beta == 1.0f); }

  // Where element (i, l) of op(A), and (l, j) of op(B), lies.
  const float* a_at(int64_t i, int64_t l) const {
    return transa ? a + l + i * lda : a + i + l * lda;
  }
  const float* b_at(int64_t l, int64_t j) const {
    return transb ? b + j + l * ldb : b + l + j * ldb;
  }

  // The product that computes this part of C.
  Product part(const Rect& rect) const {
    Product result = *this;
    result.m = rect.rows;
    result.n = rect.cols;
    if (reads_inputs()) {
      result.a = a_at(rect.row, 0);
      result.b = b_at(0, rect.col);
    }
    result.c = c + rect.row + rect.col * ldc;
    return result;
  }
};

}  // namespace mygemm::blas
