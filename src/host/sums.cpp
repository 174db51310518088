// Sums of the rows or columns of a product's matrices, in FP64. Host backend.
#include "kernels/gemm/sums.h"

#include <algorithm>

#include "host/parallel.h"

namespace mygemm::host {
namespace {

constexpr int64_t kRows = 64;  // that a task adds up side by side

// sums[i] = sum over l of x[i + l * ld], for up to kRows rows.
void add_columns(const float* x, int64_t ld, int64_t rows, int64_t columns, float* sums) {
  double sum[kRows] = {};
  for (int64_t l = 0; l < columns; ++l, x += ld) {
    for (int64_t i = 0; i < rows; ++i) sum[i] += static_cast<double>(x[i]);
  }
  for (int64_t i = 0; i < rows; ++i) sums[i] = static_cast<float>(sum[i]);
}

float add_line(const float* x, int64_t length) {
  constexpr int64_t kSums = 16;
  double sum[kSums] = {};
  int64_t l = 0;
  for (; l + kSums <= length; l += kSums) {
    for (int64_t i = 0; i < kSums; ++i) sum[i] += static_cast<double>(x[l + i]);
  }
  for (; l < length; ++l) sum[0] += static_cast<double>(x[l]);
  double all = 0;
  for (const double part : sum) all += part;
  return static_cast<float>(all);
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
    } else if (x.trans) {
      const float* line = x.matrix.matrix<const float>(matrix) + first * x.matrix.ld;
      for (int64_t i = 0; i < rows; ++i) sums[i] = add_line(line + i * x.matrix.ld, x.k);
    } else {
      add_columns(x.matrix.matrix<const float>(matrix) + first, x.matrix.ld, rows, x.k, sums);
    }
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
