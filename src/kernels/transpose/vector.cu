// Transpose, step 3 of the ladder: every access is of 16 bytes. A thread reads a patch (4 x 4
// elements of 4 bytes, 16 x 16 of one), transposes it in registers and stages it in swizzled shared
// memory; the block then writes whole rows. For rows that begin at multiples of 16 bytes.
#include "kernels/launch.h"
#include "kernels/rows.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

// H200: 16 x 16 patches, one a thread, draw 0.97 to 0.99 of a copy, and more were never better. Of
// 16-byte elements, whose patches are single packs, two: one draws 0.92, and larger tiles 0.92 too.
template <int kBytes>
inline constexpr int kPatches = kBytes == 16 ? 2 : 1;

template <int kBytes, Caching caching>
__global__ void __launch_bounds__(kBytes == 16 ? 128 : 256)
    transpose_vector(const TransposeProblem p, const PatchGrid grid) {
  Pack* staged = &shared_storage<Pack>();
  const TileOrigin origin = tile_origin(grid);
  Pack patches[kPatches<kBytes>][kPackElements<kBytes>] = {};
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const Patch at = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    const int64_t matrix = origin.matrix + at.matrix;
    if (matrix >= p.batch_count) continue;
    read_patch<kBytes, caching>(patches[i], p, input_matrix(p, matrix),
                                origin.r + at.row * kPackElements<kBytes>,
                                origin.c + at.col * kPackElements<kBytes>);
  }
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    stage_patch<kBytes>(staged, grid.tile,
                        patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x),
                        patches[i]);
  }
  __syncthreads();
  write_staged<kBytes, caching, kPatches<kBytes> * kPackElements<kBytes>>(staged, p, grid, origin);
}

}  // namespace

Status cuda::launch_transpose_vector(const TransposeRow&, const TransposeProblem& p,
                                     const LaunchContext& context) {
  const PatchGrid grid = patch_grid(vector_kernel(p), p, *context.device);
  return with_element(p.element_size, [&](auto bytes) {
    const auto kernel = is_streamed(p, *context.device)
                            ? transpose_vector<bytes, Caching::kStreamed>
                            : transpose_vector<bytes, Caching::kDefault>;
    return launch(context, kernel, grid_size(grid.blocks), grid.threads, grid.shared_bytes, p,
                  grid);
  });
}

}  // namespace mygemm
