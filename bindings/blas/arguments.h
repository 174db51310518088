// The rules of BLAS for the arguments of sgemm and of the matrix copies: which one is wrong, and
// why.
#pragma once

#include <cstdint>

#include "product.h"

namespace mygemm::blas {

// Numbers of CBLAS's enumerations.
enum CblasNumber : int {
  kCblasRowMajor = 101,
  kCblasColumnMajor = 102,
  kCblasNoTranspose = 111,
  kCblasTranspose = 112,
  kCblasConjugateTranspose = 113,
  kCblasConjugate = 114
};

enum class Transpose { kNo, kYes, kInvalid };

// N, T and C of sgemm, in either case. Real matrices: C is T.
Transpose read_transpose(char letter);
Transpose read_transpose(int cblas_number);

// An argument that is refused: its position, from 1, and a sentence. Position 0: none is.
struct Refusal {
  int position = 0;
  char why[160] = "";
};

[[gnu::format(printf, 2, 3)]] Refusal refuse(int position, const char* format, ...);

// The caller's names of the extents and leading dimensions of a product.
struct Names {
  const char *m, *n, *k, *lda, *ldb;
};
inline constexpr Names kColumnMajorNames{"m", "n", "k", "lda", "ldb"};
// Row-major, C^T = op(B)^T op(A)^T is computed: the operands and the extents change places.
inline constexpr Names kRowMajorNames{"n", "m", "k", "ldb", "lda"};

// Checks what follows transa and transb, with the positions of sgemm_'s arguments, in the order of
// the reference BLAS. Where there is something to do, pointers to it must not be NULL.
Refusal check(const Product& product, const Names& names);

// A matrix copy: B = alpha * op(A), A being rows x cols and column-major. In place: b = a.
struct MatrixCopy {
  bool transpose;
  int64_t rows, cols;
  float alpha;
  const float* a;
  int64_t lda;
  float* b;
  int64_t ldb;
};

// Positions are those of somatcopy_'s arguments, except that of ldb, which simatcopy_ has
// elsewhere. row_major: the caller's rows are the columns here.
Refusal check(const MatrixCopy& copy, bool row_major, int ldb_position);

}  // namespace mygemm::blas
