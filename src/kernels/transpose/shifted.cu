// Vectorised transpose where rows of the output begin anywhere, and those of the input at multiples
// of 16 bytes. All accesses are still aligned packs, and all but those at the ends of rows whole
// sectors of 32 bytes: in each row of the output, a tile writes packs from the first sector that
// begins in the tile to the first one that begins in the next tile, each extracted from two packs
// of the staged tile. For that, tiles overlap by 2 packs. With two blocks that each wrote a part of
// a sector the kernel drew 0.93 of a copy instead of 0.96 (H200, 16385 x 16384 fp32).
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

constexpr int kThreads = 256;

// Bytes that a row of the matrix, or a place in it, lies past the start of a sector.
__device__ __forceinline__ int past_sector(const void* place) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(place) % kSectorBytes);
}

// The part of a row of the output that a tile writes.
struct ShiftedRow {
  char* first;         // the tile's element 0
  int past;            // bytes from the start of a sector to it
  int64_t begin, end;  // of the packs and of the elements that the tile writes: bytes from `first`
};

template <int kBytes>
__device__ __forceinline__ ShiftedRow shifted_row(const TransposeProblem& p,
                                                  const OutputMatrix& out, const PatchGrid& grid,
                                                  const TileOrigin& origin, int line) {
  ShiftedRow row;
  row.first = out.first + (origin.c + line) * out.pitch + origin.r * kBytes;
  row.past = past_sector(row.first);
  // The first sector that begins at or after the byte.
  const auto next_sector = [&](int byte) {
    return (byte + row.past + kSectorBytes - 1) / kSectorBytes * kSectorBytes - row.past;
  };
  row.begin = origin.r == 0 ? -row.past : next_sector(0);
  row.end = min(int64_t{next_sector(grid.step_r * kBytes)}, (p.rows - origin.r) * kBytes);
  return row;
}

// 16 bytes from byte `byte` of a row of the staged tile; zeros outside it.
template <int kBytes>
__device__ __forceinline__ Pack cut_pack(const Pack* staged, const PatchTile& tile, int line,
                                         int byte) {
  const int pack = byte >> 4;  // -1 and -2 before the first one
  const auto staged_pack = [&](int k) {
    return k >= 0 && k < 1 << tile.log2_rows
               ? staged[slot<kBytes>(tile, static_cast<unsigned>(line << tile.log2_rows | k))]
               : Pack{};
  };
  return shifted_pack<kBytes>(staged_pack(pack), staged_pack(pack + 1),
                              static_cast<unsigned>(byte) % 16);
}

// Writes the staged tile in packs that begin at multiples of 16 bytes of the output, kPacks for
// each thread; then the partial packs at the ends of rows.
template <int kBytes, int kPacks>
__device__ __forceinline__ void write_shifted(const Pack* staged, const TransposeProblem& p,
                                              const OutputMatrix& out, const PatchGrid& grid,
                                              const TileOrigin& origin) {
  const int lines = static_cast<int>(min(int64_t{grid.step_c}, p.cols - origin.c));
#pragma unroll 8  // more would take registers, and nothing is loaded from memory here
  for (int i = 0; i < kPacks; ++i) {
    const StagedPack at =
        staged_at<kBytes>(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    if (at.row >= lines) continue;
    const ShiftedRow row = shifted_row<kBytes>(p, out, grid, origin, at.row);
    const int64_t byte = row.begin + at.pack * 16;
    if (byte < 0 || byte + 16 > row.end) continue;
    store_pack<Caching::kDefault>(
        row.first + byte, cut_pack<kBytes>(staged, grid.tile, at.row, static_cast<int>(byte)));
  }
  const bool ends = origin.r == 0 || origin.r + grid.step_r + kSectorBytes / kBytes >= p.rows;
  if (!ends) return;
  for (int item = static_cast<int>(threadIdx.x); item < 2 * lines;
       item += static_cast<int>(blockDim.x)) {
    const int line = item / 2;
    const ShiftedRow row = shifted_row<kBytes>(p, out, grid, origin, line);
    // The pack that contains the first element, or the one after the last whole pack.
    const int64_t byte = item % 2 == 0
                             ? -(row.past % 16)
                             : row.begin + max((row.end - row.begin) / 16 * 16, int64_t{0});
    if ((byte >= 0 && byte + 16 <= row.end) || byte >= row.end || byte < row.begin) continue;
    store_part<kBytes>(row.first + byte,
                       cut_pack<kBytes>(staged, grid.tile, line, static_cast<int>(byte)),
                       Part(-byte, row.end - byte));
  }
}

template <int kBytes>
inline constexpr int kPatches = shifted_patches(kBytes);

// Blocks per multiprocessor for which the compiler limits the registers: as many as do not spill.
// On an H200 one fewer draws 0.86 of a copy instead of 0.93 (both sides shifted, fp32).
template <int kBytes>
constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ / 100 == 9
  return kBytes >= 4 ? 4 : kBytes == 2 ? 3 : 2;
#else
  return kBytes >= 4 ? 3 : kBytes == 2 ? 2 : 1;
#endif
}

template <int kBytes>
__global__ void __launch_bounds__(kThreads, blocks_per_sm<kBytes>())
    transpose_shifted(const TransposeProblem p, const PatchGrid grid) {
  Pack* staged = &shared_storage<Pack>();
  const TileOrigin origin = tile_origin(grid);
  const InputMatrix in = input_matrix(p, origin.matrix);
  Pack patches[kPatches<kBytes>][kPackElements<kBytes>];
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const Patch at = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    read_patch<kBytes, Caching::kDefault>(patches[i], p, in,
                                          origin.r + at.row * kPackElements<kBytes>,
                                          origin.c + at.col * kPackElements<kBytes>);
  }
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const Patch at = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    stage_patch<kBytes>(staged, grid.tile, at, patches[i]);
  }
  __syncthreads();
  write_shifted<kBytes, kPatches<kBytes> * kPackElements<kBytes>>(
      staged, p, output_matrix(p, origin.matrix), grid, origin);
}

}  // namespace

Status cuda::launch_transpose_shifted(const TransposeProblem& p, const TransposeConfig& config,
                                      const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    return launch(context, transpose_shifted<bytes>, static_cast<unsigned>(config.blocks),
                  config.threads, config.shared_bytes, p, config.patches);
  });
}

}  // namespace mygemm
