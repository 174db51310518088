// Matrix product, step 5 of the ladder: on the tensor cores, with the accuracy of FP32. One or two
// warpgroups feed (tf32x3_split.cuh): they bring raw FP32 operands into shared memory and split B
// into two TF32 planes. Two more multiply 64 rows each (tf32x3_multiply.cuh), splitting A in
// registers. One block a multiprocessor, which takes tile after tile, whole or cut along k
// (streamk.h). sm_90a.
//
// The kernel, and its launcher as a template over the tile; the .cu files beside instantiate it.
#pragma once

#include "kernels/gemm/persistent_launch.cuh"
#include "kernels/gemm/tf32x3_split.cuh"
#include "kernels/gemm/tf32x3_store.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tf32x3 {

// Where a tile's results go.
template <class Tile>
__device__ __forceinline__ Target target_of(const Tf32x3Args& args, int tile) {
  const GemmProblem& p = args.p;
  const auto [i, j, batch] = fed::tile_origin<Tile>(tile, args.tiles_m, args.tiles_n);
  const int64_t ld = p.c.ld;
  return {p.c.matrix(batch) + (args.c_transposed ? i * ld + j : i + j * ld),
          ld,
          args.c_transposed,
          batch,
          i,
          j,
          static_cast<int>(p.m) - i,
          static_cast<int>(p.n) - j,
          load_scalar(p.alpha),
          load_scalar(p.beta)};
}

// A warp's results of a tile that is complete.
template <class Tile, class Shared>
__device__ __forceinline__ void finish(Shared& s, const Tf32x3Args& args, int tile,
                                       Results<Tile>& sum, const Sums& sums, int warp, int lane) {
  using Rows = RowsOfA<Shared::Feed::kA>;
  const Target to = target_of<Tile>(args, tile);
  const float least = least_surely_right(sums, args.p.k);
  Suspects<Tile> suspects;
  if (to.transposed) {
    to.beta == 0.0f ? store<Rows, true, false>(sum, least, suspects, to, warp, lane)
                    : store<Rows, true, true>(sum, least, suspects, to, warp, lane);
  } else {
    to.beta == 0.0f ? store<Rows, false, false>(sum, least, suspects, to, warp, lane)
                    : store<Rows, false, true>(sum, least, suspects, to, warp, lane);
  }
  auto& notes = s.guard[warp / GuardNotes<Tile>::kWarps];
  if (!any_in_group<Rows>(notes, suspects, warp, lane)) return;
  // Nothing of what was worked out to store results is in registers meanwhile.
  const Target again = target_of<Tile>(args, ptx::same_in_warp(tile));
  if (may_be_wrong(notes, args.p, again, warp, lane)) {
    suspects = {.wrong = suspects.all(), .doubtful = {}};
  }
  redo<Rows>(again, args.p, settle<Rows>(notes, again, suspects, warp, lane), warp, lane);
}

// What a consumer warp does.
template <class Tile, class Shared>
__device__ __forceinline__ void consume(Shared& s, const Tf32x3Args& args) {
  using Rows = RowsOfA<Shared::Feed::kA>;
  auto* pieces = reinterpret_cast<Piece<Tile>*>(args.pieces);
  int unit = 0;
  for (;;) {
    Results<Tile> sum;
    Sums sums;
    const Rows rows(ptx::thread_again() / 32 - Tile::kProducerWarps, ptx::thread_again() % 32);
    const WorkItem item = multiply<Tile>(sum, sums, s, unit, rows);
    if (item.tile == kNoTile) return;

    const int thread = ptx::thread_again() - 32 * Tile::kProducerWarps;
    const int warp = thread / 32, lane = thread % 32;
    const auto block = static_cast<int>(ptx::block_again());
    if (item.end != args.shares.steps) {
      leave_piece<Tile>(pieces[block], sum, sums, warp, lane);
      ptx::mbarrier_meet(&s.consumers);  // the whole piece is there
      if (thread == 0) ptx::store_release(&args.ready[block], 1);
      continue;
    }
    if (item.begin > 0) {
      const auto others = fed::await_pieces<Tile>(args, item.tile, thread);
      ptx::mbarrier_meet(&s.consumers);
      for (int other = others.first; other < others.end; ++other) {
        add_piece<Tile>(sum, sums, pieces[other], warp, lane);
      }
    }
    finish<Tile>(s, args, item.tile, sum, sums, warp, lane);
  }
}

