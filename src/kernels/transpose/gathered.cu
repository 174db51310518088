// Transposes where rows begin anywhere, for elements of up to 8 bytes: a block copies a tile to
// shared memory as it is, and each thread gathers packs of the output from it (gathered.cuh). All
// accesses to global memory are aligned packs. In the output, a tile writes each row from the first
// sector that begins in the tile to the first one that begins in the next tile, for which it reads
// up to a sector of rows more; in place and at the ends of rows there are fractions of sectors.
#include "kernels/launch.h"
#include "kernels/transpose/gathered.cuh"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

// with_element() for the sizes that these kernels take.
template <class Body>
Status with_small_element(int64_t element_size, Body body) {
  return with_element(element_size, [&](auto bytes) -> Status {
    return body(std::integral_constant < int, bytes == 16 ? 8 : bytes > {});
  });
}

template <int kBytes, bool kSkewed>
__global__ void __launch_bounds__(kGatherThreads, 2)
    transpose_gathered(const TransposeProblem p, const GatheredGrid grid, const Divisor packs) {
  const TileOrigin origin = tile_origin(grid);
  const InputMatrix in = input_matrix(p, origin.matrix);
  const OutputMatrix out = output_matrix(p, origin.matrix);
  const char* first = in.first + origin.r * in.pitch + origin.c * kBytes;
  const GatheredTile<kBytes, kSkewed> tile(&shared_storage<char>(), first, grid.pitch);
  const int rows = static_cast<int>(min(int64_t{grid.rows}, p.rows - origin.r));
  const int cols = static_cast<int>(min(int64_t{grid.step_c}, p.cols - origin.c));
  fetch_tile<kBytes, kSkewed>(tile, p, in, first, rows, cols * kBytes, packs);
  const Gatherer<kBytes, kSkewed> gatherer(tile, p.ldout);
  char* to = out.first + (origin.c + gatherer.column) * out.pitch + origin.r * kBytes;
  const int64_t stride = gatherer.step * out.pitch, left = (p.rows - origin.r) * kBytes;
  const int bytes = grid.step_r * kBytes;
  const auto to_sector = [](const char* row) {
    return -static_cast<int>(reinterpret_cast<uintptr_t>(row)) & (kSectorBytes - 1);
  };
  ptx::cp_async_wait_all();
  __syncthreads();
  const bool shifts = grid.rows > grid.step_r;
  if ((origin.r > 0 || !shifts) && left >= bytes + (shifts ? kSectorBytes : 0)) {
    for (int c = gatherer.column; c < cols; c += gatherer.step, to += stride) {
      const int sector = to_sector(to);
      gatherer.template write_packs<Caching::kDefault>(c, sector / kBytes, to + sector, bytes);
    }
    return;
  }
  for (int c = gatherer.column; c < cols; c += gatherer.step, to += stride) {
    const int sector = to_sector(to);
    gatherer.template write_part<Caching::kDefault>(
        c, to, origin.r == 0 ? 0 : sector, static_cast<int>(min(left, int64_t{sector} + bytes)));
  }
}

// ---- few rows, without gaps in the output -------------------------------------------------------

// kPackElements consecutive elements of a run of rows of the output, from (c, r) on.
template <int kBytes>
__device__ __forceinline__ Pack pack_of_run(const GatheredTile<kBytes, false>& tile, int rows,
                                            int c, int r) {
  const char* at = tile.memory + tile.place(r) + c * kBytes;
  const int next_row = kBytes - rows * tile.pitch;
  int left = rows - r;
  Element<kBytes> element[kPackElements<kBytes>];
#pragma unroll
  for (int k = 0; k < kPackElements<kBytes>; ++k) {
    element[k] = *reinterpret_cast<const Element<kBytes>*>(at);
    at += tile.pitch;
    if (--left == 0) at += next_row, left = rows;
  }
  Pack pack;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (kBytes == 8) {
      pack.word[w] = static_cast<uint32_t>(element[w / 2] >> w % 2 * 32);
    } else if constexpr (kBytes == 4) {
      pack.word[w] = element[w];
    } else if constexpr (kBytes == 2) {
      pack.word[w] = __byte_perm(element[2 * w], element[2 * w + 1], 0x5410);
    } else {
      pack.word[w] =
          __byte_perm(__byte_perm(element[4 * w], element[4 * w + 1], 0x0040),
                      __byte_perm(element[4 * w + 2], element[4 * w + 3], 0x0040), 0x5410);
    }
  }
  return pack;
}

template <int kBytes>
__global__ void __launch_bounds__(kGatherThreads, 2)
    transpose_gathered_runs(const TransposeProblem p, const GatheredGrid grid, const Divisor packs,
                            const Divisor per_row) {
  const int64_t matrix = blockIdx.x / grid.tiles_c;
  const int64_t first_c = int64_t{blockIdx.x % grid.tiles_c} * grid.step_c;
  const InputMatrix in = input_matrix(p, matrix);
  const char* first = in.first + first_c * kBytes;
  const GatheredTile<kBytes, false> tile(&shared_storage<char>(), first, grid.pitch);
  const int rows = static_cast<int>(p.rows);
  const int cols = static_cast<int>(min(int64_t{grid.step_c}, p.cols - first_c));
  fetch_tile<kBytes, false>(tile, p, in, first, rows, cols * kBytes, packs);
  char* to = output_matrix(p, matrix).first + first_c * rows * kBytes;
  const int bytes = cols * rows * kBytes;
  const int head = min(-static_cast<int>(reinterpret_cast<uintptr_t>(to)) & 15, bytes);
  const int tail = head + (bytes - head) / 16 * 16;
  const auto place_at = [&](int byte, auto use) {
    const unsigned element = static_cast<unsigned>(byte) / kBytes, c = per_row.quotient(element);
    use(static_cast<int>(c), static_cast<int>(element - c * per_row.value()));
  };
  ptx::cp_async_wait_all();
  __syncthreads();
#pragma unroll 1
  for (int byte = head + 16 * static_cast<int>(threadIdx.x); byte < tail;
       byte += 16 * static_cast<int>(blockDim.x)) {
    place_at(byte, [&](int c, int r) {
      store_pack<Caching::kDefault>(to + byte, pack_of_run<kBytes>(tile, rows, c, r));
    });
  }
  for (int i = static_cast<int>(threadIdx.x) * kBytes; i < head + bytes - tail;
       i += static_cast<int>(blockDim.x) * kBytes) {
    const int byte = i < head ? i : tail + i - head;
    place_at(byte, [&](int c, int r) {
      *reinterpret_cast<Element<kBytes>*>(to + byte) =
          *reinterpret_cast<const Element<kBytes>*>(tile.memory + tile.place(r) + c * kBytes);
    });
  }
}

