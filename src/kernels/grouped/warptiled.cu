// Grouped FP32 products by the warp-tiled kernel: a block computes a tile of one of them. Where
// operands begin is known on the device only, so copies take any alignment.
#include "kernels/gemm/warptiled.cuh"
#include "kernels/grouped/kernels.h"
#include "kernels/grouped/list.cuh"

namespace mygemm {
namespace grouped {

// The grid may have more blocks than there are tiles.
struct WarpTiledArgs {
  GemmProblem call;
  ProductList list;
  int64_t k_per_split = INT64_MAX;  // k is not split
};

__device__ __forceinline__ bool has_tile(const WarpTiledArgs& args) {
  return blockIdx.x < args.list.tiles[args.list.count];
}

// In shared memory behind the stages, for registers belong to the results. Once for each block.
template <class Tile>
__device__ __forceinline__ const GemmProblem& problem_of_block(const WarpTiledArgs& args) {
  GemmProblem& p = shared_storage<WarpTiledStorage<Tile>>().problem;
  if (threadIdx.x == 0) {
    const int number = product_of_tile(args.list, blockIdx.x);
    p = problem_of(args.call, args.list.products[number]);
  }
  __syncthreads();
  return p;
}

__device__ __forceinline__ warptiled::TileIndex tile_of_block(const WarpTiledArgs& args,
                                                              unsigned block) {
  const int number = product_of_tile(args.list, block);
  const unsigned within = block - static_cast<unsigned>(args.list.tiles[number]);
  const auto tiles_n = static_cast<unsigned>(args.list.tiling.tiles_n(args.list.products[number]));
  const unsigned m = within / tiles_n;
  return {m, within - m * tiles_n, 0, 0};
}

template <class Tile>
__device__ __forceinline__ void store_tile(
    typename Tile::SharedStorage& shared, const WarpTiledArgs& args,
    const float (&sum)[4 * Tile::kQuadsN][4 * Tile::kQuadsM]) {
  const GemmProblem& p = shared_storage<WarpTiledStorage<Tile>>().problem;
  const warptiled::TileIndex tile = tile_of_block(args, ptx::block_again());
  const TileOrigin origin{0, tile.m * Tile::kBlockM, tile.n * Tile::kBlockN};
  with_epilogue(p, Scalars(p), origin, [&](const auto& epilogue) {
    warptiled::store_sums<Tile>(shared, OutputTile(p, origin, epilogue), sum);
  });
}

}  // namespace grouped

template <class Tile>
Status cuda::launch_grouped_warptiled(const GroupedProblem& p, const GemmConfig& config,
                                      const LaunchContext& context) {
  grouped::WarpTiledArgs args = {p.most, {}};
  RETURN_IF_ERROR(
      grouped::launch_list(p, {Tile::kBlockM, Tile::kBlockN, false}, context, &args.list));
  constexpr OperandLoad kK = OperandLoad::kTransposing, kMN = OperandLoad::kCopy4;
  const auto run = [&](auto kernel) { return launch(context, kernel, config, args); };
  if (p.most.transa) {
    return p.most.transb ? run(gemm_warptiled<Tile, kK, kMN, grouped::WarpTiledArgs>)
                         : run(gemm_warptiled<Tile, kK, kK, grouped::WarpTiledArgs>);
  }
  return p.most.transb ? run(gemm_warptiled<Tile, kMN, kMN, grouped::WarpTiledArgs>)
                       : run(gemm_warptiled<Tile, kMN, kK, grouped::WarpTiledArgs>);
}

namespace cuda {
template Status launch_grouped_warptiled<Tile64x64>(const GroupedProblem&, const GemmConfig&,
                                                    const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
