// Split-K: a second kernel adds the partial sums that the first one left in the workspace, dense,
// (split, batch, n, m), and applies the epilogue.
#include "kernels/gemm/partials.h"

#include "kernels/epilogue.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "ptx/grid.cuh"

namespace mygemm {
namespace {

constexpr int kReduceThreads = 256;

// kLanes threads for each element of D: lane i sums partials[i], partials[i + kLanes], ... in that
// order, and the lanes' sums are added in a fixed tree.
template <int kLanes, class T>
__global__ void __launch_bounds__(kReduceThreads)
    add_partials(const GemmProblem p, const int64_t splits, const float* partials) {
  static_assert(kLanes == 1 || kLanes == 32);
  const int64_t elements = p.m * p.n * p.batch_count;
  const int64_t e = (int64_t{blockIdx.x} * kReduceThreads + threadIdx.x) / kLanes;
  const auto lane = static_cast<int64_t>(threadIdx.x) % kLanes;
  if (e >= elements) return;  // where lanes share an element, whole warps return
  const int64_t i = e % p.m, j = e / p.m % p.n, batch = e / p.m / p.n;
  ptx::wait_for_previous_grid();  // behind the divisions, so that they overlap it
  const Scalars scalars(p);
  T* d = p.d.matrix<T>(batch) + i + j * p.d.ld;
  float sum = 0.0f;
#pragma unroll 8
  for (int64_t split = lane; split < splits; split += kLanes) {
    sum += partials[split * elements + e];
  }
  if constexpr (kLanes == 32) sum = warp_reduce<Sum>(sum);
  if (lane > 0) return;
  with_epilogue<T>(p, scalars, {batch, i, j},
                   [&](const auto& epilogue) { store_result(d, 0, 0, sum, epilogue); });
}

}  // namespace

// For many splits of few elements, a thread alone has the latency of one load after another.
Status cuda::launch_add_partials(const GemmProblem& p, const GemmConfig& config,
                                 const LaunchContext& context) {
  const bool in_warps = config.splits >= 32;
  const int64_t threads = p.m * p.n * p.batch_count * (in_warps ? 32 : 1);
  LaunchShape shape;
  shape.blocks = grid_size(ceil_div(threads, kReduceThreads));
  shape.threads = kReduceThreads;
  shape.may_overlap = true;
  const auto kernel = with_element_type(p.d.type, [&](auto d) {
    return in_warps ? add_partials<32, decltype(d)> : add_partials<1, decltype(d)>;
  });
  return launch(context, kernel, shape, p, config.splits,
                static_cast<const float*>(context.workspace));
}

}  // namespace mygemm