// C = beta C where alpha is found to be 0 on the device: nothing of A and B is read.
template <class Tile>
__device__ __forceinline__ void scale(const Tf32x3Args& args) {
  for (int tile = static_cast<int>(blockIdx.x); tile < args.shares.tiles; tile += gridDim.x) {
    const Target to = target_of<Tile>(args, tile);
    const int columns = min(Tile::kBlockN, to.columns);
    for (int at = static_cast<int>(threadIdx.x); at < Tile::kBlockM * columns;
         at += Tile::kThreads) {
      const int row = at % Tile::kBlockM;
      if (row < to.rows) store_result(to.at(row, at / Tile::kBlockM), 0.0f, to.alpha, to.beta);
    }
  }
}

}  // namespace tf32x3

template <class Tile, class Feed>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tf32x3(const __grid_constant__ Tf32x3Args args, const __grid_constant__ fed::OperandMap a,
                const __grid_constant__ fed::OperandMap b) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and rows.cpp keeps it from being launched
#else
  using Shared = tf32x3::SharedStorage<Tile, Feed>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the plan counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  constexpr unsigned kConsumers = 32 * Tile::kConsumerWarps, kFeeders = 32 * Tile::kProducerWarps;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shared::kStages; ++i) ptx::mbarrier_init(&s.full[i], Shared::kArrivals);
    for (int i = 0; i < Shared::kPlanes * Tile::kParts; ++i) {
      ptx::mbarrier_init(&s.split[0][0] + i, kFeeders);
      ptx::mbarrier_init(&s.free[0][0] + i, kConsumers);
    }
    ptx::mbarrier_init(&s.consumers, kConsumers);
    for (auto& notes : s.guard) ptx::mbarrier_init(&notes.meeting, kConsumers / 2);
    ptx::mbarrier_init_fence();
    if (Feed::kMapped) {
      ptx::tma_prefetch_map(&a.map);
      ptx::tma_prefetch_map(&b.map);
    }
  }
  __syncthreads();
  ptx::wait_for_previous_grid();

  if (products_of(args.p, load_scalar(args.p.alpha)) == 0) {
    tf32x3::scale<Tile>(args);
  } else if (warp < Tile::kProducerWarps) {
    ptx::give_up_registers<Tile::kProducerRegisters>();
    tf32x3::feed<Tile>(s, {args.p, a, b, args.tiles_m, args.tiles_n}, args.shares, warp, lane);
  } else {
    ptx::take_registers<Tile::kConsumerRegisters>();
    tf32x3::consume<Tile>(s, args);
  }
#endif
}

namespace tf32x3 {

// The map of an operand of `extent` rows of op(A) or columns of op(B), fetched in lines.
inline Status make_map(fed::OperandMap* map, const GemmOperand<const float>& x, Along along,
                       int64_t extent, int64_t k, int64_t batch_count, int block) {
  return along == Along::kDepth ? fed::make_map(map, x, k, extent, batch_count, kLine, block, true)
                                : fed::make_map(map, x, extent, k, batch_count, kLine, kLine, true);
}

template <class Tile, class Feed>
Status launch_with(const Tf32x3Args& args, const LaunchContext& context) {
  const GemmProblem& p = args.p;
  fed::OperandMap a = {}, b = {};
  if (Feed::kMapped) {
    RETURN_IF_ERROR(make_map(&a, p.a, Feed::kA, p.m, p.k, p.batch_count, Tile::kBlockM));
    RETURN_IF_ERROR(make_map(&b, p.b, Feed::kB, p.n, p.k, p.batch_count, Tile::kBlockN));
  }
  return fed::launch_persistent<Tile, SharedStorage<Tile, Feed>>(gemm_tf32x3<Tile, Feed>, args, a,
                                                                 b, context);
}

template <class Tile, bool kMapped>
Status launch_for_ops(const Tf32x3Args& args, const LaunchContext& context) {
  if (args.p.transa)
    return launch_with<Tile, Feed<Along::kDepth, Along::kDepth, kMapped>>(args, context);
  if (args.p.transb)
    return launch_with<Tile, Feed<Along::kTile, Along::kTile, kMapped>>(args, context);
  return launch_with<Tile, Feed<Along::kTile, Along::kDepth, kMapped>>(args, context);
}

}  // namespace tf32x3

// Launches the product with all tiles whole, or cut; see share_out().
template <class Tile>
Status launch_tf32x3(const GemmProblem& problem, bool cut, const LaunchContext& context) {
  Tf32x3Args args = {};
  args.c_transposed = problem.transa && problem.transb;
  args.p = args.c_transposed ? transposed(problem) : problem;
  fed::share_out<Tile>(&args, cut, context);
  const GemmProblem& p = args.p;
  const bool mapped = has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count);
  return mapped ? tf32x3::launch_for_ops<Tile, true>(args, context)
                : tf32x3::launch_for_ops<Tile, false>(args, context);
}

}  // namespace mygemm
