// The rules for the arguments of sgemm and of the matrix copies. See arguments.h.
#include "arguments.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace mygemm::blas {
namespace {

using Number = long long;  // int64_t as printf knows it

// Positions of sgemm_'s arguments.
enum Position { kM = 3, kN = 4, kK = 5, kA = 7, kLda = 8, kB = 9, kLdb = 10, kC = 12, kLdc = 13 };

Refusal negative(int position, const char* name, int64_t value) {
  return refuse(position, "%s = %lld is negative", name, Number{value});
}

// A leading dimension and the extent that it must reach.
struct Leading {
  int position;
  const char* name;
  int64_t value;
  const char* extent_name;
  int64_t extent;

  int64_t least() const { return std::max<int64_t>(1, extent); }
  bool too_small() const { return value < least(); }
};

Refusal too_small(const Leading& ld) {
  return refuse(ld.position, "%s = %lld is smaller than max(1, %s) = %lld", ld.name,
                Number{ld.value}, ld.extent_name, Number{ld.least()});
}

Refusal null(int position, const char* name) { return refuse(position, "%s is NULL", name); }

}  // namespace

Transpose read_transpose(char letter) {
  switch (letter) {
    case 'N':
    case 'n': return Transpose::kNo;
    case 'T':
    case 't':
    case 'C':
    case 'c': return Transpose::kYes;
    default: return Transpose::kInvalid;
  }
}

Transpose read_transpose(int cblas_number) {
  switch (cblas_number) {
    case kCblasNoTranspose: return Transpose::kNo;
    case kCblasTranspose:
    case kCblasConjugateTranspose: return Transpose::kYes;
    default: return Transpose::kInvalid;
  }
}

Refusal refuse(int position, const char* format, ...) {
  Refusal refusal{position, ""};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(refusal.why, sizeof refusal.why, format, arguments);
  va_end(arguments);
  return refusal;
}

Refusal check(const Product& p, const Names& names) {
  if (p.m < 0) return negative(kM, names.m, p.m);
  if (p.n < 0) return negative(kN, names.n, p.n);
  if (p.k < 0) return negative(kK, names.k, p.k);
  for (const Leading& ld :
       {Leading{kLda, names.lda, p.lda, p.transa ? names.k : names.m, p.transa ? p.k : p.m},
        Leading{kLdb, names.ldb, p.ldb, p.transb ? names.n : names.k, p.transb ? p.n : p.k},
        Leading{kLdc, "ldc", p.ldc, names.m, p.m}}) {
    if (ld.too_small()) return too_small(ld);
  }
  if (p.changes_nothing()) return {};
  // The name of a matrix is that of its leading dimension without the "ld".
  if (p.reads_inputs() && p.a == nullptr) return null(kA, names.lda + 2);
  if (p.reads_inputs() && p.b == nullptr) return null(kB, names.ldb + 2);
  if (p.c == nullptr) return null(kC, "c");
  return {};
}

Refusal check(const MatrixCopy& copy, bool row_major, int ldb_position) {
  // As the caller sees them.
  const int64_t rows = row_major ? copy.cols : copy.rows;
  const int64_t cols = row_major ? copy.rows : copy.cols;
  if (rows < 0) return negative(3, "rows", rows);
  if (cols < 0) return negative(4, "cols", cols);
  const char* const along_a = row_major ? "cols" : "rows";
  const char* const across_a = row_major ? "rows" : "cols";
  for (const Leading& ld :
       {Leading{7, "lda", copy.lda, along_a, copy.rows},
        Leading{ldb_position, "ldb", copy.ldb, copy.transpose ? across_a : along_a,
                copy.transpose ? copy.cols : copy.rows}}) {
    if (ld.too_small()) return too_small(ld);
  }
  if (rows == 0 || cols == 0) return {};
  // A is not read where alpha is 0; in place it is also written.
  if (copy.a == nullptr && (copy.alpha != 0.0f || copy.b == nullptr)) return null(6, "a");
  if (copy.b == nullptr) return null(8, "b");
  return {};
}

}  // namespace mygemm::blas