// ---- square matrices in place -------------------------------------------------------------------

// Blocks of a multiprocessor, at least: with registers for two, sm_75 spills.
__device__ constexpr int swapping_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 1;
#else
  return 2;
#endif
}

// A block swaps a tile on or below the diagonal with its mirror image. Blocks take groups of tiles:
// a sector that two tiles share is then written by blocks that run at about the same time.
template <int kBytes, bool kSkewed>
__global__ void __launch_bounds__(kGatherThreads, swapping_blocks())
    swap_gathered(const TransposeProblem p, const GatheredGrid grid, const Divisor packs) {
  const unsigned groups = groups_of(grid.tiles_r);
  const unsigned blocks = static_cast<unsigned>(tile_pairs(groups)) << 2 * kLog2SwappedTogether;
  const int64_t matrix = blockIdx.x / blocks;
  const unsigned index = blockIdx.x % blocks;
  const TilePair group = tile_pair(index >> 2 * kLog2SwappedTogether, groups);
  const auto in_group = [](unsigned tile, unsigned number) {
    return (tile << kLog2SwappedTogether) + (number & ((1u << kLog2SwappedTogether) - 1));
  };
  const unsigned row = in_group(group.row, index >> kLog2SwappedTogether);
  const unsigned col = in_group(group.col, index);
  if (col > row || row >= grid.tiles_r) return;
  const InputMatrix in = input_matrix(p, matrix);
  char* const out = output_matrix(p, matrix).first;
  // Tile 0 is the lower one; on the diagonal there is no other.
  const int tiles = row == col ? 1 : 2;
  const auto row_of = [&](int t) { return int64_t{t == 0 ? row : col} * grid.step_r; };
  const auto extent = [&](int64_t begin) {
    return static_cast<int>(min(int64_t{grid.step_r}, p.rows - begin));
  };
  const auto first_of = [&](int t) { return row_of(t) * in.pitch + row_of(1 - t) * kBytes; };
  const auto tile_of = [&](int t) {
    return GatheredTile<kBytes, kSkewed>(&shared_storage<char>() + t * grid.tile_bytes,
                                         in.first + first_of(t), grid.pitch);
  };
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    fetch_tile<kBytes, kSkewed>(tile_of(t), p, in, in.first + first_of(t), extent(row_of(t)),
                                extent(row_of(1 - t)) * kBytes, packs);
  }
  ptx::cp_async_wait_all();
  __syncthreads();
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    const GatheredTile<kBytes, kSkewed> tile = tile_of(t);
    const Gatherer<kBytes, kSkewed> gatherer(tile, p.ldout);
    const int bytes = extent(row_of(t)) * kBytes, cols = extent(row_of(1 - t));
    char* to = out + first_of(1 - t) + gatherer.column * in.pitch;
    for (int c = gatherer.column; c < cols; c += gatherer.step, to += gatherer.step * in.pitch) {
      gatherer.template write_part<Caching::kInL2>(c, to, 0, bytes);
    }
  }
}

}  // namespace

Status cuda::launch_transpose_gathered(const TransposeProblem& p, const TransposeConfig& config,
                                       const LaunchContext& context) {
  const GatheredGrid& grid = config.gathered;
  return with_small_element(p.element_size, [&](auto bytes) {
    const auto kernel =
        grid.skewed ? transpose_gathered<bytes, true> : transpose_gathered<bytes, false>;
    return launch(context, kernel, config, p, grid, Divisor(static_cast<unsigned>(grid.packs)));
  });
}

Status cuda::launch_transpose_gathered_runs(const TransposeProblem& p,
                                            const TransposeConfig& config,
                                            const LaunchContext& context) {
  const GatheredGrid& grid = config.gathered;
  return with_small_element(p.element_size, [&](auto bytes) {
    return launch(context, transpose_gathered_runs<bytes>, config, p, grid,
                  Divisor(static_cast<unsigned>(grid.packs)),
                  Divisor(static_cast<unsigned>(p.rows)));
  });
}

Status cuda::launch_transpose_gathered_in_place(const TransposeProblem& p,
                                                const TransposeConfig& config,
                                                const LaunchContext& context) {
  const GatheredGrid& grid = config.gathered;
  return with_small_element(p.element_size, [&](auto bytes) {
    const auto kernel = grid.skewed ? swap_gathered<bytes, true> : swap_gathered<bytes, false>;
    return launch(context, kernel, config, p, grid, Divisor(static_cast<unsigned>(grid.packs)));
  });
}

}  // namespace mygemm
