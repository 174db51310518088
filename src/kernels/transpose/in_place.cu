// Transposes in place. Square matrices: a block swaps a tile below the diagonal with its mirror
// image, by packs as in vector.cu. Any matrix: through the workspace.
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/with_element.h"
#include "kernels/transpose/workspace.h"

namespace mygemm {
namespace {

// Patches of a thread, of the two tiles together.
template <int kBytes>
inline constexpr int kPatches = in_place_patches(kBytes);

// Each staged tile is written to the place of the other one. The patches of both tiles are numbered
// consecutively, those of the lower tile first: they are half of each thread's patches or, where a
// thread has one patch, those of half of the threads.
template <int kBytes>
__global__ void __launch_bounds__(kBytes == 1 || kBytes == 16 ? 512 : 256)
    swap_tiles(const TransposeProblem p, const PatchGrid grid) {
  constexpr int kPacks = kPackElements<kBytes>;
  const unsigned pairs = static_cast<unsigned>(tile_pairs(grid.tiles_r));
  const int64_t matrix = blockIdx.x / pairs;
  const TilePair pair = tile_pair(blockIdx.x % pairs, grid.tiles_r);
  const int64_t row = int64_t{pair.row} * grid.step_r, col = int64_t{pair.col} * grid.step_c;
  const TileOrigin lower = {row, col, matrix}, upper = {col, row, matrix};
  Pack* const staged = &shared_storage<Pack>();
  const unsigned tile_patches = 1u << grid.tile.log2_patches();
  const unsigned tile_packs = tile_patches * kPacks;
  const auto is_upper = [&](int i, unsigned index) {
    return kPatches<kBytes> > 1 ? i >= kPatches<kBytes> / 2 : index >= tile_patches;
  };
  Pack patches[kPatches<kBytes>][kPacks];
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const unsigned index = threadIdx.x + static_cast<unsigned>(i) * blockDim.x;
    const bool in_upper = is_upper(i, index);
    const TileOrigin& origin = in_upper ? upper : lower;
    const Patch at = patch_at(grid.tile, in_upper ? index - tile_patches : index);
    read_patch<kBytes, Caching::kDefault>(patches[i], p, input_matrix(p, matrix),
                                          origin.r + at.row * kPacks, origin.c + at.col * kPacks);
  }
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const unsigned index = threadIdx.x + static_cast<unsigned>(i) * blockDim.x;
    const bool in_upper = is_upper(i, index);
    stage_patch<kBytes>(staged + (in_upper ? tile_packs : 0), grid.tile,
                        patch_at(grid.tile, in_upper ? index - tile_patches : index), patches[i]);
  }
  __syncthreads();
  write_staged<kBytes, Caching::kInL2, kPatches<kBytes> * kPacks / 2>(staged, p, grid, lower);
  write_staged<kBytes, Caching::kInL2, kPatches<kBytes> * kPacks / 2>(staged + tile_packs, p, grid,
                                                                      upper);
}

// Copies the matrices of the batch without gaps, one after another.
template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads)
    copy_dense(const TransposeProblem p, Element<kBytes>* dense) {
  using T = Element<kBytes>;
  const int64_t per_matrix = p.rows * p.cols, elements = per_matrix * p.batch_count;
  for (int64_t e = int64_t{blockIdx.x} * kTransposeThreads + threadIdx.x; e < elements;
       e += int64_t{gridDim.x} * kTransposeThreads) {
    const int64_t batch = e / per_matrix, r = e % per_matrix / p.cols, c = e % p.cols;
    dense[e] = static_cast<const T*>(p.in)[batch * p.stride_in + r * p.ldin + c];
  }
}

}  // namespace

Status cuda::launch_transpose_vector_in_place(const TransposeProblem& p,
                                              const TransposeConfig& config,
                                              const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    return launch(context, swap_tiles<bytes>, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p, config.patches);
  });
}

Status cuda::launch_transpose_through_workspace(const TransposeProblem& p,
                                                const TransposeConfig& config,
                                                const LaunchContext& context) {
  if (config.copy_blocks == 0) {
    CUDA_TRY(cudaMemcpyAsync(context.workspace, p.in, config.workspace_bytes,
                             cudaMemcpyDeviceToDevice, context.stream));
  } else {
    RETURN_IF_ERROR(with_element(p.element_size, [&](auto bytes) {
      return launch(context, copy_dense<bytes>, static_cast<unsigned>(config.copy_blocks),
                    kTransposeThreads, 0, p, static_cast<Element<bytes>*>(context.workspace));
    }));
  }
  const TransposeProblem from = from_workspace(p, context.workspace);
  if (config.gathered.packs > 0) return launch_transpose_gathered(from, config, context);
  return config.shifted ? launch_transpose_shifted(from, config, context)
                        : launch_transpose_vector(from, config, context);
}

}  // namespace mygemm
