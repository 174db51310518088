// Leading dimensions and strides that place no element.
#include "tighten.h"

#include <algorithm>

namespace mygemm {
namespace {

// The smallest multiple of 16 bytes that holds a column; the column itself where that overflows.
int64_t aligned_column(int64_t rows, mygemmDataType_t type) {
  const int64_t elements = 16 / element_bytes(type);
  const int64_t smallest = std::max<int64_t>(1, rows);
  return smallest > INT64_MAX - elements ? smallest : ceil_div(smallest, elements) * elements;
}

void tighten(int64_t rows, int64_t columns, int64_t batch_count, Operand* x) {
  if (columns <= 1) x->ld = aligned_column(rows, x->type);
  if (batch_count <= 1) x->stride = 0;
}

// `lines` contiguous lines of `length` elements.
void tighten_lines(int64_t lines, int64_t length, int64_t* ld) {
  if (lines <= 1) *ld = std::max<int64_t>(1, length);
}

}  // namespace

GemmProblem tightened(GemmProblem p) {
  tighten(p.a_rows(), p.a_cols(), p.batch_count, &p.a);
  tighten(p.b_rows(), p.b_cols(), p.batch_count, &p.b);
  tighten(p.m, p.n, p.batch_count, &p.c);
  tighten(p.m, p.n, p.batch_count, &p.d);
  if (p.batch_count <= 1) p.epilogue.stride_bias = p.epilogue.stride_aux = p.sums.stride = 0;
  p.update_fused();
  return p;
}

SoftmaxProblem tightened(SoftmaxProblem p) {
  for (TypedMatrix* matrix : {&p.in, &p.dy, &p.out}) tighten_lines(p.rows, p.cols, &matrix->ld);
  if (p.masking && p.masking->changes_nothing()) p.masking = nullptr;
  return p;
}

CrossEntropyProblem tightened(CrossEntropyProblem p) {
  for (TypedMatrix* matrix : {&p.x, &p.dx}) tighten_lines(p.rows, p.cols, &matrix->ld);
  if (p.rows <= 1) p.stride_dloss = 0;
  return p;
}

TransposeProblem tightened(TransposeProblem p) {
  tighten_lines(p.rows, p.cols, &p.ldin);
  tighten_lines(p.cols, p.rows, &p.ldout);
  if (p.batch_count <= 1) p.stride_in = p.stride_out = 0;
  return p;
}

}  // namespace mygemm
