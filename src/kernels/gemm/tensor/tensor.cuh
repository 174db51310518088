// Matrix product, step 5 of the ladder: on the tensor cores, with the accuracy of FP32. One or two
// producer warpgroups (produce.cuh) bring raw FP32 operands into shared memory, and have the tile's
// Method split B. Two consumer warpgroups have it multiply 64 rows each, with A in registers. One
// block a multiprocessor, which computes tile after tile, data-parallel or stream-K
// (persistent/stream_k.h). sm_90a.
#pragma once

#include "kernels/gemm/persistent/launch.cuh"
#include "kernels/gemm/tensor/boxes.cuh"
#include "kernels/gemm/tensor/guard.cuh"
#include "kernels/gemm/tensor/produce.cuh"
#include "kernels/gemm/tensor/store.cuh"
#include "ptx/registers.cuh"

namespace mygemm {
namespace tensor {

using persistent::Args;

template <class Tile>
__device__ __forceinline__ Target target_of(const Args& args, int tile) {
  const GemmProblem& p = args.p;
  const auto [i, j, batch] = args.fast_order.position_of<Tile>(tile);
  return {p, args.transposed, batch, i, j, Scalars(p)};
}

// Whether C comes by boxes for the tiles that a block finishes.
__device__ __forceinline__ bool loads_c(const Args& args, const ResultMaps& maps) {
  return maps.loads_c && load_scalar(args.p.epilogue.beta) != 0.0f;
}

// Waits until the boxes have C, or stores have read them; returns what goes through them.
template <class Tile, class Shared>
__device__ __forceinline__ Boxed await_boxes(Shared& s, const Args& args, const ResultMaps& maps,
                                             const Results<Tile>& sum, float least,
                                             unsigned& parity_of_c, int warp, int lane) {
  if constexpr (Shared::kBoxed) {
    if (!maps.stores_d) return {false, false};
    const bool c = loads_c(args, maps);
    if (c) {
      ptx::mbarrier_wait(&s.results.full[warp / kGroupWarps], parity_of_c);
      parity_of_c ^= 1;
    } else {
      if (copies_boxes(warp, lane)) ptx::tma_wait_for_reads_of_stores();
      __syncwarp();
    }
    const bool all = !any_in_group(!all_right<Tile>(sum, least), warp);
    return {c && all, all};
  }
  return {false, false};
}

// Stores a warp's results of a tile whose sums are complete, and has the guard check them.
template <bool kFused, class Tile, class Shared>
__device__ __forceinline__ void finish(Shared& s, const Args& args, const ResultMaps& maps,
                                       int tile, Results<Tile>& sum, float least, Boxed boxed,
                                       int warp, int lane) {
  using Rows = RowsOf<Tile, typename Shared::Operands>;
  using Operands = typename Shared::Operands;
  const Target to = target_of<Tile>(args, tile);
  Suspects<Tile> suspects;
  const auto store = [&](auto transposed) {
    constexpr bool kTransposed = decltype(transposed)::value;
    if constexpr (Shared::kBoxed) {
      const PlacesInBoxes<Tile, Rows, kTransposed> places(s.results, warp, lane);
      store_results<kFused, Rows, kTransposed>(sum, least, suspects, to, places, boxed, warp, lane);
    } else {
      store_results<kFused, Rows, kTransposed>(sum, least, suspects, to, NoPlaces{}, boxed, warp,
                                               lane);
    }
  };
  // TT alone is computed as its transposed, NN.
  constexpr bool kMayBeTransposed = Operands::kA == Major::kMN && Operands::kB == Major::kK;
  if (kMayBeTransposed && to.transposed) {
    store(std::bool_constant<kMayBeTransposed>{});
  } else {
    store(std::false_type{});
  }
  if constexpr (Shared::kBoxed) {
    if (boxed.d) return store_boxes(s.results, maps.d, to, warp, lane);
  }
  if (!any_in_group(suspects.any(), warp)) return;
  // The values that storing needed are not in registers meanwhile.
  const Target again = target_of<Tile>(args, ptx::warp_uniform(tile));
  examine<kFused, Operands>(s.guard[warp / kGroupWarps], suspects, again, warp, lane);
}

// The work of a consumer warp.
template <bool kFused, class Tile, class Shared>
__device__ __forceinline__ void consume(Shared& s, const Args& args,
                                        const typename Shared::Operands::Maps& a,
                                        const ResultMaps& maps) {
  using Rows = RowsOf<Tile, typename Shared::Operands>;
  auto* partial_tiles = static_cast<PartialTile<Tile>*>(args.partial_tiles);
  int unit = 0;
  unsigned parity_of_c = 0;
  // Has C brought for an item that reads it.
  const auto in_first_step = [&](const WorkItem& item) {
    if constexpr (Shared::kBoxed) {
      const int thread = ptx::thread_again() - 32 * Tile::kProducerWarps, warp = thread / 32;
      if (!maps.loads_c || !copies_boxes(warp, thread % 32)) return;
      if (item.end != args.schedule.steps || !loads_c(args, maps)) return;
      load_boxes(s.results, maps.c, target_of<Tile>(args, item.tile), warp);
    }
  };
  for (;;) {
    Results<Tile> sum;
    float least;
    const Rows rows(ptx::thread_again() / 32 - Tile::kProducerWarps, ptx::thread_again() % 32, a);
    const WorkItem item =
        Tile::Method::template multiply<Tile>(sum, least, s, unit, rows, in_first_step);
    if (item.tile == kNoTile) break;

    const int thread = ptx::thread_again() - 32 * Tile::kProducerWarps;
    const int warp = thread / 32, lane = thread % 32;
    if (item.end != args.schedule.steps) {
      const int block = s.block;
      store_partial<Tile>(partial_tiles[block], sum, least, warp, lane);
      // The whole partial tile is there.
      ptx::meet_at_barrier(kConsumersBarrier, 32 * Tile::kConsumerWarps);
      if (thread == 0) persistent::announce_partial_tile(args, block);
      continue;
    }
    if (item.begin > 0) {
      const auto others = persistent::partial_tiles_of(args, item.tile, s.block);
      persistent::await_partial_tiles<Tile>(args, others, thread);
      ptx::meet_at_barrier(kConsumersBarrier, 32 * Tile::kConsumerWarps);
      for (int other = others.first; other < others.end; ++other) {
        add_partial<Tile>(sum, least, partial_tiles[other], warp, lane);
      }
    }
    const Boxed boxed = await_boxes<Tile>(s, args, maps, sum, least, parity_of_c, warp, lane);
    finish<kFused, Tile>(s, args, maps, item.tile, sum, least, boxed, warp, lane);
  }
  if constexpr (Shared::kBoxed) ptx::tma_wait_for_reads_of_stores();
}

// The epilogue of a sum of 0 where alpha is found to be 0 on the device: nothing of A and B is
// read.
template <bool kFused, class Tile>
__device__ __forceinline__ void scale(const Args& args) {
  for (int tile = static_cast<int>(blockIdx.x); tile < args.schedule.tiles; tile += gridDim.x) {
    const Target to = target_of<Tile>(args, tile);
    const int columns = min(Tile::kBlockN, to.columns());
    for (int at = static_cast<int>(threadIdx.x); at < Tile::kBlockM * columns;
         at += Tile::kThreads) {
      const int row = at % Tile::kBlockM;
      if (row < to.rows()) to.store<kFused>(row, at / Tile::kBlockM, 0.0f);
    }
  }
}

}  // namespace tensor

template <class Tile, class Operands, bool kFused>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_tensor(const __grid_constant__ persistent::Args args,
                const __grid_constant__ typename Operands::Maps a,
                const __grid_constant__ typename Operands::Maps b,
                const __grid_constant__ tensor::ResultMaps results) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using Shared = tensor::SharedStorage<Tile, Operands>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  constexpr unsigned kConsumers = 32 * Tile::kConsumerWarps;
  constexpr unsigned kProducers = 32 * Tile::kProducerWarps;
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shared::kStages; ++i) ptx::mbarrier_init(&s.full[i], Shared::kArrivals);
    for (int i = 0; i < Shared::kPlanes * Tile::kParts; ++i) {
      ptx::mbarrier_init(&s.split[0][0] + i, kProducers);
      ptx::mbarrier_init(&s.free[0][0] + i, kConsumers);
    }
    if constexpr (Shared::kBoxed) {
      for (uint64_t& full : s.results.full) ptx::mbarrier_init(&full, 1);
    }
    ptx::mbarrier_init_fence();
    if (Operands::kMapped) {
      tensor::prefetch(a);
      tensor::prefetch(b);
    }
  }
  ptx::wait_for_previous_grid();
  if (threadIdx.x == 0) s.block = persistent::take_block_number(args);
  __syncthreads();

  if (effective_k(args.p, load_scalar(args.p.epilogue.alpha)) == 0) {
    tensor::scale<kFused, Tile>(args);
  } else if (warp < Tile::kProducerWarps) {
    ptx::give_up_registers<Tile::kProducerRegisters>();
    tensor::produce<Tile>(s, args, a, b, warp, lane);
    ptx::launch_dependents();  // behind the last loads
  } else {
    ptx::take_registers<Tile::kConsumerRegisters>();
    tensor::consume<kFused, Tile>(s, args, a, results);
  }
