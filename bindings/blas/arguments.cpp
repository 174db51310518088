// The rules for the arguments of sgemm and of the matrix copies. See arguments.h.
#include "arguments.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>

namespace mygemm::blas {
namespace {

using Number = long long;  // int64_t as printf knows it

// Positions of sgemm_'s arguments.
enum Position { kM = 3, kN = 4, kK = 5, kA = 7, kLda = 8, kB = 9, kLdb = 10, kC = 12, kLdc = 13 };

Refusal check_leading(int position, const char* name, int64_t value, const char* extent_name,
                      int64_t extent) {
  if (value >= std::max<int64_t>(1, extent)) return {};
  return refuse(position, "%s = %lld is smaller than max(1, %s) = %lld", name, Number{value},
                extent_name, Number{std::max<int64_t>(1, extent)});
}

Refusal first(std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    if (refusal.position != 0) return refusal;
  }
  return {};
}

Refusal check_extent(int position, const char* name, int64_t value) {
  if (value >= 0) return {};
  return refuse(position, "%s = %lld is negative", name, Number{value});
}

Refusal check_pointer(int position, const char* name, const void* pointer) {
  return pointer == nullptr ? refuse(position, "%s is NULL", name) : Refusal{};
}

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
  const Refusal refusal = first(
      {check_extent(kM, names.m, p.m), check_extent(kN, names.n, p.n),
       check_extent(kK, names.k, p.k),
       check_leading(kLda, names.lda, p.lda, p.transa ? names.k : names.m, p.transa ? p.k : p.m),
       check_leading(kLdb, names.ldb, p.ldb, p.transb ? names.n : names.k, p.transb ? p.n : p.k),
       check_leading(kLdc, "ldc", p.ldc, names.m, p.m)});
  if (refusal.position != 0 || p.changes_nothing()) return refusal;
  // The matrix is what follows "ld" in the name of its leading dimension.
  if (p.reads_inputs()) {
    if (p.a == nullptr) return check_pointer(kA, names.lda + 2, p.a);
    if (p.b == nullptr) return check_pointer(kB, names.ldb + 2, p.b);
  }
  return check_pointer(kC, "c", p.c);
}

Refusal check(const MatrixCopy& copy, bool row_major, int ldb_position) {
  const char* const rows = row_major ? "cols" : "rows";  // as the caller named them
  const char* const cols = row_major ? "rows" : "cols";
  const Refusal of_rows = check_extent(row_major ? 4 : 3, rows, copy.rows);
  const Refusal of_cols = check_extent(row_major ? 3 : 4, cols, copy.cols);
  const Refusal refusal =
      first({row_major ? of_cols : of_rows, row_major ? of_rows : of_cols,
             check_leading(7, "lda", copy.lda, rows, copy.rows),
             check_leading(ldb_position, "ldb", copy.ldb, copy.transpose ? cols : rows,
                           copy.transpose ? copy.cols : copy.rows)});
  if (refusal.position != 0 || copy.rows == 0 || copy.cols == 0) return refusal;
  return first({check_pointer(6, "a", copy.a), check_pointer(8, "b", copy.b)});
}

}  // namespace mygemm::blas
