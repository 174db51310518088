// Grouped products of 16-bit operands on tensor cores: the machine of gemm_tensor16, whose blocks
// take the tiles of all products one after another, each of 32 to kColumns columns. sm_90a.
#pragma once

#include "kernels/gemm/tensor16/tensor16.cuh"
#include "kernels/grouped/feed.cuh"

namespace mygemm {
namespace grouped {

// Calls body(n) with the columns of a tile.
template <class Tile, int kColumns = kUnit, class Body>
__device__ __forceinline__ void with_columns(int columns, const Body& body) {
  if constexpr (kColumns < Tile::kColumns) {
    if (columns != kColumns) return with_columns<Tile, kColumns + kUnit>(columns, body);
  }
  body(std::integral_constant<int, kColumns>{});
}

// Stores a warp's results of a tile of product x, or of the transposed one: whole boxes that lie
// inside the product by the accelerator, where it can.
template <class Tile, bool kTransposed>
__device__ __forceinline__ void store_tile(tensor16::Boxes<Tile>& boxes,
                                           const tensor16::Results<Tile>& sum, const Args& args,
                                           const tensor16::ResultMaps& d, bool mapped,
                                           const Announced& tile, const Product& x, int warp,
                                           int lane) {
  GemmProblem p = problem_of(args.call, x);
  if (kTransposed) p = transposed(p);
  p.n = min(p.n, int64_t{tile.column + tile.columns});
  const int row = tile.row + 16 * warp;
  const int columns = static_cast<int>(p.n) - tile.column;
  const Scalars scalars(p);
  tensor16::WarpPlace place = {0, row, tile.column};
  if (args.stacked == Stacked::kM) place.row += static_cast<int>(x.before);
  if (args.stacked == Stacked::kN) place.column += static_cast<int>(x.before);
  if (!shares_d(args.stacked)) place.batch = tile.product;
  const auto store = [&](auto element) {
    using T = decltype(element);
    // Maps end where all rows of D^T do, and results begin at multiples of 16 bytes.
    const int along = kTransposed ? place.column : place.row;
    const bool boxed = mapped && !p.fused && scalars.beta == 0.0f &&
                       (!args.rows_differ || row + 16 <= p.m) &&
                       along * static_cast<int>(sizeof(T)) % 16 == 0;
    constexpr int kChunk = 64;
    const int by_boxes = boxed ? columns / kChunk * kChunk : 0;
    if (by_boxes > 0 && row < p.m) {
      tensor16::store_mapped<T, kTransposed, Tile, true>(boxes, sum, scalars.alpha, d, place, lane,
                                                         by_boxes);
    }
    if (by_boxes < columns) {
      tensor16::store_through<T, kTransposed, Tile>(boxes, sum, p, scalars, {0, row, tile.column},
                                                    lane, by_boxes);
    }
  };
  switch (p.d.type) {
    case MYGEMM_R_32F: return store(float{});
    case MYGEMM_R_16F: return store(__half{});
    default: return store(__nv_bfloat16{});
  }
}

// The work of a consumer warp.
template <class Tile, bool kTransposed>
__device__ __forceinline__ void consume(SharedStorage<Tile>& s, const Args& args,
                                        const tensor16::ResultMaps& d, bool mapped) {
  const auto thread_of_consumers = [] { return ptx::thread_again() - 32 * Tile::kProducerWarps; };
  const GemmProblem& call = args.call;
  persistent::RingPlace<Tile::kStages> place;
  tensor16::Results<Tile> sum;
  for (;;) {
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    const int lane = thread_of_consumers() % 32;
    Announced tile = {};
    if (lane == 0) tile = s.items[place.slot];
    tile = tile.of_warp();
    if (tile.steps == Announced::kNoMore) break;
#pragma unroll
    for (float& x : sum) x = 0.0f;
    const Product x = args.list.products[tile.product];  // there when the products are done
    const bool transa = kTransposed ? !call.transb : call.transa;
    const bool transb = kTransposed ? !call.transa : call.transb;
    const int layout = tensor16::layout_of(transa, transb, call.a.type);
    tensor16::with_operands<false>(layout, [&](auto operands) {
      with_columns<Tile>(tile.columns, [&](auto columns) {
        tensor16::multiply<decltype(operands), Tile, columns()>(sum, s, place, tile.steps,
                                                                thread_of_consumers() / 32, lane);
      });
    });
    const int warp = thread_of_consumers() / 32;
    store_tile<Tile, kTransposed>(s.results[warp], sum, args, d, mapped, tile, x, warp,
                                  thread_of_consumers() % 32);
  }
  if (thread_of_consumers() % 32 == 0) ptx::tma_wait_for_reads_of_stores();
}

}  // namespace grouped

template <class Tile, bool kTransposed>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    gemm_grouped_tensor16(const __grid_constant__ grouped::Args args,
                          const __grid_constant__ persistent::OperandMap a,
                          const __grid_constant__ persistent::OperandMap b,
                          const __grid_constant__ tensor16::ResultMaps d, const bool maps_d) {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // and the table keeps it from being launched
#else
  using Shared = grouped::SharedStorage<Tile>;
  static_assert(sizeof(Shared) <= Tile::kSharedBytes, "the Config counts on it");
  Shared& s = shared_storage<Shared>();
  const int warp = ptx::warp_number(), lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.turn[0], 1);
    tensor16::set_up<Tile>(s, a, b, d, maps_d);
  }
  ptx::wait_for_previous_grid();
  __syncthreads();
  if (warp < Tile::kProducerWarps) {
    ptx::give_up_registers<Tile::kProducerRegisters>();
    grouped::produce<Tile, kTransposed>(s, args, a, b, warp, lane);
    ptx::launch_dependents();  // behind the last loads
  } else {
    ptx::take_registers<Tile::kConsumerRegisters>();
    grouped::consume<Tile, kTransposed>(s, args, d, maps_d);
  }
