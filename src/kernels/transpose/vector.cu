// Vectorised transpose: every access has 16 bytes. A thread reads a patch (4 x 4 elements of 4
// bytes, 16 x 16 of 1 byte), transposes it in registers and stages it in swizzled shared memory;
// the block then writes whole rows. For rows that begin at multiples of 16 bytes.
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

template <int kBytes>
inline constexpr int kPatches = vector_patches(kBytes);

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

Status cuda::launch_transpose_vector(const TransposeProblem& p, const TransposeConfig& config,
                                     const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    const auto kernel = config.streamed ? transpose_vector<bytes, Caching::kStreamed>
                                        : transpose_vector<bytes, Caching::kDefault>;
    return launch(context, kernel, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p, config.patches);
  });
}

}  // namespace mygemm
