// Tiles of patches in shared memory: the place of a block's tile in the matrix, staging its
// transpose, and writing the staged rows. Shared by the kernels that move packs. Device only.
//
// A staged tile is the tile's transpose: for each matrix and each column of the input (a row of the
// output), 2^log2_rows packs. A warp stores packs that are neighbours in a row of the input, and so
// are a column of packs apart in the staged tile; it loads consecutive packs. Without the swizzle
// of slot() the stores of 8 lanes would conflict in the same 4 banks.
#pragma once

#include "kernels/transpose/pack.cuh"
#include "ptx/shared.cuh"

namespace mygemm {

template <int kBytes>
inline constexpr int kLog2PackElements = kBytes == 1   ? 4
                                         : kBytes == 2 ? 3
                                         : kBytes == 4 ? 2
                                         : kBytes == 8 ? 1
                                                       : 0;

// A block's tile: its element (0, 0) in the matrix, and its first matrix.
struct TileOrigin {
  int64_t r, c, matrix;
};

// The tile of the block, of a PatchGrid or a GatheredGrid.
template <class Grid>
__device__ __forceinline__ TileOrigin tile_origin(const Grid& grid) {
  const unsigned per_matrix = grid.tiles_r * grid.tiles_c;
  const unsigned matrices = blockIdx.x / per_matrix, tile = blockIdx.x % per_matrix;
  unsigned r, c;
  if (grid.order == TileOrder::kAlongInput) {
    r = tile / grid.tiles_c;
    c = tile % grid.tiles_c;
  } else if (grid.order == TileOrder::kAlongOutput) {
    r = tile % grid.tiles_r;
    c = tile / grid.tiles_r;
  } else {
    r = tile / 2 % grid.tiles_r;
    c = tile / 2 / grid.tiles_r + tile % 2 * (grid.tiles_c / 2);
  }
  return {int64_t{r} * grid.step_r, int64_t{c} * grid.step_c,
          int64_t{matrices} << log2_matrices(grid)};
}

// A patch of the tile: its column and row of patches, and its matrix. Lanes take patches along a
// row of the input.
struct Patch {
  int col, row, matrix;
};

__device__ __forceinline__ Patch patch_at(const PatchTile& tile, unsigned index) {
  return {static_cast<int>(index & ((1u << tile.log2_cols) - 1)),
          static_cast<int>(index >> tile.log2_cols & ((1u << tile.log2_rows) - 1)),
          static_cast<int>(index >> (tile.log2_cols + tile.log2_rows))};
}

// The slot of pack `index` of a staged tile: a permutation of every 8 packs, a different one in
// each column of patches. (With a shift of 0 the bits would cancel out.)
template <int kBytes>
__device__ __forceinline__ unsigned slot(const PatchTile& tile, unsigned index) {
  return index ^ (index >> max(tile.log2_rows + kLog2PackElements<kBytes>, 1) & 7);
}

// Transposes a patch and puts it into the staged tile.
template <int kBytes>
__device__ __forceinline__ void stage_patch(Pack* staged, const PatchTile& tile, const Patch& at,
                                            Pack (&patch)[kPackElements<kBytes>]) {
  constexpr int kPacks = kPackElements<kBytes>;
  transpose_patch<kBytes>(patch);
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int row = ((at.matrix << tile.log2_cols) + at.col) * kPacks + i;
    staged[slot<kBytes>(tile, static_cast<unsigned>(row << tile.log2_rows | at.row))] = patch[i];
  }
}

// A pack of a staged tile's rows, lanes along a row of the output.
struct StagedPack {
  int pack, row, matrix;  // in the tile: `row` is a column of the input
};

template <int kBytes>
__device__ __forceinline__ StagedPack staged_at(const PatchTile& tile, unsigned index) {
  const int log2_lines = tile.log2_cols + kLog2PackElements<kBytes>;
  return {static_cast<int>(index & ((1u << tile.log2_rows) - 1)),
          static_cast<int>(index >> tile.log2_rows & ((1u << log2_lines) - 1)),
          static_cast<int>(index >> (tile.log2_rows + log2_lines))};
}

// One matrix of a batch, as bytes.
struct InputMatrix {
  const char* first;
  int64_t pitch;  // bytes from a row to the next
};
struct OutputMatrix {
  char* first;
  int64_t pitch;
};

__device__ __forceinline__ InputMatrix input_matrix(const TransposeProblem& p, int64_t matrix) {
  return {static_cast<const char*>(p.in) + matrix * p.stride_in * p.element_size,
          p.ldin * p.element_size};
}