#endif
}

template <class Tile>
Status cuda::launch_grouped_tensor16(const GroupedProblem& problem, const GemmConfig& config,
                                     const LaunchContext& context) {
  const bool is_transposed = config.transposed;
  const Groups& g = problem.groups;
  grouped::Args args = {problem.most, {}, g.stacked, (is_transposed ? g.n : g.m) != nullptr};
  RETURN_IF_ERROR(grouped::launch_list(problem, {Tile::kRows, Tile::kColumns, is_transposed},
                                       context, &args.list));
  if (is_transposed && g.stacked == Stacked::kM) args.stacked = Stacked::kN;
  const GemmProblem whole = with_total(problem);
  const GemmProblem p = is_transposed ? transposed(whole) : whole;
  persistent::OperandMap a = {}, b = {};
  if (Tile::kMapped) {
    const bool stacked_k = g.stacked == Stacked::kK;
    const auto count = [&](Stacked along) {
      return args.stacked == along || stacked_k ? 1 : p.batch_count;
    };
    RETURN_IF_ERROR(
        tensor16::make_map(&a, p.a, p.transa, p.m, p.k, count(Stacked::kM), Tile::kRows, 1));
    RETURN_IF_ERROR(tensor16::make_map(&b, p.b, !p.transb, p.n, p.k, count(Stacked::kN), 64, 1));
  }
  tensor16::ResultMaps d = {};
  const bool maps_d = grouped::maps_results(problem);
  if (maps_d) {
    const int columns = Tile::kLineBytes / static_cast<int>(element_bytes(p.d.type));
    RETURN_IF_ERROR(persistent::make_map(
        &d.whole, p.d, whole.m, whole.n, shares_d(g.stacked) ? 1 : p.batch_count,
        is_transposed ? columns : 16, is_transposed ? 16 : columns, is_transposed));
  }
  const auto run = [&](auto kernel) {
    return launch(context, kernel, config, args, a, b, d, maps_d);
  };
  return is_transposed ? run(gemm_grouped_tensor16<Tile, true>)
                       : run(gemm_grouped_tensor16<Tile, false>);
}

}  // namespace mygemm
