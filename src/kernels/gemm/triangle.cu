// Triangles of D from whole sums: a block takes a column, whose filled part is one run of memory.
#include "kernels/gemm/triangle.h"

#include "kernels/epilogue.cuh"
#include "kernels/launch.h"

namespace mygemm {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    store_triangle(const GemmProblem p, const WholeSums sums) {
  const Scalars scalars(p);
  const ScaleEpilogue epilogue{scalars.alpha, scalars.beta};
  const bool counts = effective_k(p, scalars.alpha) > 0;  // alpha * NaN must not, where alpha = 0
  for (int64_t at = blockIdx.x; at < p.n * p.batch_count; at += gridDim.x) {
    const int64_t j = at % p.n, matrix = at / p.n;
    const float* sum = sums.data + matrix * sums.stride + j * sums.ld;
    const float* c = p.c.matrix<const float>(matrix) + j * p.c.ld;
    float* d = p.d.matrix<float>(matrix) + j * p.d.ld;
    const auto [begin, end] = p.filled_rows(j);
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
      d[i] = epilogue.finish(0, 0, counts ? sum[i] : 0.0f, c + i);
    }
  }
}

}  // namespace

Status cuda::launch_triangle(const GemmProblem& p, const WholeSums& sums,
                             const LaunchContext& context) {
  return launch(context, store_triangle, grid_size(p.n * p.batch_count), kThreads, 0, p, sums);
}

}  // namespace mygemm
