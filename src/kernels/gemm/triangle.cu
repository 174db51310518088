// Triangles of D from whole sums: a block takes a column, whose filled part is one run of memory.
#include "kernels/gemm/triangle.h"

#include "kernels/epilogue.cuh"
#include "kernels/launch.h"

namespace mygemm {
namespace {

constexpr int kThreads = 128;

// T: the elements of C and D.
template <class T>
__global__ void __launch_bounds__(kThreads)
    store_triangle(const GemmProblem p, const WholeSums sums) {
  const Scalars scalars(p);
  const ScaleEpilogue epilogue{scalars.alpha, scalars.beta};
  const bool counts = effective_k(p, scalars.alpha) > 0;  // alpha * NaN must not, where alpha = 0
  for (int64_t at = blockIdx.x; at < p.n * p.batch_count; at += gridDim.x) {
    const int64_t j = at % p.n, matrix = at / p.n;
    const float* sum = sums.data + matrix * sums.stride + j * sums.ld;
    const T* c = p.c.matrix<const T>(matrix) + j * p.c.ld;
    T* d = p.d.matrix<T>(matrix) + j * p.d.ld;
    const auto [begin, end] = p.filled_rows(j);
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
      d[i] = from_float<T>(epilogue.finish(0, 0, counts ? sum[i] : 0.0f, c + i));
    }
  }
}

}  // namespace

Status cuda::launch_triangle(const GemmProblem& p, const WholeSums& sums,
                             const LaunchContext& context) {
  const auto kernel =
      with_element_type(p.d.type, [](auto d) { return store_triangle<decltype(d)>; });
  return launch(context, kernel, grid_size(p.n * p.batch_count), kThreads, 0, p, sums);
}

}  // namespace mygemm
