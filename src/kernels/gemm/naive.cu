// Matrix product, step 1 of the ladder: one thread per element of C, straight from global memory.
// Runs every problem: any element types, op, size, leading dimension, alignment and batch.
#include "kernels/epilogue.cuh"
#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/textbook.h"
#include "kernels/launch.h"
#include "ptx/grid.cuh"

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
    float sum = 0.0f;
    if (depth > 0) {
      const StridedOperand<OfA> a = operand_a<OfA>(p, batch);
      const StridedOperand<OfB> b = operand_b<OfB>(p, batch);
      for (int64_t k = 0; k < depth; ++k) sum = fmaf(a.at(i, k), b.at(j, k), sum);
    }
    ptx::launch_dependents();
    Out* d = p.d.matrix<Out>(batch) + i + j * p.d.ld;
    with_masked_epilogue<Out>(p, scalars, {batch, i, j},
                              [&](const auto& epilogue) { store_result(d, 0, 0, sum, epilogue); });
  }
}

// An FP32 operand has FP32 results.
auto instance_for(const GemmProblem& p) {
  return with_operand_types(p.a.type, p.b.type, [&](auto a, auto b) {
    using OfA = decltype(a);
    using OfB = decltype(b);
    if constexpr (sizeof(OfA) == sizeof(float) || sizeof(OfB) == sizeof(float)) {
      return gemm_naive<OfA, OfB, float>;
    } else {
      return with_element_type(p.d.type,
                               [](auto out) { return gemm_naive<OfA, OfB, decltype(out)>; });
    }
  });
}

}  // namespace

Status cuda::launch_gemm_naive(const GemmProblem& p, const GemmConfig& config,
                               const LaunchContext& context) {
  return launch(context, instance_for(p), config, p, config.tiles_m, config.tiles_n);
}

}  // namespace mygemm
