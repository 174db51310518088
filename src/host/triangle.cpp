// Triangles of D from whole sums. Host backend.
#include "kernels/gemm/triangle.h"

#include "host/parallel.h"

namespace mygemm {

Status host::launch_triangle(const GemmProblem& p, const WholeSums& sums) {
  const float alpha = p.epilogue.alpha.value, beta = p.epilogue.beta.value;
  const double bytes = 8.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.batch_count);
  parallel_for(p.n * p.batch_count, threads_for(bytes, kBytesPerThread), [&](int64_t at, int) {
    const int64_t j = at % p.n, matrix = at / p.n;
    const float* sum = sums.data + matrix * sums.stride + j * sums.ld;
    const float* c = p.c.matrix<const float>(matrix) + j * p.c.ld;
    float* d = p.d.matrix<float>(matrix) + j * p.d.ld;
    const auto [begin, end] = p.filled_rows(j);
    for (int64_t i = begin; i < end; ++i) {
      d[i] = beta == 0.0f ? alpha * sum[i] : alpha * sum[i] + beta * c[i];
    }
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
