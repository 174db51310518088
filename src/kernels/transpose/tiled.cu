// Transpose, step 2 of the ladder: a block reads a square tile by rows into padded shared memory
// and writes it by columns, so that both sides of the copy are contiguous. Also in place: pairs of
// mirrored tiles of a square matrix, and any matrix by way of the workspace.
#include <cmath>

#include "kernels/launch.h"
#include "kernels/rows.h"
#include "kernels/transpose/tiles.h"
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

// Both go through registers so that a thread's loads are all in flight before the first store:
// the compiler may not move a load across a store that could be to the same place.
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

// Blocks walk the output along its rows: writes of neighbouring blocks are neighbours.
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

// The pair (row, column), column <= row, of the `index`-th tile of a lower triangle.
__device__ void triangle(int64_t index, int64_t* row, int64_t* column) {
  int64_t r = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(index) + 1.0) - 1.0) / 2.0);
  while (r * (r + 1) / 2 > index) --r;  // the square root may be off by a rounding
  while ((r + 1) * (r + 2) / 2 <= index) ++r;
  *row = r;
  *column = index - r * (r + 1) / 2;
}

// A block swaps a tile below the diagonal with its mirror image; on the diagonal they are one.
template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads)
    square_in_place(const TransposeProblem p, const int64_t pairs) {
  using T = Element<kBytes>;
  struct Storage {
    TransposeStorage<kBytes> lower, upper;
  };
  constexpr int kSide = TransposeTile<kBytes>::kSide;
  auto& shared = shared_storage<Storage>();
  const int64_t batch = blockIdx.x / pairs;
  int64_t r, c;
  triangle(blockIdx.x % pairs, &r, &c);
  r *= kSide;
  c *= kSide;
  T* matrix = static_cast<T*>(p.out) + batch * p.stride_out;
  const TilePlace<T> lower{matrix + r * p.ldout + c, p.ldout, p.rows - r, p.cols - c};
  const TilePlace<T> upper{matrix + c * p.ldout + r, p.ldout, p.rows - c, p.cols - r};
  read_tile<kBytes>(shared.lower, {lower.origin, lower.ld, lower.rows, lower.cols});
  read_tile<kBytes>(shared.upper, {upper.origin, upper.ld, upper.rows, upper.cols});
  __syncthreads();
  write_transposed<kBytes>(shared.lower, upper);
  write_transposed<kBytes>(shared.upper, lower);
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

template <int kBytes>
Status launch_tiled(const TransposeProblem& p, const LaunchContext& context) {
  constexpr int kSide = TransposeTile<kBytes>::kSide;
  const int64_t tiles_r = ceil_div(p.rows, kSide), tiles_c = ceil_div(p.cols, kSide);
  return launch(context, transpose_tiled<kBytes>, grid_size(tiles_r * tiles_c * p.batch_count),
                kTransposeThreads, sizeof(TransposeStorage<kBytes>), p, tiles_r, tiles_c);
}

}  // namespace

Status cuda::launch_transpose_tiled(const TransposeRow&, const TransposeProblem& p,
                                    const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) { return launch_tiled<bytes>(p, context); });
}

Status cuda::launch_transpose_square_in_place(const TransposeRow&, const TransposeProblem& p,
                                              const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    const int64_t tiles = ceil_div(p.rows, TransposeTile<bytes>::kSide);
    const int64_t pairs = tiles * (tiles + 1) / 2;
    return launch(context, square_in_place<bytes>, grid_size(pairs * p.batch_count),
                  kTransposeThreads, 2 * sizeof(TransposeStorage<bytes>), p, pairs);
  });
}

Status cuda::launch_transpose_through_workspace(const TransposeRow&, const TransposeProblem& p,
                                                const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    auto* dense = static_cast<Element<bytes>*>(context.workspace);
    const int64_t elements = p.rows * p.cols * p.batch_count;
    RETURN_IF_ERROR(launch(context, copy_dense<bytes>,
                           grid_size(ceil_div(elements, kTransposeThreads)), kTransposeThreads, 0,
                           p, dense));
    TransposeProblem from_workspace = p;
    from_workspace.in = dense;
    from_workspace.ldin = p.cols;
    from_workspace.stride_in = p.rows * p.cols;
    return launch_tiled<bytes>(from_workspace, context);
  });
}

}  // namespace mygemm
