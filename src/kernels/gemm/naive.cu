// Matrix product, step 1 of the ladder: one thread per element of C, straight from global memory.
// Runs every problem: any element types, op, size, leading dimension, alignment and batch.
#include "kernels/gemm/naive.cuh"
#include "kernels/launch.h"

namespace mygemm {
namespace {

// A block computes 32 x 8 elements: a warp reads 32 neighbours of a column of A and of C.
// OfA, OfB: the elements of A and B; Out: those of C and D.
template <class OfA, class OfB, class Out>
__global__ void gemm_naive(const GemmProblem p, const int64_t tiles_m, const int64_t tiles_n) {
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);
  const int64_t depth = effective_k(p, scalars.alpha);
  const int64_t tiles = tiles_m * tiles_n * p.batch_count;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t batch = tile / (tiles_m * tiles_n);
    const int64_t i = tile % tiles_m * TileNaive::kBlockM + threadIdx.x % TileNaive::kBlockM;
    const int64_t j =
        tile / tiles_m % tiles_n * TileNaive::kBlockN + threadIdx.x / TileNaive::kBlockM;
    if (i >= p.m || j >= p.n || !p.fills(i, j)) continue;
    compute_element<OfA, OfB, Out>(p, scalars, depth, {batch, i, j});
  }
}

}  // namespace

Status cuda::launch_gemm_naive(const GemmProblem& p, const GemmConfig& config,
                               const LaunchContext& context) {
  return with_naive_types(p, [&](auto a, auto b, auto out) {
    return launch(context, gemm_naive<decltype(a), decltype(b), decltype(out)>, config, p,
                  config.tiles_m, config.tiles_n);
  });
}

}  // namespace mygemm
