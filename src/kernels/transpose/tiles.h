// Tiles and grids of the transpose kernels, used by configurations and kernels. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_traits.h"
#include "problem.h"

namespace mygemm {

// Side of the square tiles of the tiled kernel, in elements. With 64, the rows of small elements
// are at least a sector long.
constexpr int transpose_tile_side(int64_t element_size) { return element_size <= 4 ? 64 : 32; }

template <int kBytes>
struct TransposeTile {
  static constexpr int kSide = transpose_tile_side(kBytes);
  static constexpr int kThreads = 256;
  static constexpr int kRowsPerPass = kThreads / kSide;
  static constexpr int kPasses = kSide / kRowsPerPass;
};

constexpr int kTransposeThreads = 256;  // of a block of the tiled, naive and copying kernels

// Elements as plain bits. Those of 16 bytes may be aligned to 8 bytes only.
struct Bits128 {
  uint64_t low, high;
};

template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using type = uint8_t;
};
template <>
struct ElementOf<2> {
  using type = uint16_t;
};
template <>
struct ElementOf<4> {
  using type = uint32_t;
};
template <>
struct ElementOf<8> {
  using type = uint64_t;
};
template <>
struct ElementOf<16> {
  using type = Bits128;
};
template <int kBytes>
using Element = typename ElementOf<kBytes>::type;

// A tile in shared memory, each row padded by one element to avoid bank conflicts along columns.
template <int kBytes>
struct TransposeStorage {
  Element<kBytes> tile[TransposeTile<kBytes>::kSide][TransposeTile<kBytes>::kSide + 1];
};

// ---- tiles of packs ----------------------------------------------------------------------------

// Elements of a pack: 16 bytes, the widest access of a thread.
template <int kBytes>
inline constexpr int kPackElements = 16 / kBytes;

constexpr int kPackBytes = 16;
constexpr int kSectorBytes = 32;  // the unit of memory transfers

// A tile consists of patches: square blocks of elements, a pack wide and as many rows high. The
// extents are powers of two, so that a thread finds its patch by shifts, and are chosen for each
// call, so that they fit narrow and small matrices. H200: not slower than extents fixed at compile
// time.
struct PatchTile {
  int log2_cols;      // patches along a row of the input
  int log2_rows;      // patches along a row of the output
  int log2_matrices;  // matrices of the batch

  constexpr int log2_patches() const { return log2_cols + log2_rows + log2_matrices; }
};

// The order in which blocks are assigned to the tiles of a matrix.
enum class TileOrder {
  kAlongOutput,  // down a column of the input: neighbouring blocks write neighbouring memory
  kAlongInput,
  kTwoStreams,  // kAlongOutput, alternating between two places half a matrix apart
};

// The grid of a kernel that works on tiles of patches.
struct PatchGrid {
  PatchTile tile;
  TileOrder order;
  unsigned tiles_r, tiles_c;  // of a matrix
  int step_r,
      step_c;      // elements from a tile to the next one; less than the tile where they overlap
  int64_t blocks;  // may be more than a grid can have
  int threads = 0;
  size_t shared_bytes;  // of one tile
};

constexpr int log2_matrices(const PatchGrid& grid) { return grid.tile.log2_matrices; }

// The requirements of such a kernel on its grid.
struct PatchKernel {
  enum class Fit { kAny, kSquare, kFixed };  // how the tile may shrink for smaller matrices

  PatchTile tile;  // of large matrices
  Fit fit = Fit::kAny;
  int log2_patches_a_thread = 0;
  int lost_rows = 0;  // packs of overlap with the next tile along a row of the output
};

// The grid for a problem: smaller tiles for small matrices and for calls that would not fill the
// GPU; elongated ones for narrow matrices; several matrices of a batch in one tile.
PatchGrid patch_grid(const PatchKernel&, const TransposeProblem&, const DeviceTraits&);

TileOrder tile_order(const TransposeProblem&);

