// Products of 16-bit operands on tensor cores with cluster split-K. A producer warp brings k steps
// of the operands into shared memory, from which two warpgroups have the tensor cores multiply 64
// rows of X each. The sums then take the place of the stages. sm_90a.
#pragma once

#include "kernels/gemm/tensor16/split.h"
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm {
namespace tensor16 {

// The kernel's arguments besides the tensor maps. X is p.a and Y is p.b; where p is the transposed
// product, its columns are contiguous in D, otherwise its rows.
struct SplitArgs {
  GemmProblem p;
  bool transposed;
  int tiles_m, tiles_n;  // of one matrix
  int splits;            // blocks of a cluster
  int steps;             // k steps of each
};

template <class Tile>
struct SplitStorage {
  alignas(1024) unsigned char a[Tile::kStages][Tile::kStageA];
  alignas(1024) unsigned char b[Tile::kStages][Tile::kStageB];
  uint64_t full[Tile::kStages];  // operands are there
  uint64_t free[Tile::kStages];  // products have read them

  // The sums of this block, once all stages are read: in lines along the contiguous side of D.
  __device__ __forceinline__ float* sums() { return reinterpret_cast<float*>(a); }
};

// The tile of this block's cluster, and the block's part of k.
struct SplitBlock {
  int split;               // number in the cluster
  int row, column, batch;  // of the tile's first element
  int first, steps;        // k steps

  template <class Tile>
  __device__ __forceinline__ static SplitBlock of(const SplitArgs& args) {
    const int cluster = static_cast<int>(blockIdx.x) / args.splits;
    const int tile = cluster / args.tiles_m, batch = tile / args.tiles_n;
    SplitBlock block;
    block.split = static_cast<int>(blockIdx.x) - cluster * args.splits;
    block.row = (cluster - tile * args.tiles_m) * Tile::kRows;
    block.column = (tile - batch * args.tiles_n) * Tile::kColumns;
    block.batch = batch;
    block.first = block.split * args.steps;
    block.steps = args.steps;  // those behind k are zeros
    return block;
  }
};

// Has the accelerator copy the block's k steps; one thread.
template <class Tile>
__device__ __forceinline__ void produce_split(SplitStorage<Tile>& s, const SplitArgs& args,
                                              const SplitBlock& block, const OperandMap& a,
                                              const OperandMap& b) {
  const GemmProblem& p = args.p;
  constexpr Sharers<1, 1> alone;
  persistent::RingPlace<Tile::kStages> place;
  for (int step = 0; step < block.steps; ++step) {
    uint64_t* const full = &s.full[place.slot];
    ptx::mbarrier_wait(&s.free[place.slot], place.parity ^ 1);
    ptx::mbarrier_arrive_expect_tx(full, Tile::kStageA + Tile::kStageB);
    const int k = (block.first + step) * Tile::kBlockK;
    load_boxes<Tile::kRows, 64>(s.a[place.slot], a, p.transa, alone, full, block.batch, block.row,
                                k);
    load_boxes<Tile::kColumns, 64>(s.b[place.slot], b, !p.transb, alone, full, block.batch,
                                   block.column, k);
    place.advance(1);
  }
}

// Leaves a warp's sums of `columns` columns: a lane has pairs of neighbouring columns of two rows,
// 8 apart.
template <class Tile>
__device__ __forceinline__ void leave_sums(float* to, const Results<Tile>& sum, bool in_rows,
                                           int columns, int warp, int lane) {
  const int row = warp * 16 + lane / 4, pair = lane % 4 * 2;
#pragma unroll
  for (int eight = 0; eight < Tile::kColumns / 8; ++eight) {
    if (8 * eight >= columns) break;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float x = sum[4 * eight + 2 * half], y = sum[4 * eight + 2 * half + 1];
      const int column = 8 * eight + pair, at = row + 8 * half;
      if (in_rows) {
        *reinterpret_cast<float2*>(&to[at * Tile::kPitchY + column]) = make_float2(x, y);
      } else {
        to[column * Tile::kPitchX + at] = x;
        to[(column + 1) * Tile::kPitchX + at] = y;
      }
    }
  }
}

// Adds up this block's share of the tile's sums, in the order of the blocks, and stores the results
// as elements of T. `thread` is one of the consumers'.
template <class T, class Tile>
__device__ __forceinline__ void finish_share(const float* sums, const SplitArgs& args,
                                             const SplitBlock& block, int thread) {
  // Fours of results whose loads are in flight at once, from all blocks.
  constexpr int kThreads = 32 * Tile::kConsumerWarps, kAtOnce = 2;
  const GemmProblem& p = args.p;
  const Scalars scalars(p);
  const int rows = static_cast<int>(min(p.m - block.row, int64_t{Tile::kRows}));
  const int columns = static_cast<int>(min(p.n - block.column, int64_t{Tile::kColumns}));
  // Lines of D^T, and of it where the tile begins.
  const int lines = args.transposed ? rows : columns, length = args.transposed ? columns : rows;
  const int pitch = args.transposed ? Tile::kPitchY : Tile::kPitchX;
  const int fours = (args.transposed ? Tile::kColumns : Tile::kRows) / 4;  // of a line
  const int64_t line = args.transposed ? block.row : block.column;
  const int64_t along = args.transposed ? block.column : block.row;
  const FusedEpilogue<true, T> epilogue(p, scalars, {block.batch, line, along});
  const int in_line = thread % fours * 4, next_line = kThreads / fours * args.splits;
  const int end = in_line < length ? lines : 0;
  const int inside = min(length - in_line, 4);
  const float4 bias = bias_of_four(epilogue, in_line, inside);
  const float* from = sums + in_line;
#pragma unroll 1
  for (int first = (block.split * kThreads + thread) / fours; first < end;
       first += kAtOnce * next_line) {
    float4 parts[kAtOnce][kPortableCluster] = {};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int j = first + i * next_line;
#pragma unroll
      for (int split = 0; split < kPortableCluster; ++split) {
        if (j < lines && split < args.splits) {
          parts[i][split] = ptx::load_shared_16_of(split, from + j * pitch);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int j = first + i * next_line;
      if (j >= lines) break;
      float4 sum = parts[i][0];
#pragma unroll
      for (int split = 1; split < kPortableCluster; ++split) {
        if (split >= args.splits) break;
        const float4& part = parts[i][split];
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
      }
      const auto of_line = [&](const Operand& x) {
        return x.matrix<T>(block.batch) + along + in_line + (line + j) * x.ld;
      };
      store_four<T>(of_line(p.d), scalars.beta == 0.0f ? nullptr : of_line(p.c), j, in_line, sum,
                    inside, scalars.alpha, bias, epilogue);
    }
  }
}

}  // namespace tensor16

template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kRegisterBlocks)
    gemm_tensor16_split(const __grid_constant__ tensor16::SplitArgs args,
                        const __grid_constant__ persistent::OperandMap a,
                        const __grid_constant__ persistent::OperandMap b) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using namespace tensor16;
  using Shared = SplitStorage<Tile>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  SplitBlock block = SplitBlock::of<Tile>(args);  // while the grid before ends
  const int layout = layout_of(args.p);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      ptx::mbarrier_init(&s.full[i], 1);
      ptx::mbarrier_init(&s.free[i], Tile::kConsumerWarps);
    }
    ptx::mbarrier_init_fence();
    ptx::tma_prefetch_map(&a.map);
    ptx::tma_prefetch_map(&b.map);
  }
  __syncthreads();
  ptx::wait_for_previous_grid();
  // With alpha = 0 on the device nothing of A and B is read.
  if (load_scalar(args.p.epilogue.alpha) == 0.0f) block.steps = 0;
  if (warp == Tile::kConsumerWarps) {
    if (ptx::elect_one()) produce_split<Tile>(s, args, block, a, b);
    ptx::launch_dependents();  // behind the last loads
  } else {
    Results<Tile> sum = {};
    persistent::RingPlace<Tile::kStages> place;
    if (block.steps > 0) {
      with_operands<false>(layout, [&](auto operands) {
        multiply<decltype(operands), Tile>(sum, s, place, block.steps, warp, lane);
      });
    }
    ptx::meet_at_barrier(kConsumersBarrier, 32 * Tile::kConsumerWarps);  // stages are read
    const int64_t columns = args.p.n - block.column;
    leave_sums<Tile>(s.sums(), sum, args.transposed,
                     static_cast<int>(min(columns, int64_t{Tile::kColumns})), warp, lane);
  }
  ptx::cluster_sync();  // all sums of the tile are there
  if (warp < Tile::kConsumerWarps) {
    const int thread = static_cast<int>(threadIdx.x);
    switch (args.p.d.type) {
      case MYGEMM_R_32F: finish_share<float, Tile>(s.sums(), args, block, thread); break;
      case MYGEMM_R_16F: finish_share<__half, Tile>(s.sums(), args, block, thread); break;
      default: finish_share<__nv_bfloat16, Tile>(s.sums(), args, block, thread);
    }
  }
  __syncwarp();
  ptx::cluster_sync();  // and read
