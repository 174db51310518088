// The tiles of the transpose kernels: what the plan, the table of rows and the kernels share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "problem.h"

namespace mygemm {

// A square tile of elements of kBytes bytes each, padded by one element: columns of the tile are
// then in different banks. 64 elements a side keep rows of small elements a whole sector long.
constexpr int transpose_tile_side(int64_t element_size) { return element_size <= 4 ? 64 : 32; }

template <int kBytes>
struct TransposeTile {
  static constexpr int kSide = transpose_tile_side(kBytes);
  static constexpr int kThreads = 256;
  static constexpr int kRowsPerPass = kThreads / kSide;
  static constexpr int kPasses = kSide / kRowsPerPass;
};

constexpr int kTransposeThreads = 256;

// Elements as plain bits. 16-byte ones are only promised to be 8-byte aligned.
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

template <int kBytes>
struct TransposeStorage {
  Element<kBytes> tile[TransposeTile<kBytes>::kSide][TransposeTile<kBytes>::kSide + 1];
};

// ---- tiles of packs ----------------------------------------------------------------------------

// Elements of a pack: 16 bytes, the largest access of a thread.
template <int kBytes>
inline constexpr int kPackElements = 16 / kBytes;

// A tile is made of patches, squares as wide and as high as a pack has elements. Powers of two, so
// that a thread finds its patch with shifts; chosen for each call, so that narrow and small
// matrices have tiles that fit. Measured on an H200: not slower than a shape fixed when compiling.
struct PatchTile {
  int log2_cols;      // patches along a row of the input
  int log2_rows;      // patches along a row of the output
  int log2_matrices;  // matrices of the batch

  constexpr int log2_patches() const { return log2_cols + log2_rows + log2_matrices; }
};

// In which order the tiles of a matrix get their blocks; blocks start in the order of their index.
enum class TileOrder {
  kAlongOutput,  // down a column of the input: the writes of neighbouring blocks are neighbours
  kAlongInput,
  kTwoStreams,  // kAlongOutput in two places half a matrix apart, taking turns
};

// A launch of one of the kernels that work on tiles of patches.
struct PatchGrid {
  PatchTile tile;
  TileOrder order;
  unsigned tiles_r, tiles_c;  // of a matrix
  int step_r, step_c;  // elements from a tile to the next one; less than a tile: they overlap
  int64_t blocks;      // may be more than a grid can have
  int threads;
  size_t shared_bytes;
};

// What a kernel on tiles of patches wants of its grid.
struct PatchKernel {
  enum class Fit { kAny, kSquare, kFixed };  // what the tile may become for smaller matrices

  PatchTile tile;  // where the matrix is large
  Fit fit = Fit::kAny;
  int log2_patches_a_thread = 0;
  int most_log2_cols = 10;
  int lost_cols = 0, lost_rows = 0;  // packs along each side that the next tile has too
};

// The grid for a problem: smaller tiles for small matrices, and for calls that would not fill the
// GPU; longer ones for narrow matrices; several matrices of a batch in one tile.
PatchGrid patch_grid(const PatchKernel&, const TransposeProblem&, const DeviceTraits&);

// The largest power of two, up to 128, that divides the address of every row of the input, or of
// the output, of every matrix.
int64_t input_alignment(const TransposeProblem&);
int64_t output_alignment(const TransposeProblem&);

constexpr int kPackBytes = 16;
constexpr int kSectorBytes = 32;  // memory is read and written in sectors

// Whether all rows begin at multiples of 16 bytes.
inline bool in_packs(const TransposeProblem& p) {
  return input_alignment(p) >= kPackBytes && output_alignment(p) >= kPackBytes;
}

// What the `shifted` kernel shifts: rows that do not begin with a sector, and at least one side.
inline bool shifts_input(const TransposeProblem& p) { return input_alignment(p) < kSectorBytes; }
inline bool shifts_output(const TransposeProblem& p) {
  return output_alignment(p) < kSectorBytes || !shifts_input(p);
}

// Whether the input is less than three times the second-level cache. Then it pays not to let what
// is used once push out what else is there; see Caching in pack.cuh.
bool is_streamed(const TransposeProblem&, const DeviceTraits&);

// The kernels of the table that work on tiles of patches.
PatchKernel vector_kernel(const TransposeProblem&);
PatchKernel shifted_kernel(const TransposeProblem&);
PatchKernel tma_kernel(const TransposeProblem&);
PatchKernel in_place_kernel(const TransposeProblem&);

// What is left of a transpose in place once the input has been copied to the workspace, without
// gaps, and the kernel that does it: `vector` where it can, else `shifted`.
TransposeProblem from_workspace(const TransposeProblem&, const void* workspace);
PatchKernel kernel_from_workspace(const TransposeProblem&);

// ---- narrow matrices ---------------------------------------------------------------------------

// Matrices of few columns whose rows follow each other without gaps (those of the input, or, where
// it has few rows, those of the output): a run of such rows is a run of memory, whatever their
// width. Small matrices without gaps are runs as a whole.
struct NarrowGrid {
  enum class Side { kNone, kInputRuns, kOutputRuns, kSmall };

  Side side = Side::kNone;  // kNone: the problem is not of this kind
  int length = 0;           // rows of a run, a power of two; of a small matrix all of them
  int matrices = 0;         // small ones in a block
  int64_t blocks = 0;       // may be more than a grid can have
  size_t shared_bytes = 0;
};

constexpr int kNarrowThreads = 256;
NarrowGrid narrow_grid(const TransposeProblem&);

}  // namespace mygemm
