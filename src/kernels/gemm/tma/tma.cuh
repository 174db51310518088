// Matrix product, step 4 of the ladder: fed by the tensor memory accelerator. A warpgroup of
// producers (produce.cuh) keeps a ring of stages full, and the consumer warps do nothing but
// multiply: no addresses, no copies, no barriers for all. One block a multiprocessor, which
// computes tile after tile, data-parallel or stream-K (persistent/stream_k.h). sm_90.
#pragma once

#include "kernels/gemm/tma/launch.cuh"
#include "kernels/gemm/tma/produce.cuh"
#include "kernels/gemm/tma/store.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tma {

// The work of a consumer warp.
template <bool kFused, class Tile, class Shared>
__device__ __forceinline__ void consume(Shared& s, const Args& args, const StreamK& schedule,
                                        const Scalars& scalars, int warp, int lane) {
  const int group = warp / Tile::kGroupWarps, thread = warp * 32 + lane;
  const LanePlace<Tile> place(warp % Tile::kGroupWarps, lane);
  int taken = 0;        // k steps, by all groups
  unsigned parity = 0;  // of meetings
  // Uniform, so that the compiler keeps the main loop's counters in uniform registers: else it took
  // 5 % longer (1024^3 in 128 x 64 tiles on an H200).
  const int block = ptx::warp_uniform(s.block);
  WorkList list(schedule, block);
  for (WorkItem item; list.next(&item);) {
    Results<Tile> sum = {};
    const int steps = ptx::warp_uniform(item.end - item.begin);
    const int own_steps = (steps - group + Tile::kGroups - 1) / Tile::kGroups;
    multiply<Tile>(sum, s, taken + group, own_steps, place);
    taken += steps;

    const auto [i, j, batch] = args.order.position_of<Tile>(item.tile);
    const bool finishes = item.end == schedule.steps;
    PartialTiles to_add = {};
    if (finishes && item.begin > 0) {
      to_add = persistent::partial_tiles_of(args, item.tile, block);
      persistent::await_partial_tiles<Tile>(args, to_add, thread);
      meet(s, &parity);
    }
    const TileOrigin origin{batch, i, j};
    const OutputTile partial(partial_tile<Tile>(args, block), Tile::kBlockM, Tile::kBlockM,
                             Tile::kBlockN, PartialSums{});
    if (finishes) {
      with_instance_epilogue<kFused>(args.p, scalars, origin, [&](const auto& epilogue) {
        store_tile<Tile>(s, args, to_add, OutputTile(args.p, origin, epilogue), sum, place, thread,
                         &parity);
      });
    } else {
      store_tile<Tile>(s, args, {}, partial, sum, place, thread, &parity);
    }
    if (!finishes) {
      meet(s, &parity);  // the whole partial tile is there
      if (thread == 0) persistent::announce_partial_tile(args, block);
    }
  }
}

}  // namespace tma

template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB, bool kFused>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tma(const __grid_constant__ persistent::Args args,
             const __grid_constant__ persistent::OperandMap a,
             const __grid_constant__ persistent::OperandMap b) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using namespace tma;
  using Shared = SharedStorage<Tile, kLoadA, kLoadB>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    init_stages<Tile>(s);
    ptx::mbarrier_init(&s.consumers, 32 * Tile::kConsumerWarps);
    ptx::mbarrier_init_fence();
  }
  ptx::wait_for_previous_grid();
  if (threadIdx.x == 0) s.block = persistent::take_block_number(args);
  __syncthreads();

  const Scalars scalars(args.p);
  StreamK schedule = args.schedule;
  // All tiles whole, and of no steps.
  if (effective_k(args.p, scalars.alpha) == 0) schedule.steps = schedule.stream_k_tiles = 0;
  if (warp < Tile::kProducerWarps) {
    if constexpr (Tile::kMovesRegisters) {
      ptx::give_up_registers<Tile::kProducerRegisters>();
    }
    produce<Tile>(s, args, a, b, schedule, warp, lane);
    ptx::launch_dependents();  // behind the last loads
  } else {
    if constexpr (Tile::kMovesRegisters) ptx::take_registers<Tile::kConsumerRegisters>();
    consume<kFused, Tile>(s, args, schedule, scalars, warp - Tile::kProducerWarps, lane);
  }
#endif
}

// The kernels of one tile and two ways to load.
template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
struct TmaKernels {
  static auto of(bool fused) {
    return fused ? gemm_tma<Tile, kLoadA, kLoadB, true> : gemm_tma<Tile, kLoadA, kLoadB, false>;
  }
};

template <class Tile>
Status cuda::launch_gemm_tma(const GemmProblem& p, const GemmConfig& config,
                             const LaunchContext& context) {
  return tma::launch_fed<Tile, TmaKernels>(p, config, context);
}

}  // namespace mygemm