// Patches of a thread. H200: 16 x 16 patches, one a thread, draw 0.97 to 0.99 of a copy, and more
// were never better. Two for 16-byte elements, whose patches are single packs: one draws 0.92, and
// larger tiles 0.92 too.
constexpr int vector_patches(int64_t element_size) { return element_size == 16 ? 2 : 1; }
constexpr int tma_patches(int64_t element_size) { return element_size == 16 ? 2 : 1; }
constexpr int shifted_patches(int64_t element_size) { return element_size >= 4 ? 2 : 1; }
// Patches of a thread in the two tiles together that a block swaps. H200: one patch of each tile
// draws 0.94 of a copy, one patch alone 0.92.
constexpr int in_place_patches(int64_t element_size) {
  return element_size == 16 ? 4 : element_size == 1 ? 1 : 2;
}

// The largest power of two, up to 128, that divides the address of every row of every matrix.
struct RowAlignment {
  int64_t in, out;

  bool in_packs() const { return in >= kPackBytes && out >= kPackBytes; }
};
inline RowAlignment row_alignment(const TransposeProblem& p) {
  constexpr uint64_t kMost = 128;
  const auto size = static_cast<uint64_t>(p.element_size);
  const auto alignment = [&](const void* first, int64_t ld, int64_t stride) {
    const uint64_t between_rows = static_cast<uint64_t>(ld) * size;
    const uint64_t between_matrices = p.batch_count > 1 ? static_cast<uint64_t>(stride) * size : 0;
    const uint64_t bits =
        reinterpret_cast<uintptr_t>(first) | between_rows | between_matrices | kMost;
    return static_cast<int64_t>(bits & (~bits + 1));
  };
  return {alignment(p.in, p.ldin, p.stride_in), alignment(p.out, p.ldout, p.stride_out)};
}

// Tiles of a matrix along its rows and columns, and groups of matrices.
struct TileCounts {
  int64_t r, c, matrices;

  int64_t blocks() const {  // INT64_MAX where that is too small
    const double product =
        static_cast<double>(r) * static_cast<double>(c) * static_cast<double>(matrices);
    // Unsigned: r * c may be anything where there are no matrices.
    const uint64_t exact =
        static_cast<uint64_t>(r) * static_cast<uint64_t>(c) * static_cast<uint64_t>(matrices);
    return product < 9e18 ? static_cast<int64_t>(exact) : INT64_MAX;
  }
};

// ---- narrow matrices ---------------------------------------------------------------------------

// The grid of the narrow kernel, for matrices with few columns whose rows are contiguous in memory,
// without gaps between them (the rows of the input or, where it has few rows, those of the output).
// A run of such rows is contiguous, whatever their width. Small matrices without gaps are one run.
struct NarrowGrid {
  enum class Side { kNone, kInputRuns, kOutputRuns, kSmall };

  Side side = Side::kNone;  // kNone: the kernel does not run the problem
  int length = 0;           // rows of a run, a power of two; all rows of a small matrix
  int matrices = 0;         // of a block: several small ones
  int64_t runs = 0;         // of a matrix
  int64_t blocks = 0;       // may be more than a grid can have
  size_t shared_bytes = 0;
  bool wide = false;      // accesses of the long side have narrow_access_bytes()
  int line_accesses = 0;  // of a run's extent along the long side
};

constexpr int kNarrowThreads = 256;

// Bytes of an access of the long side where its lines are aligned to as many, else an element.
// Address computations are most of the instructions; with packs there are few.
//
// H200, fp32: 16 bytes draw 0.99 of a copy, 4 bytes 0.88. With 16 bytes, smaller elements are
// scattered over too few banks: 0.63 for 2 bytes and 0.38 for 1, where 4 bytes draw 0.80 and 0.63.
constexpr int narrow_access_bytes(int64_t element_size) {
  return element_size == 1 ? 4 : element_size == 2 ? 8 : 16;
}

}  // namespace mygemm
