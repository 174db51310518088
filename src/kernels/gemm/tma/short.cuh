// Matrix product with short sums: fed as the TMA-fed kernels are (tma.cuh). A warp stores its
// results while it multiplies the next tile (beside.cuh). sm_90.
#pragma once

#include "kernels/gemm/tma/beside.cuh"
#include "kernels/gemm/tma/launch.cuh"
#include "kernels/gemm/tma/produce.cuh"
#include "kernels/gemm/tma/short.h"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tma {

template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
struct ShortStorage : StageStorage<Tile, kLoadA, kLoadB> {
  WaitingResults<Tile> results[Tile::kConsumerWarps];
};

// The work of a consumer warp. Warps do not wait for each other.
template <class Tile, class Shared>
__device__ __forceinline__ void multiply_and_store(Shared& s, const Args& args,
                                                   const StreamK& schedule, const Scalars& scalars,
                                                   int warp, int lane) {
  const GemmProblem& p = args.p;
  const LanePlace<Tile> place(warp, lane);
  const int row = warp % Tile::kWarpsM * Tile::kWarpM, column = warp / Tile::kWarpsM * Tile::kWarpN;
  int taken = 0;  // k steps
  const int steps = ptx::warp_uniform(schedule.steps);
  const int first_steps = min(steps, Tile::kUnits);
  StoreBeside<Tile> beside(s.results[warp], lane);
  WorkList list(schedule, ptx::warp_uniform(s.block));
  for (WorkItem item; list.next(&item);) {
    Results<Tile> sum = {};
    // Two loops: in one, the branch in it made later steps of 128 x 128 tiles 3 to 7 % longer
    // (4096 x 4096 x 64 to 256, H200).
    multiply<Tile>(sum, s, taken, first_steps, place, beside);
    multiply<Tile>(sum, s, taken + first_steps, steps - first_steps, place);
    taken += steps;
    const auto [i, j, batch] = args.order.position_of<Tile>(item.tile);
    const TileOrigin origin{batch, i + row, j + column};
    beside.take(sum, OutputTile(p, origin, ScaleEpilogue{scalars.alpha, scalars.beta}));
  }
  beside.finish();
}

}  // namespace tma

template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_short(const __grid_constant__ persistent::Args args,
               const __grid_constant__ persistent::OperandMap a,
               const __grid_constant__ persistent::OperandMap b) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using namespace tma;
  using Shared = ShortStorage<Tile, kLoadA, kLoadB>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    init_stages<Tile>(s);
    ptx::mbarrier_init_fence();
    s.block = static_cast<int>(blockIdx.x);
  }
  ptx::wait_for_previous_grid();
  __syncthreads();

  const Scalars scalars(args.p);
  StreamK schedule = args.schedule;
  if (effective_k(args.p, scalars.alpha) == 0) schedule.steps = 0;  // sums of nothing
  if (warp < Tile::kProducerWarps) {
    if constexpr (Tile::kMovesRegisters) {
      ptx::give_up_registers<Tile::kProducerRegisters>();
    }
    produce<Tile>(s, args, a, b, schedule, warp, lane);
    ptx::launch_dependents();  // behind the last loads
  } else {
    if constexpr (Tile::kMovesRegisters) ptx::take_registers<Tile::kConsumerRegisters>();
    multiply_and_store<Tile>(s, args, schedule, scalars, warp - Tile::kProducerWarps, lane);
  }
#endif
}

// The kernels of one tile and two ways to load.
template <class Tile, OperandLoad kLoadA, OperandLoad kLoadB>
struct ShortKernels {
  static auto of(bool) { return gemm_short<Tile, kLoadA, kLoadB>; }
};

template <class Tile>
Status cuda::launch_gemm_short(const GemmProblem& p, const GemmConfig& config,
                               const LaunchContext& context) {
  return tma::launch_fed<Tile, ShortKernels>(p, config, context);
}

}  // namespace mygemm
