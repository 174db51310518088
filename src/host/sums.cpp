// Sums of the rows or columns of a product's matrices, in FP64. Host backend.
#include "kernels/gemm/sums.h"

#include <algorithm>

#include "host/parallel.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

constexpr int64_t kRows = 64;  // that a task adds up side by side

template <class Type>
double element(const typename Type::Storage* x) {
  return static_cast<double>(load_float<Type>(x));
}

// sums[i] = sum over l of x[i + l * ld], for up to kRows rows.
template <class Type>
void add_columns(const typename Type::Storage* x, int64_t ld, int64_t rows, int64_t columns,
                 float* sums) {
  double sum[kRows] = {};
  for (int64_t l = 0; l < columns; ++l, x += ld) {
    for (int64_t i = 0; i < rows; ++i) sum[i] += element<Type>(x + i);
  }
  for (int64_t i = 0; i < rows; ++i) sums[i] = static_cast<float>(sum[i]);
}

template <class Type>
float add_line(const typename Type::Storage* x, int64_t length) {
  constexpr int64_t kSums = 16;
  double sum[kSums] = {};
  int64_t l = 0;
  for (; l + kSums <= length; l += kSums) {
    for (int64_t i = 0; i < kSums; ++i) sum[i] += element<Type>(x + l + i);
  }
  for (; l < length; ++l) sum[0] += element<Type>(x + l);
  double all = 0;
  for (const double part : sum) all += part;
  return static_cast<float>(all);
}

// The sums of rows `first` to first + rows - 1 of the summed matrix.
template <class Type>
void add_rows(const SummedMatrix& x, int64_t matrix, int64_t first, int64_t rows, float* sums) {
  const int64_t ld = x.matrix.ld;
  const auto* from = x.matrix.matrix<const typename Type::Storage>(matrix);
  if (x.trans) {
    for (int64_t i = 0; i < rows; ++i) sums[i] = add_line<Type>(from + (first + i) * ld, x.k);
  } else {
    add_columns<Type>(from + first, ld, rows, x.k, sums);
  }
}

}  // namespace

Status launch_sums(const GemmProblem& p) {
  const SummedMatrix x = summed_matrix(p);
  const double bytes = 4.0 * static_cast<double>(x.m) * static_cast<double>(x.k) *
                       static_cast<double>(p.batch_count);
  const int64_t tasks = ceil_div(x.m, kRows);
  parallel_for(tasks * p.batch_count, threads_for(bytes, kBytesPerThread), [&](int64_t task, int) {
    const int64_t matrix = task / tasks, first = task % tasks * kRows;
    const int64_t rows = std::min(kRows, x.m - first);
    float* const sums = p.sums.data + matrix * p.sums.stride + first;
    if (x.k == 0) {
      std::fill_n(sums, rows, 0.0f);
    } else {
      with_type(x.matrix.type,
                [&](auto type) { add_rows<decltype(type)>(x, matrix, first, rows, sums); });
    }
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
