// Products of 16-bit operands, or of an FP32 and a BF16 one, on tensor cores. One warpgroup of
// producers (feed.cuh) brings operands into shared memory, from which one or two of consumers have
// the tensor cores multiply 64 rows each, of D^T or of D. One block a multiprocessor, which
// computes tile after tile, data-parallel or stream-K (persistent/stream_k.h). sm_90a.
#pragma once

#include "kernels/gemm/persistent/launch.cuh"
#include "kernels/gemm/tensor16/mixed.cuh"
#include "kernels/gemm/tensor16/mixed_nan.cuh"
#include "kernels/gemm/tensor16/store.cuh"
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tensor16 {

constexpr int kConsumersBarrier = 1;

// Each block of a cluster has a partial tile: the place of this block's own, or of the one with its
// rank in the cluster of another number.
template <class Tile>
__device__ __forceinline__ int partial_tile_of(int cluster) {
  return Tile::kCluster == 1 ? cluster
                             : cluster * Tile::kCluster + static_cast<int>(ptx::cluster_rank());
}

// Every thread of a block, or of all blocks of a cluster, meets.
template <class Tile>
__device__ __forceinline__ void meet_all() {
  if constexpr (Tile::kCluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }
}

// Stream-K: takes this block's, or cluster's, number in the schedule, to s.block, once the grid
// before has cleared the flags. Every thread calls.
template <class Tile>
__device__ __forceinline__ void take_number(SharedStorage<Tile>& s, const persistent::Args& args) {
  ptx::wait_for_previous_grid();
  const bool takes = Tile::kCluster == 1 || ptx::cluster_rank() == 0;
  if (threadIdx.x == 0 && takes) s.block = persistent::take_block_number(args);
  meet_all<Tile>();
  if constexpr (Tile::kCluster > 1) {
    if (threadIdx.x == 0 && !takes) s.block = ptx::load_shared_4_of(0, &s.block);
    __syncthreads();
  }
}

// Sets up the barriers of the ring and prefetches the maps; one thread.
template <class Tile, class Shared>
__device__ __forceinline__ void set_up(Shared& s, const OperandMap& a, const OperandMap& b,
                                       const ResultMaps& d, bool maps_d) {
  for (int i = 0; i < Tile::kStages; ++i) {
    ptx::mbarrier_init(&s.full[i], kFullArrivals<Tile>);
    ptx::mbarrier_init(&s.free[i], kFreeArrivals<Tile>);
  }
  if (Tile::kFp32Rows) {
    for (uint64_t& turn : s.turn) ptx::mbarrier_init(&turn, Tile::kConsumerWarps / 2);
  }
  ptx::mbarrier_init_fence();
  if (Tile::kMapped) {
    ptx::tma_prefetch_map(&a.map);
    ptx::tma_prefetch_map(&b.map);
  }
  if (maps_d) ptx::tma_prefetch_map(&d.whole.map);
}

// The work of a consumer warp. kInRows: rows of the tile are contiguous in D, else columns.
template <class Tile, bool kInRows, bool kStreamK>
__device__ __forceinline__ void consume(SharedStorage<Tile>& s, const persistent::Args& args,
                                        const ResultMaps& d, bool mapped) {
  constexpr int kThreads = 32 * Tile::kConsumerWarps;
  // Read again after the products, during which no register is to spare for what follows from it.
  const auto thread_of_consumers = [] { return ptx::thread_again() - 32 * Tile::kProducerWarps; };
  auto* const partial_tiles = static_cast<PartialTile<Tile>*>(args.partial_tiles);
  // Worked out before the first operands are there.
  const int layout = layout_of(args.p), way = store_way(args.p, mapped);
  persistent::RingPlace<Tile::kStages> place;
  Results<Tile> sum;
  for (;;) {
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    const int lane = thread_of_consumers() % 32;
    Announced item = {};
    if (lane == 0) item = s.items[place.slot];
    item = item.template of_warp<kStreamK>();
    if (item.steps == Announced::kNoMore) break;
#pragma unroll
    for (float& x : sum) x = 0.0f;
    // One kernel for all operands: their main loops are small beside the stores.
    with_operands<Tile::kFp32Rows>(layout, [&](auto operands) {
      using Operands = decltype(operands);
      const int warp = thread_of_consumers() / 32;
      if constexpr (Tile::kFp32Rows) {
        multiply_mixed<Operands, Tile>(sum, s, place, item.steps, warp, lane);
      } else {
        multiply<Operands, Tile>(sum, s, place, item.steps, warp, lane);
      }
    });
    const int thread = thread_of_consumers(), warp = thread / 32;
    if (kStreamK && !item.finishes) {
      const int mine = partial_tile_of<Tile>(s.block);
      store_partial<Tile>(partial_tiles[mine], sum, thread);
      ptx::meet_at_barrier(kConsumersBarrier, kThreads);  // the whole partial tile is there
      if (thread == 0) persistent::announce_partial_tile(args, mine);
      continue;
    }
    if (kStreamK && item.to_add.first < item.to_add.end) {
      const int first = partial_tile_of<Tile>(item.to_add.first);
      const int end = partial_tile_of<Tile>(item.to_add.end);
      persistent::await_partial_tiles<Tile>(args, {first, end}, thread, Tile::kCluster);
      ptx::meet_at_barrier(kConsumersBarrier, kThreads);
      for (int other = first; other < end; other += Tile::kCluster) {
        add_partial<Tile>(sum, partial_tiles[other], thread);
      }
    }
    const int in_cluster = SameColumns<Tile>::of_block().number * Tile::kRows;
    const WarpPlace at = {item.batch, item.row + in_cluster + 16 * warp,
                          item.column + SameRows<Tile>::of_block().number * Tile::kColumns};
    if constexpr (Tile::kFp32Rows) compute_nan_again<Tile>(sum, args.p, at, thread % 32);
    store_tile<kInRows, Tile>(s.results[warp], sum, args.p, d, way, at, thread % 32);
  }
  if (thread_of_consumers() % 32 == 0) ptx::tma_wait_for_reads_of_stores();
}

}  // namespace tensor16

