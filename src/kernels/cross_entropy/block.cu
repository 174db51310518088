// Cross entropy of rows that a block has for itself. Where there is a warp for each tile, tiles
// stay in registers between the row's sum and its gradient (the block kernel); else the block reads
// the row twice (the reread kernel).
#include "kernels/cross_entropy/kernels.h"
#include "kernels/cross_entropy/tiles.cuh"
#include "kernels/launch.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// The run that a tile belongs to where no run has two.
__device__ __forceinline__ int run_of_tile(const WideRows& rows, int tile) {
  const auto tiles = static_cast<int>(rows.tiles);
  return ((tile + 1) * rows.runs + tiles - 1) / tiles - 1;
}

// One warp leaves what it knows of a run.
template <class Format>
__device__ __forceinline__ void leave_run(const Scale& scale, const CrossEntropyProblem& p,
                                          const LaneLoss<Format>& lane, int run,
                                          RowStorage& shared) {
  const MaxSum whole_run = lane.sum.template run<false>(scale);
  float mean = 0.0f;
  if (p.label_smoothing > 0.0f) mean = warp_reduce<Sum>(lane.mean);
  if (threadIdx.x % 32 == 0) {
    shared.run[run] = whole_run;
    shared.mean[run] = mean;
  }
}

// Blocks of a multiprocessor for which the compiler limits the registers. (With 64 of them the held
// logits of 16 bits would be spilled before SM 90.)
template <class Format, bool kHeld>
__device__ __host__ constexpr int register_blocks() {
  if (Format::kWidths == Widths::kFp32) return 2;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (kHeld && Format::kWidths == Widths::k16Bit) return 2;
#endif
  return 1;
}

template <class Format, bool kHeld>
__global__ void __launch_bounds__(kRowThreads, (register_blocks<Format, kHeld>()))
    cross_entropy_block(const CrossEntropyProblem p, const WideRows rows) {
  auto& shared = shared_storage<RowStorage>();
  const SoftmaxProblem s = p.softmax();
  const Scale scale = logit_scale(p);
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int threads = static_cast<int>(blockDim.x);
  for (int run = static_cast<int>(threadIdx.x); kHeld && run < rows.runs; run += threads) {
    shared.run[run] = {-INFINITY, 0.0f};  // those without a tile stay so
    shared.mean[run] = 0.0f;
  }
  if (kHeld) __syncthreads();  // before warps write theirs
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const WideRow<Format> row(s, r);
    const Target target(p, p.target(r));
    const TargetPlace<Format> place(target, row);
    WideTile<Format, false> tile;
    float maximum = -INFINITY;  // that the exponentials in `tile` are against
    const auto add = [&](LaneLoss<Format>& lane, int t) {
      tile.load_from(s, row, t);
      if (t == place.tile) {
        const float taken = place.take(tile.x, p.x.type);
        if (threadIdx.x % 32 == 0) shared.target = taken;
      }
      maximum = lane.add(p, scale, tile.x, t, row.place(t), place);
    };
    if constexpr (kHeld) {
      LaneLoss<Format> lane;
      add(lane, warp);
      leave_run(scale, p, lane, run_of_tile(rows, warp), shared);
    } else {
      for (int run = warp; run < rows.runs; run += warps) {
        LaneLoss<Format> lane;
        const auto first = static_cast<int>(rows.first_tile(run));
        const auto end = static_cast<int>(rows.first_tile(run + 1));
        for (int t = first; t < end; ++t) add(lane, t);
        leave_run(scale, p, lane, run, shared);
      }
    }
    __syncthreads();  // every run's sum is there
    const MaxSum others = combine_runs<false>(scale, shared.run, rows.runs);
    float mean = 0.0f;
    if (p.label_smoothing > 0.0f) {
      mean = combine_means(rows.runs, [&](int run) { return shared.mean[run]; });
    }
    const LossParts parts = parts_of<kLossExp<Format>>(scale, target, others, shared.target);
    if (threadIdx.x == 0) store_loss(p, r, target, parts, mean);
    const auto write = [&](const RowGradient& gradient, int t) {
      if constexpr (Format::kKeepsFloats) {
        finish_tile<Format>(scale, tile.x, maximum, gradient);
      } else {
        finish_logits<Format>(p, scale, tile.x, gradient);
      }
      store(tile.x, row.address(p.dx, t), p.dx.type, row.place(t));
      if (t == place.tile) write_target(p, gradient, r, target, place);
    };
    if (p.has_gradient()) {
      const RowGradient gradient =
          gradient_of_row<kLossExp<Format>>(p, scale, target, parts, p.weight(r));
      if constexpr (kHeld) {
        write(gradient, warp);
      } else {
        __syncthreads();  // the target is read before it is written again
        for (int t = warp; t < rows.tiles; t += warps) {
          if constexpr (Format::kKeepsFloats) {
            LaneLoss<Format> lane;  // for the exponentials alone
            add(lane, t);
          } else {
            tile.load_from(s, row, t);
          }
          write(gradient, t);
        }
      }
    }
    __syncthreads();  // the runs' sums are read before the next row's come
  }
}

template <bool kHeld>
Status launch_rows(const CrossEntropyProblem& p, const CrossEntropyConfig& config,
                   const LaunchContext& context) {
  return with_wide_format(config.shape, [&](auto format) {
    return launch(context, cross_entropy_block<decltype(format), kHeld>, config, p, config.rows);
  });
}

}  // namespace

Status cuda::launch_cross_entropy_block(const CrossEntropyProblem& p,
                                        const CrossEntropyConfig& config,
                                        const LaunchContext& context) {
  return launch_rows<true>(p, config, context);
}

Status cuda::launch_cross_entropy_reread(const CrossEntropyProblem& p,
                                         const CrossEntropyConfig& config,
                                         const LaunchContext& context) {
  return launch_rows<false>(p, config, context);
}

}  // namespace mygemm
