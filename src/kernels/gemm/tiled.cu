// Matrix product, step 2 of the ladder: a block stages 32 x 32 tiles of A and B in shared memory,
// so that each element comes from global memory once per 32 uses.
#include "kernels/epilogue.cuh"
#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/textbook.h"
#include "kernels/launch.h"
#include "ptx/grid.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

using Tile = TileShared;
constexpr int kSide = 32;
static_assert(Tile::kBlockM == kSide && Tile::kBlockN == kSide && Tile::kBlockK == kSide);

// One operand's tile: 32 along m or n from `origin`, 32 along k; zeros outside the matrix. Warps
// read along whichever direction is contiguous; the padded pitch takes either without conflicts.
__device__ void load_tile(float (&tile)[kSide][kSide + 1], const StridedOperand<>& x,
                          int64_t origin, int64_t extent, int64_t k0, int64_t k_end) {
  const bool k_contiguous = x.along_k == 1 && x.along_tile != 1;
  for (int e = static_cast<int>(threadIdx.x); e < kSide * kSide; e += Tile::kThreads) {
    const int k = k_contiguous ? e % kSide : e / kSide;
    const int i = k_contiguous ? e / kSide : e % kSide;
    const bool inside = origin + i < extent && k0 + k < k_end;
    tile[k][i] = inside ? x.at(origin + i, k0 + k) : 0.0f;
  }
}

__global__ void __launch_bounds__(Tile::kThreads)
    gemm_tiled(const GemmProblem p, const int64_t tiles_m, const int64_t tiles_n) {
  auto& shared = shared_storage<Tile::SharedStorage>();
  ptx::wait_for_previous_grid();
  const Scalars scalars(p);
  const int64_t depth = effective_k(p, scalars.alpha);
  const int64_t batch = blockIdx.x / (tiles_m * tiles_n);
  const int64_t i0 = blockIdx.x % tiles_m * kSide;
  const int64_t j0 = blockIdx.x / tiles_m % tiles_n * kSide;
  if (!p.fills_some(i0, j0, kSide, kSide)) return;
  const int i = static_cast<int>(threadIdx.x) % kSide;
  const int j = static_cast<int>(threadIdx.x) / kSide * Tile::kResults;

  float sum[Tile::kResults] = {};  // (1, kResults)
  if (depth > 0) {
    const StridedOperand<> a = operand_a(p, batch), b = operand_b(p, batch);
    for (int64_t k0 = 0; k0 < depth; k0 += kSide) {
      load_tile(shared.a, a, i0, p.m, k0, depth);
      load_tile(shared.b, b, j0, p.n, k0, depth);
      __syncthreads();  // the tiles are complete
      for (int k = 0; k < kSide; ++k) {
        for (int r = 0; r < Tile::kResults; ++r) {
          sum[r] = fmaf(shared.a[k][i], shared.b[k][j + r], sum[r]);
        }
      }
      __syncthreads();  // and read by all, before they are overwritten
    }
  }
  ptx::launch_dependents();
  if (i0 + i >= p.m) return;
  with_masked_epilogue(p, scalars, {batch, i0, j0}, [&](const auto& epilogue) {
    const OutputTile d(p, {batch, i0, j0}, epilogue);
    for (int r = 0; r < Tile::kResults && j + r < d.columns; ++r) {
      store_result(d.first + i + (j + r) * d.ld, i, j + r, sum[r], epilogue);
    }
  });
}

}  // namespace

Status cuda::launch_gemm_tiled(const GemmProblem& p, const GemmConfig& config,
                               const LaunchContext& context) {
  return launch(context, gemm_tiled, config, p, config.tiles_m, config.tiles_n);
}

}  // namespace mygemm
