// Matrix product, step 4 of the ladder: fed by the tensor memory accelerator. A warpgroup of
// producers (tma_producer.cuh) keeps a ring of stages full, and the other warps do nothing but
// multiply: no addresses, no copies, no barriers for all. One block a multiprocessor, which takes
// tile after tile, whole or cut along k (streamk.h). sm_90.
//
// The kernel, and its launcher as a template over the tile; the .cu files beside instantiate it.
#pragma once

#include "kernels/gemm/persistent_launch.cuh"
#include "kernels/gemm/tma_store.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace fed {

// What a consumer warp does.
template <class Tile, class Shared>
__device__ __forceinline__ void consume(Shared& s, const FedArgs& args, const WorkShares& shares,
                                        float alpha, float beta, int warp, int lane) {
  const int group = warp / Tile::kGroupWarps, thread = warp * 32 + lane;
  const LanePlace<Tile> place(warp % Tile::kGroupWarps, lane);
  int taken = 0;        // k steps, by all groups
  unsigned parity = 0;  // of meetings
  WorkList list(shares, static_cast<int>(blockIdx.x));
  for (WorkItem item; list.next(&item);) {
    Results<Tile> sum = {};
    const int steps = ptx::same_in_warp(item.end - item.begin);
    const int own_steps = (steps - group + Tile::kGroups - 1) / Tile::kGroups;
    multiply<Tile>(sum, s, taken + group, own_steps, place);
    taken += steps;

    const bool finishes = item.end == shares.steps;
    Destination to = destination<Tile>(args, item, alpha, beta);
    Pieces pieces = {};
    if (!finishes) {
      to = {{piece_of<Tile>(args, static_cast<int>(blockIdx.x)), Tile::kBlockM, Tile::kBlockM,
             Tile::kBlockN},
            1.0f,
            0.0f};
    } else if (item.begin > 0) {
      pieces = await_pieces<Tile>(args, item.tile, thread);
      meet(s, &parity);
    }
    if constexpr (Tile::kGroups == 1) {
      store_own<Tile>(s, args, pieces, to, sum, place, thread);
    } else {
      store_groups<Tile>(s, args, pieces, to, sum, thread, &parity);
    }
    if (!finishes) {
      meet(s, &parity);  // the whole piece is there
      if (thread == 0) ptx::store_release(&args.ready[blockIdx.x], 1);
    }
  }
}

}  // namespace fed

template <class Tile, fed::Feed kFeedA, fed::Feed kFeedB>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_fed(const __grid_constant__ FedArgs args, const __grid_constant__ fed::OperandMap a,
             const __grid_constant__ fed::OperandMap b) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and rows.cpp keeps it from being launched
#else
  using namespace fed;
  using Shared = SharedStorage<Tile, kFeedA, kFeedB>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the plan counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      ptx::mbarrier_init(&s.full[i], Shared::kArrivals);
      ptx::mbarrier_init(&s.empty[i], Tile::kGroupThreads);
    }
    ptx::mbarrier_init(&s.consumers, 32 * Tile::kConsumerWarps);
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
  ptx::wait_for_previous_grid();

  const float alpha = load_scalar(args.p.alpha), beta = load_scalar(args.p.beta);
  WorkShares shares = args.shares;
  if (products_of(args.p, alpha) == 0) shares.steps = shares.cut_tiles = 0;  // whole, and empty
  if (warp < Tile::kProducerWarps) {
    if constexpr (Tile::kMovesRegisters) {
      ptx::give_up_registers<Tile::kProducerRegisters>();
    }
    produce<Tile>(s, args.p, a, b, shares, args.tiles_m, args.tiles_n, warp, lane);
  } else {
    if constexpr (Tile::kMovesRegisters) ptx::take_registers<Tile::kConsumerRegisters>();
    consume<Tile>(s, args, shares, alpha, beta, warp - Tile::kProducerWarps, lane);
  }
#endif
}

namespace fed {

template <class Tile, Feed kFeedA, Feed kFeedB>
Status launch_with(const FedArgs& args, const LaunchContext& context) {
  const GemmProblem& p = args.p;
  OperandMap a = {}, b = {};
  if (kFeedA == Feed::kTile) {
    RETURN_IF_ERROR(
        make_map(&a, p.a, p.m, p.k, p.batch_count, Tile::kBlockM, Tile::kBlockK, false));
  }
  if (kFeedB == Feed::kTile) {
    RETURN_IF_ERROR(
        make_map(&b, p.b, p.n, p.k, p.batch_count, Tile::kBlockN, Tile::kBlockK, false));
  }
  return launch_persistent<Tile, SharedStorage<Tile, kFeedA, kFeedB>>(
      gemm_fed<Tile, kFeedA, kFeedB>, args, a, b, context);
}

// Shifted operands are rare: where one is, the other one is read like it if it lies like it.
template <class Tile, Feed kAlongTile>
Status launch_for_ops(const FedArgs& args, const LaunchContext& context) {
  if (args.p.transa) {
    return args.p.transb ? launch_with<Tile, Feed::kDepth, kAlongTile>(args, context)
                         : launch_with<Tile, Feed::kDepth, Feed::kDepth>(args, context);
  }
  return args.p.transb ? launch_with<Tile, kAlongTile, kAlongTile>(args, context)
                       : launch_with<Tile, kAlongTile, Feed::kDepth>(args, context);
}

}  // namespace fed

// Launches the product with all tiles whole, or cut; see share_out().
template <class Tile>
Status launch_fed(const GemmProblem& p, bool cut, const LaunchContext& context) {
  FedArgs args = {};
  args.p = p;
  fed::share_out<Tile>(&args, cut, context);
  return has_shifted_operand(p) ? fed::launch_for_ops<Tile, fed::Feed::kShifted>(args, context)
                                : fed::launch_for_ops<Tile, fed::Feed::kTile>(args, context);
}

}  // namespace mygemm
