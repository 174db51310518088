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

// All logits but the target's: their maximum, the sum of their exponentials, and their part of the
// mean where there is label smoothing.
struct Others {
  MaxSum sum;
  float mean = 0.0f;
};

// Those of a run, by its warp; every lane gets them.
template <class Format>
__device__ __forceinline__ Others others_of_run(const Scale& scale, const CrossEntropyProblem& p,
                                                const LaneLoss<Format>& lane) {
  Others run{lane.sum.template run<false>(scale)};
  if (p.label_smoothing > 0.0f) run.mean = warp_reduce<Sum>(lane.mean);
  return run;
}
__device__ __forceinline__ void leave(const Others& others, int run, RowStorage& shared) {
  if (threadIdx.x % 32 == 0) {
    shared.run[run] = others.sum;
    shared.mean[run] = others.mean;
  }
}
// Those of the row, from what the warps have left.
__device__ __forceinline__ Others others_of_row(const Scale& scale, const CrossEntropyProblem& p,
                                                int runs, const RowStorage& shared) {
  Others row{combine_runs<false>(scale, shared.run, runs)};
  if (p.label_smoothing > 0.0f) {
    row.mean = combine_means(runs, [&](int run) { return shared.mean[run]; });
  }
  return row;
}

// Whether a row in memory is read a tile ahead, by packs in half the registers.
template <class Format>
constexpr bool kLoadsAhead = Format::kWidths == Widths::k16Bit;

// Where a row is between its sum and its gradient.
enum class Row { kInBlock, kInMemory };

// Blocks of a multiprocessor for which the compiler limits the registers. (With 64 of them the held
// logits of 16 bits would be spilled before SM 90.)
template <class Format, Row kRow>
__device__ __host__ constexpr int register_blocks() {
  if (Format::kWidths == Widths::kFp32) return 2;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (kRow == Row::kInBlock && Format::kWidths == Widths::k16Bit) return 2;
#endif
  return 1;
}

template <class Format, Row kRow>
__global__ void __launch_bounds__(kRowThreads, (register_blocks<Format, kRow>()))
    cross_entropy_block(const CrossEntropyProblem p, const WideRows rows) {
  auto& shared = shared_storage<RowStorage>();
  const SoftmaxProblem s = p.softmax();
  const Scale scale = logit_scale(p);
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  if (kRow == Row::kInBlock) {
    if (threadIdx.x < kFewestRuns) {  // as many as there are; those without a tile stay so
      shared.run[threadIdx.x] = {-INFINITY, 0.0f};
      shared.mean[threadIdx.x] = 0.0f;
    }
    __syncthreads();  // before warps write theirs
  }
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    const WideRow<Format> row(s, r);
    const Target target(p, p.target(r));
    const TargetPlace<Format> place(target, row);
    WideTile<Format, false> tile;
    float maximum = -INFINITY;  // that the exponentials in `tile` are against
    float logit = 0.0f;         // the target's, in a warp that has it
    const auto add = [&](LaneLoss<Format>& lane, int t) {
      if (t == place.tile) {
        logit = place.take(tile.x, p.x.type);
        if (threadIdx.x % 32 == 0) shared.target = logit;
      }
      maximum = lane.add(p, scale, tile.x, t, row.place(t), place);
    };
    if constexpr (kRow == Row::kInBlock) {
      LaneLoss<Format> lane;
      tile.load_from(s, row, warp);
      add(lane, warp);
      leave(others_of_run<Format>(scale, p, lane), run_of_tile(rows, warp), shared);
    } else {
      const auto first_tile = [&](int run) { return static_cast<int>(rows.first_tile(run)); };
      WideTile<Format, false> next;
      if (kLoadsAhead<Format>) next.load_from(s, row, first_tile(warp));
      for (int run = warp; run < rows.runs; run += warps) {
        LaneLoss<Format> lane;
        const int first = first_tile(run), end = first_tile(run + 1),
                  then = first_tile(run + warps);
        if (kLoadsAhead<Format> && first == end) next.load_from(s, row, then);
        for (int t = first; t < end; ++t) {
          if constexpr (kLoadsAhead<Format>) {
            tile = next;
            next.load_from(s, row, t + 1 < end ? t + 1 : then);
          } else {
            tile.load_from(s, row, t);
          }
          add(lane, t);
        }
        leave(others_of_run<Format>(scale, p, lane), run, shared);
      }
    }
    __syncthreads();  // every run's sum is there
    const Others others = others_of_row(scale, p, rows.runs, shared);
    logit = shared.target;
    const LossParts parts = parts_of<kLossExp<Format>>(scale, target, others.sum, logit);
    if (threadIdx.x == 0) store_loss(p, r, target, parts, others.mean);
    const auto write = [&](const RowGradient& gradient, int t) {
      if constexpr (Format::kKeepsFloats) {
        finish_tile(scale, tile.x, maximum, gradient);
      } else {
        finish_logits<Format>(p, scale, tile.x, gradient);
      }
      store(tile.x, row.address(p.dx, t), p.dx.type, row.place(t));
      if (t == place.tile) write_target(p, gradient, r, target, place);
    };
    if (p.has_gradient()) {
      const RowGradient gradient = gradient_of_row<kLossExp<Format>>(p, target, parts, p.weight(r));
      if constexpr (kRow == Row::kInBlock) {
        write(gradient, warp);
      } else {
        __syncthreads();  // the target is read before it is written again
        for (int t = warp; t < rows.tiles; t += warps) {
          tile.load_from(s, row, t);
          if constexpr (Format::kKeepsFloats) {
            LaneLoss<Format> lane;  // for the exponentials alone
            add(lane, t);
          }
          write(gradient, t);
        }
      }
    }
    if (gridDim.x < p.rows) __syncthreads();  // the runs' sums are read before the next row's come
  }
}

template <Row kRow>
Status launch_rows(const CrossEntropyProblem& p, const CrossEntropyConfig& config,
                   const LaunchContext& context) {
  return with_wide_format(config.shape, [&](auto format) {
    return launch(context, cross_entropy_block<decltype(format), kRow>, config, p, config.rows);
  });
}

}  // namespace

Status cuda::launch_cross_entropy_block(const CrossEntropyProblem& p,
                                        const CrossEntropyConfig& config,
                                        const LaunchContext& context) {
  return launch_rows<Row::kInBlock>(p, config, context);
}

Status cuda::launch_cross_entropy_reread(const CrossEntropyProblem& p,
                                         const CrossEntropyConfig& config,
                                         const LaunchContext& context) {
  return launch_rows<Row::kInMemory>(p, config, context);
}

}  // namespace mygemm
