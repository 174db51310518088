// Transposes in place. Square matrices: a block swaps a tile below the diagonal with its mirror
// image, both in packs as in vector.cu. Any matrix: by way of the workspace.
#include "kernels/launch.h"
#include "kernels/rows.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

// Of the two tiles together. H200: a patch of each a thread draw 0.94 of a copy, one patch 0.92.
template <int kBytes>
inline constexpr int kPatches = kBytes == 16  ? 4
                                : kBytes == 1 ? 1
                                              : 2;

// A staged tile is written to where the other was. The patches of both are numbered through, those
// of the lower tile first: half of the patches of a thread, or the one patch of half the threads.
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

// The matrices of the batch, dense, one after another.
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

bool is_dense(const TransposeProblem& p) {
  return p.ldin == p.cols && (p.batch_count == 1 || p.stride_in == p.rows * p.cols);
}

}  // namespace

Status cuda::launch_transpose_vector_in_place(const TransposeRow&, const TransposeProblem& p,
                                              const LaunchContext& context) {
  const PatchGrid grid = patch_grid(in_place_kernel(p), p, *context.device);
  return with_element(p.element_size, [&](auto bytes) {
    return launch(context, swap_tiles<bytes>, grid_size(tile_pairs(grid.tiles_r) * p.batch_count),
                  2 * (1 << grid.tile.log2_patches()) / kPatches<bytes>, 2 * grid.shared_bytes, p,
                  grid);
  });
}

Status cuda::launch_transpose_through_workspace(const TransposeRow&, const TransposeProblem& p,
                                                const LaunchContext& context) {
  const int64_t elements = p.rows * p.cols * p.batch_count;
  if (is_dense(p)) {
    CUDA_TRY(cudaMemcpyAsync(context.workspace, p.in,
                             static_cast<size_t>(elements * p.element_size),
                             cudaMemcpyDeviceToDevice, context.stream));
  } else {
    RETURN_IF_ERROR(with_element(p.element_size, [&](auto bytes) {
      return launch(context, copy_dense<bytes>, grid_size(ceil_div(elements, kTransposeThreads)),
                    kTransposeThreads, 0, p, static_cast<Element<bytes>*>(context.workspace));
    }));
  }
  const TransposeProblem from = from_workspace(p, context.workspace);
  return in_packs(from) ? launch_transpose_vector({}, from, context)
                        : launch_transpose_shifted({}, from, context);
}

}  // namespace mygemm
