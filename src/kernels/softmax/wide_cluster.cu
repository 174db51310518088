// Softmax of few wide rows: the registers of a cluster of blocks hold a row (wide.h). Lowest SM:
// 90.
//
// A block has whole runs of the row. A warp holds one tile where rows are very few: warps leave
// their tiles' sums in shared memory, and one for each run adds them up. Else it holds a run, in as
// many registers but half as many threads, and more rows are in work at a time. The blocks send
// each other the sums of their runs.
#include "kernels/launch.h"
#include "kernels/softmax/exchange.cuh"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace mygemm {
namespace {

// kHeld: tiles of a warp, at most.
template <class Format, bool kBackward, int kHeld>
__global__ void __launch_bounds__(32 * kWideClusterWarps, kHeld > 1 ? 1 : 2)
    softmax_wide_cluster(const SoftmaxProblem p, const WideRows rows) {
  auto& shared = shared_storage<WideClusterStorage>();
  begin_exchange(shared.runs);
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  const int runs_of_block = rows.runs / static_cast<int>(ptx::cluster_blocks());
  const int first_run = static_cast<int>(ptx::cluster_rank()) * runs_of_block;
  const int run = first_run + warp;
  const auto tile_of_run = [&](int n) { return static_cast<int>(rows.first_tile(n)); };
  const int first_tile = tile_of_run(first_run);
  const int first = kHeld > 1 ? tile_of_run(run) : first_tile + warp;
  const int end = tile_of_run(kHeld > 1 ? run + 1 : first_run + runs_of_block);
  const WideRow<Format> row(p, ptx::cluster_number());

  WideTile<Format, kBackward> tile[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (first + i < end) tile[i].load_from(p, row, first + i);
  }
  const Scale scale(p, Format::kAccurate);
  LaneSum sum;
  float maximum[kHeld];  // against which the exponentials of a tile were computed
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (first + i < end) tile[i].add_to(sum, p, scale);
    maximum[i] = sum.seen.maximum;
  }
  if constexpr (kHeld == 1) {
    shared.lane[warp][lane] = sum.seen;
    __syncthreads();  // the sums of the block's tiles are there
    sum = LaneSum();
    if (warp < runs_of_block) {
      for (int t = tile_of_run(run); t < tile_of_run(run + 1); ++t) {
        sum.add_part<kBackward>(scale, shared.lane[t - first_tile][lane]);
      }
    }
  }
  exchange(shared.runs, rows.runs, warp < runs_of_block ? run : rows.runs,
           sum.run<kBackward>(scale));
  const MaxSum whole = combine_runs<kBackward>(scale, shared.runs.part, rows.runs);
  const RowFactor factor = kBackward ? RowFactor{} : factor_of<kWideExp<Format>>(p, scale, whole);
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (first + i < end) {
      tile[i].write_added(p, scale, row, first + i, maximum[i], whole, factor);
    }
  }
}

}  // namespace

Status cuda::launch_softmax_wide_cluster(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                         const LaunchContext& context) {
  return with_wide_format(config.shape, [&](auto format) {
    using Format = decltype(format);
    const auto run = [&](auto backward) {
      constexpr bool kBackward = decltype(backward)::value;
      if constexpr (Format::kWidths != Widths::kMixed) {
        if (config.held_tiles > 1) {
          return launch(context, softmax_wide_cluster<Format, kBackward, run_tiles(kBackward)>,
                        config, p, config.rows);
        }
      }
      return launch(context, softmax_wide_cluster<Format, kBackward, 1>, config, p, config.rows);
    };
    return p.backward ? run(std::true_type{}) : run(std::false_type{});
  });
}

}  // namespace mygemm