#endif
}

template <class Tile>
Status cuda::launch_gemm_tensor16_split(const GemmProblem& problem, const GemmConfig& config,
                                        const LaunchContext& context) {
  const tensor16::SplitArgs args = {
      .p = config.transposed ? transposed(problem) : problem,
      .transposed = config.transposed,
      .tiles_m = static_cast<int>(config.tiles_m),
      .tiles_n = static_cast<int>(config.tiles_n),
      .splits = static_cast<int>(config.splits),
      .steps = static_cast<int>(ceil_div(config.k_per_split, Tile::kBlockK))};
  const GemmProblem& p = args.p;
  // Lines that begin at multiples of 256 bytes come two parts at a time: each step of the tiles
  // reads 128 bytes of many lines. 14336 x 32 x 4096 on an H200: 35.0 us, 37.3 us without;
  // 15008 x 48 x 12824, whose lines begin elsewhere: 110.9 us without, 127.9 us with it.
  const auto make_map = [&](persistent::OperandMap* map, const Operand& x, bool k_major,
                            int64_t extent, int lines) {
    const bool whole = reinterpret_cast<uintptr_t>(x.data) % 256 == 0 && x.ld % 128 == 0;
    return tensor16::make_map(map, x, k_major, extent, p.k, p.batch_count, lines, 1, whole);
  };
  persistent::OperandMap a = {}, b = {};
  RETURN_IF_ERROR(make_map(&a, p.a, p.transa, p.m, Tile::kRows));
  RETURN_IF_ERROR(make_map(&b, p.b, !p.transb, p.n, Tile::kColumns));
  return launch(context, gemm_tensor16_split<Tile>, config, args, a, b);
}

}  // namespace mygemm