__device__ __forceinline__ OutputMatrix output_matrix(const TransposeProblem& p, int64_t matrix) {
  return {static_cast<char*>(p.out) + matrix * p.stride_out * p.element_size,
          p.ldout * p.element_size};
}

// patch[i] = pack for an i that is not known at compile time; indexing would put the patch into
// local memory.
template <int kPacks>
__device__ __forceinline__ void set_pack(Pack (&patch)[kPacks], int64_t i, const Pack& pack) {
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (k == i) patch[k] = pack;
  }
}

// Reads the patch whose element (0, 0) is (r, c); rows begin at multiples of 16 bytes. A row's last
// pack may reach into the gap to the next row, but that of the last row not beyond the matrix.
template <int kBytes, Caching caching>
__device__ __forceinline__ void read_patch(Pack (&patch)[kPackElements<kBytes>],
                                           const TransposeProblem& p, const InputMatrix& in,
                                           int64_t r, int64_t c) {
  constexpr int kPacks = kPackElements<kBytes>;
  const char* first = in.first + r * in.pitch + c * kBytes;
  if (r + kPacks < p.rows && c < p.cols) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) patch[i] = load_pack<caching>(first + i * in.pitch);
    return;
  }
  const int64_t whole = c >= p.cols ? 0 : c + kPacks <= p.cols ? p.rows - r : p.rows - r - 1;
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    patch[i] = i < whole ? load_pack<caching>(first + i * in.pitch) : Pack{};
  }
  if (c < p.cols && whole == p.rows - r - 1 && whole >= 0 && whole < kPacks) {
    set_pack(patch, whole,
             load_part<kBytes>(first + whole * in.pitch, Part(0, (p.cols - c) * kBytes)));
  }
}

// The address in the output of pack `index` of the staged tile; nullptr outside the matrix. *left:
// the elements from there to the end of the row.
template <int kBytes>
__device__ __forceinline__ char* place_of(const TransposeProblem& p, const PatchGrid& grid,
                                          const TileOrigin& origin, unsigned index, int64_t* left) {
  const StagedPack at = staged_at<kBytes>(grid.tile, index);
  const int64_t c = origin.c + at.row, r = origin.r + at.pack * kPackElements<kBytes>;
  const int64_t matrix = origin.matrix + at.matrix;
  *left = p.rows - r;
  if (at.row >= grid.step_c || c >= p.cols || r >= p.rows || matrix >= p.batch_count) {
    return nullptr;
  }
  const OutputMatrix out = output_matrix(p, matrix);
  return out.first + c * out.pitch + r * kBytes;
}

// Writes pack `index` of the staged tile at `origin` if it is whole; rows of the output begin at
// multiples of 16 bytes.
template <int kBytes, Caching caching>
__device__ __forceinline__ void write_pack(const Pack* staged, const TransposeProblem& p,
                                           const PatchGrid& grid, const TileOrigin& origin,
                                           unsigned index) {
  int64_t left;
  char* to = place_of<kBytes>(p, grid, origin, index, &left);
  if (to == nullptr || left < kPackElements<kBytes>) return;
  store_pack<caching>(to, staged[slot<kBytes>(grid.tile, index)]);
}

// Writes the packs that are not whole: at most one for each row of the output.
template <int kBytes>
__device__ __forceinline__ void write_row_ends(const Pack* staged, const TransposeProblem& p,
                                               const PatchGrid& grid, const TileOrigin& origin) {
  const int64_t pack = (p.rows - origin.r) / kPackElements<kBytes>;
  if (p.rows % kPackElements<kBytes> == 0 || pack >= 1 << grid.tile.log2_rows) return;
  const unsigned lines = kPackElements<kBytes> << (grid.tile.log2_cols + grid.tile.log2_matrices);
  for (unsigned line = threadIdx.x; line < lines; line += blockDim.x) {
    const unsigned index = line << grid.tile.log2_rows | static_cast<unsigned>(pack);
    int64_t left;
    char* to = place_of<kBytes>(p, grid, origin, index, &left);
    if (to == nullptr) continue;
    store_part<kBytes>(to, staged[slot<kBytes>(grid.tile, index)], Part(0, left * kBytes));
  }
}

// Writes the staged tile, each thread kPacks packs.
template <int kBytes, Caching caching, int kPacks>
__device__ __forceinline__ void write_staged(const Pack* staged, const TransposeProblem& p,
                                             const PatchGrid& grid, const TileOrigin& origin) {
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    write_pack<kBytes, caching>(staged, p, grid, origin,
                                threadIdx.x + static_cast<unsigned>(i) * blockDim.x);
  }
  write_row_ends<kBytes>(staged, p, grid, origin);
}

}  // namespace mygemm
