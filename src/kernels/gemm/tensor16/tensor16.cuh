// Products of 16-bit operands on tensor cores. One warpgroup of producers (feed.cuh) brings
// operands into shared memory, from which two of consumers have the tensor cores multiply 64 rows
// of D^T each. One block a multiprocessor, which computes tile after tile, data-parallel or
// stream-K (persistent/stream_k.h). sm_90a.
#pragma once

#include "kernels/gemm/persistent/launch.cuh"
#include "kernels/gemm/tensor16/store.cuh"
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tensor16 {

constexpr int kConsumersBarrier = 1;

// The work of a consumer warp.
template <class Tile>
__device__ __forceinline__ void consume(SharedStorage<Tile>& s, const persistent::Args& args,
                                        const ResultMaps& d, bool mapped) {
  constexpr int kThreads = 32 * Tile::kConsumerWarps;
  // Read again after the products, during which no register is to spare for what follows from it.
  const auto thread_of_consumers = [] { return ptx::thread_again() - 32 * Tile::kProducerWarps; };
  auto* const partial_tiles = static_cast<PartialTile<Tile>*>(args.partial_tiles);
  persistent::RingPlace<Tile::kStages> place;
  Results<Tile> sum;
  for (;;) {
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    const int lane = thread_of_consumers() % 32;
    Announced item = {};
    if (lane == 0) item = s.items[place.slot];
    item = item.of_warp();
    if (item.steps == Announced::kNoMore) break;
#pragma unroll
    for (float& x : sum) x = 0.0f;
    // One kernel for all operands: their main loops are small beside the stores.
    with_operands(args.p, [&](auto operands) {
      multiply<decltype(operands), Tile>(sum, s, place, item.steps, thread_of_consumers() / 32,
                                         lane);
    });
    const int thread = thread_of_consumers(), warp = thread / 32;
    if (!item.finishes) {
      store_partial<Tile>(partial_tiles[s.block], sum, thread);
      ptx::meet_at_barrier(kConsumersBarrier, kThreads);  // the whole partial tile is there
      if (thread == 0) persistent::announce_partial_tile(args, s.block);
      continue;
    }
    if (item.to_add.first < item.to_add.end) {
      persistent::await_partial_tiles<Tile>(args, item.to_add, thread);
      ptx::meet_at_barrier(kConsumersBarrier, kThreads);
      for (int other = item.to_add.first; other < item.to_add.end; ++other) {
        add_partial<Tile>(sum, partial_tiles[other], thread);
      }
    }
    const int row = item.row + 16 * warp +
                    (Tile::kCluster > 1 ? static_cast<int>(ptx::cluster_rank()) * Tile::kRows : 0);
    store_tile<Tile>(s.results[warp], sum, args.p, d, mapped, {item.batch, row, item.column},
                     thread % 32);
  }
  if (thread_of_consumers() % 32 == 0) ptx::tma_wait_for_reads_of_stores();
}

}  // namespace tensor16

template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tensor16(const __grid_constant__ persistent::Args args,
                  const __grid_constant__ persistent::OperandMap a,
                  const __grid_constant__ persistent::OperandMap b,
                  const __grid_constant__ tensor16::ResultMaps d, const bool maps_d) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using Shared = tensor16::SharedStorage<Tile>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      ptx::mbarrier_init(&s.full[i], tensor16::kFullArrivals<Tile>);
      ptx::mbarrier_init(&s.free[i], tensor16::kFreeArrivals<Tile>);
    }
    ptx::mbarrier_init_fence();
    if (Tile::kMapped) {
      ptx::tma_prefetch_map(&a.map);
      ptx::tma_prefetch_map(&b.map);
    }
    if (maps_d) ptx::tma_prefetch_map(&d.whole.map);
  }
  ptx::wait_for_previous_grid();
  if (threadIdx.x == 0) {
    s.block = Tile::kCluster > 1 ? static_cast<int>(ptx::cluster_number())
                                 : persistent::take_block_number(args);
  }
  if constexpr (Tile::kCluster > 1) {
    ptx::cluster_sync();  // every block's barriers exist
  } else {
    __syncthreads();
  }

  if (warp < Tile::kProducerWarps) {
    ptx::give_up_registers<Tile::kProducerRegisters>();
    tensor16::produce<Tile>(s, args, a, b, warp, lane);
    ptx::launch_dependents();  // behind the last loads
  } else {
    ptx::take_registers<Tile::kConsumerRegisters>();
    tensor16::consume<Tile>(s, args, d, maps_d);
  }
  // No block ends while others still copy to it or free its stages.
  if constexpr (Tile::kCluster > 1) ptx::cluster_sync();
#endif
}

namespace tensor16 {

// The map of an operand of `extent` rows of op(A) or columns of op(B), as load_boxes() fetches
// `lines` of them for `blocks` blocks.
inline Status make_map(OperandMap* map, const Operand& x, bool k_major, int64_t extent, int64_t k,
                       int64_t batch_count, int lines, int blocks, bool fetches_256 = false) {
  return k_major ? persistent::make_map(map, x, k, extent, batch_count, 64, lines / blocks, true,
                                        fetches_256)
                 : persistent::make_map(map, x, extent, k, batch_count, 64, 64 / blocks, true,
                                        fetches_256);
}

}  // namespace tensor16

template <class Tile>
Status cuda::launch_gemm_tensor16(const GemmProblem& problem, const GemmConfig& config,
                                  const LaunchContext& context) {
  const persistent::Args args = persistent::args_of(problem, config, context);
  const GemmProblem& p = args.p;
  persistent::OperandMap a = {}, b = {};
  tensor16::ResultMaps d = {};
  if (Tile::kMapped) {
    RETURN_IF_ERROR(tensor16::make_map(&a, p.a, p.transa, p.m, p.k, p.batch_count, Tile::kRows, 1));
    RETURN_IF_ERROR(tensor16::make_map(&b, p.b, !p.transb, p.n, p.k, p.batch_count, Tile::kBlockN,
                                       Tile::kCluster));
  }
  // The accelerator stores multiples of 16 bytes, beyond the end of a line that is none.
  const int64_t bytes_of_line = p.n * element_bytes(p.d.type);
  const bool maps_d = has_tensor_map(p.d, p.batch_count) && bytes_of_line % 16 == 0;
  if (maps_d) {
    const int columns = Tile::kLineBytes / static_cast<int>(element_bytes(p.d.type));
    RETURN_IF_ERROR(
        persistent::make_map(&d.whole, p.d, p.n, p.m, p.batch_count, columns, 16, true));
    if (Tile::kBlockN % columns != 0) {
      RETURN_IF_ERROR(
          persistent::make_map(&d.half, p.d, p.n, p.m, p.batch_count, columns / 2, 16, false));
    }
  }
  RETURN_IF_ERROR(persistent::clear_flags_for(args, context));
  return launch(context, gemm_tensor16<Tile>, config, args, a, b, d, maps_d);
}

}  // namespace mygemm
