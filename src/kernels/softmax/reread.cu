// Softmax of wide rows without workspace and clusters: a block reads its row twice, first for the
// sums in the order of wide.h, then for the results.
#include "kernels/launch.h"
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kWarps = kRereadThreads / 32;

// Blocks per multiprocessor for which the compiler limits the registers.
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__)
  return reread_residency(sm_resources(__CUDA_ARCH__ / 10));
#else
  return 1;
#endif
}

template <class Format, bool kBackward>
__global__ void __launch_bounds__(kRereadThreads, blocks_per_sm())
    softmax_reread(const SoftmaxProblem p, const WideRows rows) {
  auto& shared = shared_storage<RereadStorage>();
  const Scale scale(p, Format::kAccurate);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const WideRow<Format> row(p, r);
    WideTile<Format, kBackward> tile;
    for (int run = warp; run < rows.runs; run += kWarps) {
      LaneSum sum;
      for (int64_t t = rows.first_tile(run); t < rows.first_tile(run + 1); ++t) {
        tile.load_from(p, row, t);
        tile.add_to(sum, p, scale);
      }
      const MaxSum whole_run = sum.run<kBackward>(scale);
      if (threadIdx.x % 32 == 0) shared.run[run] = whole_run;
    }
    __syncthreads();  // every run's sum is there
    const MaxSum whole = combine_runs<kBackward>(scale, shared.run, rows.runs);
    RowFactor factor{};
    if (!kBackward) factor = factor_of<kWideExp<Format>>(p, scale, whole);
    for (int64_t t = warp; t < rows.tiles; t += kWarps) {
      tile.load_from(p, row, t);
      tile.write(p, scale, row, t, whole, factor);
    }
    __syncthreads();  // the runs' sums are read before the next row's come
  }
}

}  // namespace

Status cuda::launch_softmax_reread(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                   const LaunchContext& context) {
  return with_wide_format(config.shape, [&](auto format) {
    using Format = decltype(format);
    const auto kernel = p.backward ? softmax_reread<Format, true> : softmax_reread<Format, false>;
    return launch(context, kernel, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p, config.rows);
  });
}

}  // namespace mygemm
