// Split-K: a second kernel adds the partial sums that the first one left in the workspace, dense,
// (split, batch, n, m), and applies the epilogue.
#include "kernels/gemm/partials.h"

#include "kernels/epilogue.cuh"
#include "kernels/launch.h"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kReduceThreads = 256;

// kGroups groups of threads share the splits of kReduceThreads / kGroups neighbouring elements of
// D. Group g sums partials[g], partials[g + kGroups], ... in that order, and the groups' sums are
// added in the order of the groups.
template <int kGroups, class T>
__global__ void __launch_bounds__(kReduceThreads)
    add_partials(const GemmProblem p, const int64_t splits, const float* partials) {
  constexpr int kElements = kReduceThreads / kGroups;
  using Sums = float[kGroups][kElements];
  const int group = static_cast<int>(threadIdx.x) / kElements;
  const int of_block = static_cast<int>(threadIdx.x) % kElements;
  const int64_t elements = p.m * p.n * p.batch_count;
  const int64_t e = int64_t{blockIdx.x} * kElements + of_block;
  const int64_t i = e % p.m, j = e / p.m % p.n, batch = e / p.m / p.n;
  ptx::wait_for_previous_grid();  // behind the divisions, so that they overlap it
  const Scalars scalars(p);
  float sum = 0.0f;
  if (e < elements) {
#pragma unroll 8
    for (int64_t split = group; split < splits; split += kGroups) {
      sum += partials[split * elements + e];
    }
  }
  if constexpr (kGroups > 1) {
    auto& sums = shared_storage<Sums>();
    sums[group][of_block] = sum;
    __syncthreads();
    if (group > 0) return;
    sum = sums[0][of_block];
#pragma unroll
    for (int other = 1; other < kGroups; ++other) sum += sums[other][of_block];
  }
  if (e >= elements) return;
  T* d = p.d.matrix<T>(batch) + i + j * p.d.ld;
  with_epilogue<T>(p, scalars, {batch, i, j},
                   [&](const auto& epilogue) { store_result(d, 0, 0, sum, epilogue); });
}

}  // namespace

// A thread alone has the latency of one load after another, eight of them at once.
Status cuda::launch_add_partials(const GemmProblem& p, const GemmConfig& config,
                                 const LaunchContext& context) {
  constexpr int kMany = 8;
  const int groups = config.splits >= kMany ? kMany : 1;
  LaunchShape shape;
  shape.blocks = grid_size(ceil_div(p.m * p.n * p.batch_count, kReduceThreads / groups));
  shape.threads = kReduceThreads;
  shape.shared_bytes = groups > 1 ? kReduceThreads * static_cast<int>(sizeof(float)) : 0;
  shape.may_overlap = true;
  const auto kernel = with_element_type(p.d.type, [&](auto d) {
    return groups > 1 ? add_partials<kMany, decltype(d)> : add_partials<1, decltype(d)>;
  });
  return launch(context, kernel, shape, p, config.splits,
                static_cast<const float*>(context.workspace));
}

}  // namespace mygemm
