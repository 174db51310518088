// Transpose by tiles: a block reads a square tile by rows into padded shared memory and writes it
// by columns, so that global loads and stores are both coalesced. Square matrices also in place: a
// block swaps two mirrored tiles.
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/tiles.h"
#include "kernels/transpose/triangle.h"
#include "kernels/transpose/with_element.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// A tile's place: element (0, 0) and how much of it is inside its matrix.
template <class T>
struct TilePlace {
  T* origin;
  int64_t ld;
  int64_t rows, cols;  // may exceed the tile
};

// Reads and writes go through registers, so that all loads of a thread are in flight before its
// first store: the compiler may not move a load across a store that may have the same address.
template <int kBytes>
__device__ __forceinline__ void read_tile(TransposeStorage<kBytes>& shared,
                                          const TilePlace<const Element<kBytes>>& from) {
  using Tile = TransposeTile<kBytes>;
  const int c = static_cast<int>(threadIdx.x) % Tile::kSide;
  const int r0 = static_cast<int>(threadIdx.x) / Tile::kSide;
  Element<kBytes> value[Tile::kPasses] = {};
#pragma unroll
  for (int pass = 0; pass < Tile::kPasses; ++pass) {
    const int r = r0 + pass * Tile::kRowsPerPass;
    if (r < from.rows && c < from.cols) value[pass] = from.origin[r * from.ld + c];
  }
#pragma unroll
  for (int pass = 0; pass < Tile::kPasses; ++pass) {
    shared.tile[r0 + pass * Tile::kRowsPerPass][c] = value[pass];
  }
}

// Writes the transpose of the tile: row r of the place is column r of the tile.
template <int kBytes>
__device__ __forceinline__ void write_transposed(const TransposeStorage<kBytes>& shared,
                                                 const TilePlace<Element<kBytes>>& to) {
  using Tile = TransposeTile<kBytes>;
  const int c = static_cast<int>(threadIdx.x) % Tile::kSide;
  const int r0 = static_cast<int>(threadIdx.x) / Tile::kSide;
  Element<kBytes> value[Tile::kPasses];
#pragma unroll
  for (int pass = 0; pass < Tile::kPasses; ++pass) {
    value[pass] = shared.tile[c][r0 + pass * Tile::kRowsPerPass];
  }
#pragma unroll
  for (int pass = 0; pass < Tile::kPasses; ++pass) {
    const int r = r0 + pass * Tile::kRowsPerPass;
    if (r < to.rows && c < to.cols) to.origin[r * to.ld + c] = value[pass];
  }
}

// Blocks are assigned along the rows of the output: neighbouring blocks write neighbouring memory.
template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads)
    transpose_tiled(const TransposeProblem p, const int64_t tiles_r, const int64_t tiles_c) {
  using T = Element<kBytes>;
  constexpr int kSide = TransposeTile<kBytes>::kSide;
  auto& shared = shared_storage<TransposeStorage<kBytes>>();
  const int64_t r = blockIdx.x % tiles_r * kSide;
  const int64_t c = blockIdx.x / tiles_r % tiles_c * kSide;
  const int64_t batch = blockIdx.x / (tiles_r * tiles_c);
  const T* in = static_cast<const T*>(p.in) + batch * p.stride_in;
  T* out = static_cast<T*>(p.out) + batch * p.stride_out;
  read_tile<kBytes>(shared, {in + r * p.ldin + c, p.ldin, p.rows - r, p.cols - c});
  __syncthreads();
  write_transposed<kBytes>(shared, {out + c * p.ldout + r, p.ldout, p.cols - c, p.rows - r});
}

// A block swaps a tile below the diagonal with its mirror image; on the diagonal they are one.
template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads)
    square_in_place(const TransposeProblem p, const unsigned tiles) {
  using T = Element<kBytes>;
  struct Storage {
    TransposeStorage<kBytes> lower, upper;
  };
  static_assert(sizeof(Storage) == 2 * sizeof(TransposeStorage<kBytes>));
  constexpr int kSide = TransposeTile<kBytes>::kSide;
  auto& shared = shared_storage<Storage>();
  const unsigned pairs = static_cast<unsigned>(tile_pairs(tiles));
  const int64_t batch = blockIdx.x / pairs;
  const TilePair pair = tile_pair(blockIdx.x % pairs, tiles);
  const int64_t r = int64_t{pair.row} * kSide, c = int64_t{pair.col} * kSide;
  T* matrix = static_cast<T*>(p.out) + batch * p.stride_out;
  const TilePlace<T> lower{matrix + r * p.ldout + c, p.ldout, p.rows - r, p.cols - c};
  const TilePlace<T> upper{matrix + c * p.ldout + r, p.ldout, p.rows - c, p.cols - r};
  read_tile<kBytes>(shared.lower, {lower.origin, lower.ld, lower.rows, lower.cols});
  read_tile<kBytes>(shared.upper, {upper.origin, upper.ld, upper.rows, upper.cols});
  __syncthreads();
  write_transposed<kBytes>(shared.lower, upper);
  write_transposed<kBytes>(shared.upper, lower);
}

}  // namespace

Status cuda::launch_transpose_tiled(const TransposeProblem& p, const TransposeConfig& config,
                                    const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    return launch(context, transpose_tiled<bytes>, static_cast<unsigned>(config.blocks),
                  config.threads, config.shared_bytes, p, config.tiles_r, config.tiles_c);
  });
}

Status cuda::launch_transpose_square_in_place(const TransposeProblem& p,
                                              const TransposeConfig& config,
                                              const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    return launch(context, square_in_place<bytes>, static_cast<unsigned>(config.blocks),
                  config.threads, config.shared_bytes, p, static_cast<unsigned>(config.tiles_r));
  });
}

}  // namespace mygemm
