// Softmax of few or very wide rows, each divided among many blocks. The first grid writes the sum
// of each run (wide.h) to the workspace; the second one combines them and writes the results. The
// second grid begins while the first one ends, and loads its first tiles meanwhile.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/wide.cuh"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// Blocks per multiprocessor for which the compiler limits the registers: on Hopper one block of
// each grid, so that the second grid can begin. 64 registers are too few for the sums of 16-bit
// elements and the results of their gradients.
template <class Format, bool kBackward, bool kResults>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  return 1;
#else
  return Format::kNarrowest == 2 && kBackward == kResults ? 1 : 2;
#endif
}

// The runs and tiles that a block computes.
struct OwnRuns {
  int64_t row, first_tile, last_tile;
  int first_run, last_run;

  __device__ OwnRuns(const WideRows& rows, const SplitRows& split) {
    row = blockIdx.x / split.blocks_of_row;
    first_run = static_cast<int>(blockIdx.x % split.blocks_of_row) * split.runs_of_block;
    last_run =
        first_run + split.runs_of_block < rows.runs ? first_run + split.runs_of_block : rows.runs;
    first_tile = rows.first_tile(first_run);
    last_tile = rows.first_tile(last_run);
  }
};

template <class Format, bool kBackward>
__global__ void __launch_bounds__(kSplitThreads, blocks_per_sm<Format, kBackward, false>())
    softmax_split_sums(const SoftmaxProblem p, const WideRows rows, const SplitRows split,
                       MaxSum* runs) {
  auto& shared = shared_storage<SplitStorage>();
  ptx::launch_dependents();
  const Scale scale(p, Format::kAccurate);
  const OwnRuns own(rows, split);
  const WideRow<Format> row(p, own.row);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int run = own.first_run + warp;
  const int64_t run_first = rows.first_tile(run), run_last = rows.first_tile(run + 1);
  LaneSum sum;
  WideTile<Format, kBackward> tile;
  if (split.run_for_each_warp) {
    if (run >= own.last_run) return;
    for (int64_t t = run_first; t < run_last; ++t) {
      tile.load_from(p, row, t);
      tile.add_to(sum, p, scale);
    }
  } else {
    // Each warp sums up one tile; then warp w adds the tiles' sums, lane by lane, to run
    // first_run + w.
    int parity = 0;
    for (int64_t first = own.first_tile; first < own.last_tile; first += kSplitWarps) {
      auto& tiles = shared.lane[parity];
      if (first + warp < own.last_tile) {
        LaneSum of_tile;
        tile.load_from(p, row, first + warp);
        tile.add_to(of_tile, p, scale);
        tiles[warp][lane] = of_tile.seen;
      }
      __syncthreads();  // the tiles' sums are there; those of the batch before have been read
      if (run < own.last_run) {
        for (int t = 0; t < kSplitWarps; ++t) {
          if (run_first <= first + t && first + t < run_last) {
            sum.add_part<kBackward>(scale, tiles[t][lane]);
          }
        }
      }
      parity ^= 1;
    }
    if (run >= own.last_run) return;
  }
  const MaxSum whole_run = sum.run<kBackward>(scale);
  if (lane == 0) runs[own.row * rows.runs + run] = whole_run;
}

template <class Format, bool kBackward>
__global__ void __launch_bounds__(kSplitThreads, blocks_per_sm<Format, kBackward, true>())
    softmax_split_results(const SoftmaxProblem p, const WideRows rows, const SplitRows split,
                          const MaxSum* runs) {
  const Scale scale(p, Format::kAccurate);
  const OwnRuns own(rows, split);
  const WideRow<Format> row(p, own.row);
  // The last batch of tiles first: the first grid read it last, and it is still in the cache.
  const int64_t batches = ceil_div(own.last_tile - own.first_tile, int64_t{kSplitWarps});
  int64_t t = own.first_tile + (batches - 1) * kSplitWarps + threadIdx.x / 32;
  MaxSum whole;
  RowFactor factor{};
#pragma unroll 1
  for (bool first = true; t >= own.first_tile; t -= kSplitWarps, first = false) {
    WideTile<Format, kBackward> tile;
    tile.load_from(p, row, t);
    if (first) {
      ptx::wait_for_previous_grid();
      whole = combine_runs<kBackward>(scale, runs + own.row * rows.runs, rows.runs);
      if (!kBackward) factor = factor_of<kWideExp<Format>>(p, scale, whole);
    }
    if (t < own.last_tile) tile.write(p, scale, row, t, whole, factor);
  }
}

}  // namespace

Status cuda::launch_softmax_split(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                  const LaunchContext& context) {
  auto* runs = static_cast<MaxSum*>(context.workspace);
  return with_wide_format(config.shape, [&](auto format) {
    using Format = decltype(format);
    LaunchShape shape;
    shape.blocks = static_cast<unsigned>(config.blocks);
    shape.threads = config.threads;
    shape.shared_bytes = config.shared_bytes;
    RETURN_IF_ERROR(launch(
        context, p.backward ? softmax_split_sums<Format, true> : softmax_split_sums<Format, false>,
        shape, p, config.rows, config.split, runs));
    shape.shared_bytes = 0;
    shape.may_overlap = true;
    return launch(
        context,
        p.backward ? softmax_split_results<Format, true> : softmax_split_results<Format, false>,
        shape, p, config.rows, config.split, static_cast<const MaxSum*>(runs));
  });
}

}  // namespace mygemm
