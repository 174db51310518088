// Vectorised transpose where rows of the input, of the output or of both begin anywhere. All
// accesses are still aligned packs and whole sectors of 32 bytes. In each row of the input, a tile
// reads packs from the start of the sector in which its part of the row begins; a thread extracts
// its own pack from two neighbouring ones, by a shuffle. In each row of the output, it writes packs
// from the first sector that begins in the tile to the first one that begins in the next tile, each
// extracted from two packs of the staged tile.
//
// For that, tiles overlap by 2 packs in each direction that is shifted. Partial sectors are written
// at the ends of rows only; with two blocks that each wrote a part of a sector the kernel drew 0.93
// of a copy instead of 0.96 (H200, 16385 x 16384 fp32).
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/patches.cuh"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

constexpr int kThreads = 256;

// Lanes 2^log2_cols apart work on different rows; `lane` may be past the last one of the row.
__device__ __forceinline__ Pack pack_of_lane(const Pack& pack, int lane, int lanes) {
  Pack other;
#pragma unroll
  for (int w = 0; w < 4; ++w) other.word[w] = __shfl_sync(~0u, pack.word[w], lane, lanes);
  return other;
}

// Bytes that a row of the matrix, or a place in it, lies past the start of a sector.
__device__ __forceinline__ int past_sector(const void* place) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(place) % kSectorBytes);
}

// Whether all packs of the tile, from the sectors where its rows begin, are inside the matrix.
template <int kBytes>
__device__ __forceinline__ bool is_inside(const TransposeProblem& p, const InputMatrix& in,
                                          const PatchTile& tile, const TileOrigin& origin) {
  const int64_t last = origin.r + (kPackElements<kBytes> << tile.log2_rows) - 1;
  return last < p.rows && origin.r * in.pitch + origin.c * kBytes >= kSectorBytes &&
         last * in.pitch + origin.c * kBytes + (16 << tile.log2_cols) <=
             (p.rows - 1) * in.pitch + p.cols * kBytes;
}

// Reads pack `at.col` of each row of the patch, counted from the start of the sector in which the
// tile's row begins. Bytes outside the matrix are not read (those between its rows may be).
template <int kBytes>
__device__ __forceinline__ void read_shifted(Pack (&patch)[kPackElements<kBytes>],
                                             const TransposeProblem& p, const InputMatrix& in,
                                             const TileOrigin& origin, const Patch& at,
                                             bool inside) {
  constexpr int kPacks = kPackElements<kBytes>;
  const int64_t r = origin.r + at.row * kPacks;
  const char* begin = in.first + r * in.pitch + origin.c * kBytes;
  const auto pack = [&](int64_t i) {
    const char* row = begin + i * in.pitch;
    return row - past_sector(row) + at.col * 16;
  };
  if (inside) {  // without a test a pack: the loads are all in flight at once
#pragma unroll
    for (int i = 0; i < kPacks; ++i) patch[i] = load_pack<Caching::kDefault>(pack(i));
    return;
  }
  const char* end = in.first + (p.rows - 1) * in.pitch + p.cols * kBytes;
  const int64_t to_row_end = (p.cols - origin.c) * kBytes;
  unsigned cut = 0;  // bit i: pack i is not whole
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    patch[i] = {};
    if (r + i >= p.rows || pack(i) >= begin + i * in.pitch + to_row_end) continue;
    if (pack(i) >= in.first && pack(i) + 16 <= end) {
      patch[i] = load_pack<Caching::kDefault>(pack(i));
    } else {
      cut |= 1u << i;
    }
  }
  for (; cut != 0; cut &= cut - 1) {
    const int i = __ffs(static_cast<int>(cut)) - 1;
    set_pack(patch, i, load_part<kBytes>(pack(i), Part(in.first - pack(i), end - pack(i))));
  }
}

// Extracts the patch's packs from those that the lanes of a row have read.
template <int kBytes>
__device__ __forceinline__ void shift_patch(Pack (&patch)[kPackElements<kBytes>],
                                            const InputMatrix& in, const PatchTile& tile,
                                            const TileOrigin& origin, const Patch& at) {
  constexpr int kPacks = kPackElements<kBytes>;
  const int lanes = 1 << tile.log2_cols;
  const char* begin = in.first + (origin.r + at.row * kPacks) * in.pitch + origin.c * kBytes;
#pragma unroll
  for (int i = 0; i < kPacks; ++i, begin += in.pitch) {
    const int past = past_sector(begin), lane = at.col + past / 16;
    const Pack low = pack_of_lane(patch[i], lane, lanes);
    const Pack high = pack_of_lane(patch[i], lane + 1, lanes);
    patch[i] = shifted_pack<kBytes>(low, high, static_cast<unsigned>(past % 16));
  }
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

template <int kBytes, bool kShiftIn, bool kShiftOut>
__global__ void __launch_bounds__(kThreads, blocks_per_sm<kBytes>())
    transpose_shifted(const TransposeProblem p, const PatchGrid grid) {
  Pack* staged = &shared_storage<Pack>();
  const TileOrigin origin = tile_origin(grid);
  const InputMatrix in = input_matrix(p, origin.matrix);
  const bool inside = is_inside<kBytes>(p, in, grid.tile, origin);
  Pack patches[kPatches<kBytes>][kPackElements<kBytes>];
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const Patch at = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    if constexpr (kShiftIn) {
      read_shifted<kBytes>(patches[i], p, in, origin, at, inside);
    } else {
      read_patch<kBytes, Caching::kDefault>(patches[i], p, in,
                                            origin.r + at.row * kPackElements<kBytes>,
                                            origin.c + at.col * kPackElements<kBytes>);
    }
  }
#pragma unroll
  for (int i = 0; i < kPatches<kBytes>; ++i) {
    const Patch at = patch_at(grid.tile, threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
    if constexpr (kShiftIn) shift_patch<kBytes>(patches[i], in, grid.tile, origin, at);
    stage_patch<kBytes>(staged, grid.tile, at, patches[i]);
  }
  __syncthreads();
  constexpr int kPacks = kPatches<kBytes> * kPackElements<kBytes>;
  if constexpr (kShiftOut) {
    write_shifted<kBytes, kPacks>(staged, p, output_matrix(p, origin.matrix), grid, origin);
  } else {
    write_staged<kBytes, Caching::kDefault, kPacks>(staged, p, grid, origin);
  }
}

template <int kBytes, bool kShiftIn, bool kShiftOut>
Status launch_shifted(const TransposeProblem& p, const TransposeConfig& config,
                      const LaunchContext& context) {
  return launch(context, transpose_shifted<kBytes, kShiftIn, kShiftOut>,
                static_cast<unsigned>(config.blocks), config.threads, config.shared_bytes, p,
                config.patches);
}

}  // namespace

Status cuda::launch_transpose_shifted(const TransposeProblem& p, const TransposeConfig& config,
                                      const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    if (!config.shift_in) return launch_shifted<bytes, false, true>(p, config, context);
    return config.shift_out ? launch_shifted<bytes, true, true>(p, config, context)
                            : launch_shifted<bytes, true, false>(p, config, context);
  });
}

}  // namespace mygemm