#endif
}

namespace tensor {

// The map of an operand of `extent` rows of op(A) or columns of op(B), fetched in lines.
inline Status make_map(OperandMap* map, const Operand& x, Major major, int64_t extent, int64_t k,
                       int64_t batch_count, int block) {
  return major == Major::kK
             ? persistent::make_map(map, x, k, extent, batch_count, kLine, block, true)
             : persistent::make_map(map, x, extent, k, batch_count, kLine, kLine, true);
}
inline Status make_map(ShiftedMaps* maps, const Operand& x, Major major, int64_t extent, int64_t k,
                       int64_t batch_count, int block) {
  return major == Major::kK ? persistent::make_map(maps, x, k, extent, batch_count, kLine, block)
                            : persistent::make_map(maps, x, extent, k, batch_count, block, kLine);
}

template <class Tile, class Operands>
Status launch_with(const Args& args, const GemmConfig& config, const LaunchContext& context) {
  const GemmProblem& p = args.p;
  typename Operands::Maps a = {}, b = {};
  if (Operands::kMapped) {
    RETURN_IF_ERROR(make_map(&a, p.a, Operands::kA, p.m, p.k, p.batch_count, Tile::kBlockM));
    RETURN_IF_ERROR(make_map(&b, p.b, Operands::kB, p.n, p.k, p.batch_count, Tile::kBlockN));
  }
  ResultMaps results = {};
  const int64_t rows = args.transposed ? p.n : p.m, columns = args.transposed ? p.m : p.n;
  const auto make_map_of_boxes = [&](OperandMap* map, const Operand& x) {
    return persistent::make_map(map, x, rows, columns, p.batch_count, kBoxLine,
                                args.transposed ? kGroupRows : Tile::kBlockN, true);
  };
  if (SharedStorage<Tile, Operands>::kBoxed && stores_boxes(p.d, rows, p.batch_count)) {
    results.stores_d = true;
    RETURN_IF_ERROR(make_map_of_boxes(&results.d, p.d));
    // Where beta is on the device, C may be anything.
    results.loads_c = !p.epilogue.beta.is(0.0f) && p.c.data && has_tensor_map(p.c, p.batch_count);
    if (results.loads_c) RETURN_IF_ERROR(make_map_of_boxes(&results.c, p.c));
  }
  return persistent::launch_kernel(
      p.fused ? gemm_tensor<Tile, Operands, true> : gemm_tensor<Tile, Operands, false>, args,
      config, context, a, b, results);
}

template <class Tile, OperandLoad kLoad>
Status launch_for_ops(const Args& args, const GemmConfig& config, const LaunchContext& context) {
  if (args.p.transa)
    return launch_with<Tile, Operands<Major::kK, Major::kK, kLoad>>(args, config, context);
  if (args.p.transb)
    return launch_with<Tile, Operands<Major::kMN, Major::kMN, kLoad>>(args, config, context);
  return launch_with<Tile, Operands<Major::kMN, Major::kK, kLoad>>(args, config, context);
}

}  // namespace tensor

template <class Tile>
Status cuda::launch_gemm_tensor(const GemmProblem& p, const GemmConfig& config,
                                const LaunchContext& context) {
  const persistent::Args args = persistent::args_of(p, config, context);
  using tensor::launch_for_ops;
  if constexpr (Tile::kTakesShiftedMaps) {
    if (config.load_a == OperandLoad::kShiftedMaps) {
      return launch_for_ops<Tile, OperandLoad::kShiftedMaps>(args, config, context);
    }
  }
  return config.load_a == OperandLoad::kTensorMap
             ? launch_for_ops<Tile, OperandLoad::kTensorMap>(args, config, context)
             : launch_for_ops<Tile, OperandLoad::kCopy4>(args, config, context);
}

}  // namespace mygemm
