// The warp-tiled product with 64 x 64 block tiles, alone and with k split over blocks: split
// products write partial sums to the workspace, and a second kernel adds them in a fixed order.
#include "kernels/gemm/splitk.h"
#include "kernels/gemm/warptiled.cuh"
#include "kernels/rows.h"

namespace mygemm {
namespace {

constexpr int kReduceThreads = 256;

// One thread per element of C: sums partials[split] for split = 0, 1, ... in that order.
__global__ void __launch_bounds__(kReduceThreads)
    add_partials(const GemmProblem p, const int64_t splits, const float* partials) {
  const float alpha = load_scalar(p.alpha), beta = load_scalar(p.beta);
  const int64_t elements = p.m * p.n * p.batch_count;
  for (int64_t e = int64_t{blockIdx.x} * kReduceThreads + threadIdx.x; e < elements;
       e += int64_t{gridDim.x} * kReduceThreads) {
    float sum = 0.0f;
    for (int64_t split = 0; split < splits; ++split) sum += partials[split * elements + e];
    const int64_t i = e % p.m, j = e / p.m % p.n, batch = e / p.m / p.n;
    store_result(p.c.matrix(batch) + i + j * p.c.ld, sum, alpha, beta);
  }
}

}  // namespace

Status cuda::launch_gemm_warptiled_64x64(const GemmRow&, const GemmProblem& p,
                                         const LaunchContext& context) {
  return launch_warptiled<Tile64x64>(p, 1, nullptr, context);
}

Status cuda::launch_gemm_splitk_64x64(const GemmRow& row, const GemmProblem& p,
                                      const LaunchContext& context) {
  const int64_t splits =
      splitk_fitting(p, splitk_count(row, p, *context.device), context.workspace_bytes);
  float* partials = static_cast<float*>(context.workspace);
  RETURN_IF_ERROR(launch_warptiled<Tile64x64>(p, splits, partials, context));
  const int64_t elements = p.m * p.n * p.batch_count;
  return launch(context, add_partials, grid_size(ceil_div(elements, kReduceThreads)),
                kReduceThreads, 0, p, splits, static_cast<const float*>(partials));
}

}  // namespace mygemm
