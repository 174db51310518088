// Vectorised transpose with the tensor memory accelerator: one thread starts the load of a tile
// into shared memory, swizzled (swizzle.h) and with zeros outside the matrix. The rest is as in
// vector.cu. sm_90 and later.
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/swizzle.h"
#include "kernels/tensor_map.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/with_element.h"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"

namespace mygemm {
namespace {

template <int kBytes>
inline constexpr int kPatches = tma_patches(kBytes);
constexpr int kBoxBytes = 128;  // of a row: the most that the swizzle allows; 8 packs

// The barrier lies behind the tile.
__device__ __forceinline__ uint64_t* barrier_of(Pack* tile, const PatchGrid& grid) {
  return reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(tile) + grid.shared_bytes);
}

// Loads the tile in boxes, each 128 bytes of all rows of the tile.
template <int kBytes>
__device__ __forceinline__ void fetch_tile(Pack* tile, const CUtensorMap* map,
                                           const PatchGrid& grid, const TileOrigin& origin) {
  uint64_t* barrier = barrier_of(tile, grid);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::mbarrier_init_fence();
    ptx::mbarrier_arrive_expect_tx(barrier, static_cast<unsigned>(grid.shared_bytes));
    constexpr int kUnits = kBytes == 16 ? 2 : 1;  // the map's elements have at most 8 bytes
    for (int box = 0; box < (1 << grid.tile.log2_cols) * 16 / kBoxBytes; ++box) {
      ptx::tma_load_3d(tile + box * grid.step_r * (kBoxBytes / 16), map, barrier,
                       (static_cast<int>(origin.c) + box * kBoxBytes / kBytes) * kUnits,
                       static_cast<int>(origin.r), static_cast<int>(origin.matrix));
    }
  }
  __syncthreads();
  ptx::mbarrier_wait(barrier, 0);
}

template <int kBytes>
__device__ __forceinline__ Pack fetched_pack(const Pack* tile, const PatchGrid& grid, int row,
                                             int col) {
  const int box = col / 8 * grid.step_r * kBoxBytes;
  return tile[(box + swizzle_128b(row * kBoxBytes + col % 8 * 16)) / 16];
}

template <int kBytes>
__global__ void __launch_bounds__(512) transpose_tma(const TransposeProblem p, const PatchGrid grid,
                                                     const __grid_constant__ CUtensorMap map) {
  constexpr int kPacks = kPackElements<kBytes>;
  Pack* tile = &shared_storage<Pack>();
  const TileOrigin origin = tile_origin(grid);
  fetch_tile<kBytes>(tile, &map, grid, origin);
  Patch at[kPatches<kBytes>];
  Pack patches[kPatches<kBytes>][kPacks];
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    at[i] = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
#pragma unroll
    for (int row = 0; row < kPacks; ++row) {
      patches[i][row] = fetched_pack<kBytes>(tile, grid, at[i].row * kPacks + row, at[i].col);
    }
  }
  __syncthreads();  // the staged tile takes the place of the fetched one
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    stage_patch<kBytes>(tile, grid.tile, at[i], patches[i]);
  }
  __syncthreads();
  write_staged<kBytes, Caching::kDefault, kPatches<kBytes> * kPacks>(tile, p, grid, origin);
}

template <int kBytes>
TensorMapShape input_shape(const TransposeProblem& p, const PatchGrid& grid) {
  constexpr int kUnit = kBytes == 16 ? 8 : kBytes;
  // A matrix that has no next one still needs a distance to it that is legal.
  const int64_t pitch = p.ldin * kBytes;
  const int64_t distance = p.batch_count > 1 ? p.stride_in * kBytes : pitch;
  return {.address = p.in,
          .element_bytes = kUnit,
          .extents = {p.cols * (kBytes / kUnit), p.rows, p.batch_count},
          .strides = {pitch, distance},
          .box = {kBoxBytes / kUnit, grid.step_r, 1},
          .swizzled = true};
}

}  // namespace

Status cuda::launch_transpose_tma(const TransposeProblem& p, const TransposeConfig& config,
                                  const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) -> Status {
    CUtensorMap map;
    RETURN_IF_ERROR(encode_tensor_map(&map, input_shape<bytes>(p, config.patches)));
    return launch(context, transpose_tma<bytes>, static_cast<unsigned>(config.blocks),
                  config.threads, config.shared_bytes, p, config.patches, map);
  });
}

}  // namespace mygemm