template <class Tile, bool kInRows, bool kStreamK>
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
  if (warp < Tile::kProducerWarps) {
    if constexpr (kStreamK) {
      tensor16::meet_all<Tile>();
      tensor16::take_number<Tile>(s, args);
    }
    // Where there is no number to take, the first item is found while the barriers are set up and
    // the grid before ends.
    const unsigned here = Tile::kCluster > 1 ? ptx::cluster_number() : blockIdx.x;
    tensor16::Production<Tile, kStreamK> work(s, args, kStreamK ? s.block : static_cast<int>(here));
    if constexpr (!kStreamK) tensor16::meet_all<Tile>();
    if constexpr (Tile::kMovesRegisters) ptx::give_up_registers<Tile::kProducerRegisters>();
    tensor16::produce(work, a, b, warp, lane);
    // Behind the last loads; warps that load nothing are here at once.
    ptx::launch_dependents();
  } else {
    if (threadIdx.x == 32 * Tile::kProducerWarps) tensor16::set_up<Tile>(s, a, b, d, maps_d);
    tensor16::meet_all<Tile>();
    if constexpr (kStreamK) tensor16::take_number<Tile>(s, args);
    ptx::wait_for_previous_grid();
    if constexpr (Tile::kMovesRegisters) ptx::take_registers<Tile::kConsumerRegisters>();
    tensor16::consume<Tile, kInRows, kStreamK>(s, args, d, maps_d);
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
  const int of_line = x.type == MYGEMM_R_32F ? 32 : 64;  // elements
  return k_major ? persistent::make_map(map, x, k, extent, batch_count, of_line, lines / blocks,
                                        true, fetches_256)
                 : persistent::make_map(map, x, extent, k, batch_count, of_line, 64 / blocks, true,
                                        fetches_256);
}

}  // namespace tensor16

template <class Tile, bool kStreamK>
Status cuda::launch_gemm_tensor16(const GemmProblem& problem, const GemmConfig& config,
                                  const LaunchContext& context) {
  const persistent::Args args = persistent::args_of(problem, config, context);
  const GemmProblem& p = args.p;
  persistent::OperandMap a = {}, b = {};
  tensor16::ResultMaps d = {};
  if (Tile::kMapped) {
    RETURN_IF_ERROR(tensor16::make_map(&a, p.a, p.transa, p.m, p.k, p.batch_count, Tile::kRows,
                                       Tile::kClusterN));
    RETURN_IF_ERROR(tensor16::make_map(&b, p.b, !p.transb, p.n, p.k, p.batch_count, Tile::kColumns,
                                       Tile::kClusterM));
  }
  // The accelerator stores multiples of 16 bytes, beyond the end of a line that is none.
  const int64_t bytes_of_line = problem.m * element_bytes(p.d.type);
  const bool maps_d = has_tensor_map(p.d, p.batch_count) && bytes_of_line % 16 == 0;
  if (maps_d) {
    const bool in_rows = args.transposed;
    const auto make = [&](persistent::OperandMap* map, int columns) {
      const int bytes = columns * static_cast<int>(element_bytes(p.d.type));
      return persistent::make_map(map, p.d, problem.m, problem.n, p.batch_count,
                                  in_rows ? columns : 16, in_rows ? 16 : columns,
                                  in_rows && bytes == Tile::kLineBytes);
    };
    const int columns = Tile::kLineBytes / static_cast<int>(element_bytes(p.d.type));
    RETURN_IF_ERROR(make(&d.whole, columns));
    if (const int rest = Tile::kColumns % columns) RETURN_IF_ERROR(make(&d.rest, rest));
  }
  RETURN_IF_ERROR(persistent::clear_flags_for(args, context));
  if constexpr (Tile::kBothWays) {
    if (!args.transposed) {
      return launch(context, gemm_tensor16<Tile, false, kStreamK>, config, args, a, b, d, maps_d);
    }
  }
  return launch(context, gemm_tensor16<Tile, true, kStreamK>, config, args, a, b, d, maps_d);
}

}  // namespace mygemm
