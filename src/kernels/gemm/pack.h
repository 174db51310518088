// Copies of A and B to the workspace, where each column begins at a multiple of 16 bytes: what
// tensor maps describe. plan/packed.cpp has the products of packed operands. Pure.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm {

// Elements from one packed column of `rows` to the next. Kernels read lines of 128 bytes of L2, of
// which columns are whole numbers where that makes them little longer.
constexpr int64_t packed_ld(int64_t rows, mygemmDataType_t type) {
  constexpr int64_t kLineBytes = 128, kChunkBytes = 16, kMostPadding = 8;  // a kMostPadding-th
  const int64_t line = kLineBytes / element_bytes(type), chunk = kChunkBytes / element_bytes(type);
  const int64_t lines = ceil_div(rows, line) * line;
  return lines - rows <= rows / kMostPadding ? lines : ceil_div(rows, chunk) * chunk;
}

// The packed matrices of A or B of a problem, from `data` on.
constexpr Operand packed_operand(const Operand& x, int64_t rows, int64_t columns, void* data) {
  const int64_t ld = packed_ld(rows, x.type);
  return {data, nullptr, ld, ld * columns, x.type};
}
constexpr Operand packed_a(const GemmProblem& p, void* data) {
  return packed_operand(p.a, p.a_rows(), p.a_cols(), data);
}
constexpr Operand packed_b(const GemmProblem& p, void* data) {
  return packed_operand(p.b, p.b_rows(), p.b_cols(), data);
}

namespace cuda {
// Copies A to *a and B to *b, which are packed_a() and packed_b(); nullptr: not that one. Neither
// is read where alpha is 0. They have no more than kMostPackedBytes.
Status launch_pack(const GemmProblem& p, const Operand* a, const Operand* b, const LaunchContext&);
}  // namespace cuda

constexpr double kMostPackedBytes = 16 * 2147483647.0;  // chunks are counted with 31 bits

}  // namespace mygemm
