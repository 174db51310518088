// Grouped products of any element types, one thread per element of D.
#include "kernels/gemm/naive.cuh"
#include "kernels/grouped/kernels.h"
#include "kernels/grouped/list.cuh"

namespace mygemm {
namespace {

// A block computes 32 x 8 elements of a product.
template <class OfA, class OfB, class Out>
__global__ void gemm_grouped_naive(const __grid_constant__ GemmProblem call,
                                   const grouped::ProductList list) {
  ptx::wait_for_previous_grid();
  for (int64_t tile = blockIdx.x; tile < list.tiles[list.count]; tile += gridDim.x) {
    const int number = grouped::product_of_tile(list, tile);
    const grouped::Product& product = list.products[number];
    const GemmProblem p = grouped::problem_of(call, product);
    const int64_t within = tile - list.tiles[number], tiles_n = list.tiling.tiles_n(product);
    const int64_t i = within / tiles_n * TileNaive::kBlockM + threadIdx.x % TileNaive::kBlockM;
    const int64_t j = within % tiles_n * TileNaive::kBlockN + threadIdx.x / TileNaive::kBlockM;
    if (i >= p.m || j >= p.n) continue;
    const Scalars scalars(p);
    compute_element<OfA, OfB, Out>(p, scalars, effective_k(p, scalars.alpha), {0, i, j});
  }
}

}  // namespace

Status cuda::launch_grouped_naive(const GroupedProblem& p, const GemmConfig& config,
                                  const LaunchContext& context) {
  grouped::ProductList list;
  const grouped::Tiling tiling = {TileNaive::kBlockM, TileNaive::kBlockN, false};
  RETURN_IF_ERROR(grouped::launch_list(p, tiling, context, &list));
  return with_naive_types(p.most, [&](auto a, auto b, auto out) {
    return launch(context, gemm_grouped_naive<decltype(a), decltype(b), decltype(out)>, config,
                  p.most, list);
  });
}

}  // namespace mygemm
