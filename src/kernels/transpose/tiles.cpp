// Grids of the transpose kernels that work on tiles of patches. Pure.
#include "kernels/transpose/tiles.h"

#include <algorithm>

namespace mygemm {
namespace {

// The shortest power of two, as its logarithm, that is not less than n.
int ceil_log2(int64_t n) {
  int log2 = 0;
  while (log2 < 62 && int64_t{1} << log2 < n) ++log2;
  return log2;
}

int64_t pack_elements(const TransposeProblem& p) { return 16 / p.element_size; }

int64_t row_alignment(const void* first, int64_t ld, int64_t stride, const TransposeProblem& p) {
  constexpr uint64_t kMost = 128;
  const uint64_t size = static_cast<uint64_t>(p.element_size);
  const uint64_t between_rows = static_cast<uint64_t>(ld) * size;
  const uint64_t between_matrices = p.batch_count > 1 ? static_cast<uint64_t>(stride) * size : 0;
  const uint64_t bits =
      reinterpret_cast<uintptr_t>(first) | between_rows | between_matrices | kMost;
  return static_cast<int64_t>(bits & (~bits + 1));
}

TileOrder tile_order(const TransposeProblem& p) {
  // Rows this far apart are in the same few banks of the memory; reading in two places at once
  // keeps others busy. H200, of a copy: 0.975 for 8192 x 8192 of 16 bytes where kAlongOutput has
  // 0.931, 0.974 and 0.953 for 16384 x 16384 of 8; but 0.959 and 0.970 for 23168 x 23168 fp32.
  constexpr int64_t kSlowPitch = 131072;
  if (p.ldin % (kSlowPitch / p.element_size) == 0) return TileOrder::kTwoStreams;
  // H200, of a copy, 1048576 x 1024 fp32: 0.944, and 0.930 along the output.
  if (p.rows / 64 >= p.cols) return TileOrder::kAlongInput;
  return TileOrder::kAlongOutput;
}

struct TileCounts {
  int64_t r, c, matrices;  // tiles of a matrix along its rows and columns; groups of matrices

  int64_t blocks() const {  // INT64_MAX where that is too small
    const double product =
        static_cast<double>(r) * static_cast<double>(c) * static_cast<double>(matrices);
    // Unsigned: r * c may be anything where there are no matrices.
    const uint64_t exact =
        static_cast<uint64_t>(r) * static_cast<uint64_t>(c) * static_cast<uint64_t>(matrices);
    return product < 9e18 ? static_cast<int64_t>(exact) : INT64_MAX;
  }
};

// Elements from one tile to the next.
int64_t step(int log2_patches, int lost, const TransposeProblem& p) {
  return ((int64_t{1} << log2_patches) - lost) * pack_elements(p);
}

TileCounts count_tiles(const PatchKernel& kernel, const PatchTile& tile,
                       const TransposeProblem& p) {
  return {ceil_div(p.rows, step(tile.log2_rows, kernel.lost_rows, p)),
          ceil_div(p.cols, step(tile.log2_cols, kernel.lost_cols, p)),
          ceil_div(p.batch_count, int64_t{1} << tile.log2_matrices)};
}

// Narrow matrices leave patches of the kernel's tile without work: these go along the other side
// or to more matrices, as far as those are there.
PatchTile narrowed(const PatchKernel& kernel, const TransposeProblem& p) {
  PatchTile tile = kernel.tile;
  const auto packs = [&](int64_t size) {  // at least one, and few enough to add to
    return std::clamp<int64_t>(ceil_div(size, pack_elements(p)), 1, int64_t{1} << 40);
  };
  const int cols = ceil_log2(packs(p.cols) + kernel.lost_cols);
  const int rows = ceil_log2(packs(p.rows) + kernel.lost_rows);
  const int patches = tile.log2_patches();
  if (kernel.fit == PatchKernel::Fit::kSquare) {
    tile.log2_cols = tile.log2_rows = std::min(tile.log2_cols, std::max(cols, rows));
    return tile;
  }
  tile.log2_cols = std::min(tile.log2_cols, cols);
  tile.log2_rows = std::min(std::max(tile.log2_rows, patches - tile.log2_cols), rows);
  tile.log2_cols = std::min({patches - tile.log2_rows, cols, kernel.most_log2_cols});
  if (kernel.lost_cols == 0 && kernel.lost_rows == 0) {
    tile.log2_matrices = std::min(patches - tile.log2_patches(), ceil_log2(p.batch_count));
  }
  return tile;
}

// A step smaller in the longest direction.
PatchTile halved(const PatchKernel& kernel, PatchTile tile) {
  if (tile.log2_matrices > 0) {
    --tile.log2_matrices;
  } else if (kernel.fit == PatchKernel::Fit::kSquare) {
    --tile.log2_cols, --tile.log2_rows;
  } else {
    --(tile.log2_cols > tile.log2_rows ? tile.log2_cols : tile.log2_rows);
  }
  return tile;
}

PatchTile fitted_tile(const PatchKernel& kernel, const TransposeProblem& p,
                      const DeviceTraits& device) {
  if (kernel.fit == PatchKernel::Fit::kFixed) return kernel.tile;
  const int least = 5 + kernel.log2_patches_a_thread;  // a warp's
  PatchTile tile = narrowed(kernel, p);
  // H200, of a copy: 0.94 for 1024 x 1024 fp32 with 15 blocks a multiprocessor, 0.83 with 8, 0.78
  // with 2; from 8 on it matters less than the longer rows of larger tiles.
  const int64_t enough = int64_t{8} * device.num_sms;
  // Overlapping tiles stay as large as they are: smaller ones would read more twice.
  const bool overlap = kernel.lost_cols + kernel.lost_rows > 0;
  while (!overlap && halved(kernel, tile).log2_patches() >= least &&
         count_tiles(kernel, tile, p).blocks() < enough) {
    tile = halved(kernel, tile);
  }
  while (tile.log2_patches() < least) {
    ++tile.log2_rows;
    if (kernel.fit == PatchKernel::Fit::kSquare) ++tile.log2_cols;
  }
  return tile;
}

}  // namespace

PatchGrid patch_grid(const PatchKernel& kernel, const TransposeProblem& p,
                     const DeviceTraits& device) {
  const PatchTile tile = fitted_tile(kernel, p, device);
  TileCounts tiles = count_tiles(kernel, tile, p);
  PatchGrid grid;
  grid.tile = tile;
  grid.order = tile_order(p);
  if (grid.order == TileOrder::kTwoStreams) tiles.c = ceil_div(tiles.c, 2) * 2;
  grid.tiles_r = static_cast<unsigned>(std::min<int64_t>(tiles.r, INT32_MAX));
  grid.tiles_c = static_cast<unsigned>(std::min<int64_t>(tiles.c, INT32_MAX));
  grid.step_r = static_cast<int>(step(tile.log2_rows, kernel.lost_rows, p));
  grid.step_c = static_cast<int>(step(tile.log2_cols, kernel.lost_cols, p));
  grid.blocks = tiles.blocks();
  grid.threads = 1 << (tile.log2_patches() - kernel.log2_patches_a_thread);
  grid.shared_bytes = (size_t{16} << tile.log2_patches()) * static_cast<size_t>(pack_elements(p));
  return grid;
}

int64_t input_alignment(const TransposeProblem& p) {
  return row_alignment(p.in, p.ldin, p.stride_in, p);
}

int64_t output_alignment(const TransposeProblem& p) {
  return row_alignment(p.out, p.ldout, p.stride_out, p);
}

bool is_streamed(const TransposeProblem& p, const DeviceTraits& device) {
  const double bytes = static_cast<double>(p.rows) * static_cast<double>(p.cols) *
                       static_cast<double>(p.batch_count) * static_cast<double>(p.element_size);
  return bytes < 3.0 * static_cast<double>(device.l2_bytes);
}

PatchKernel vector_kernel(const TransposeProblem& p) {
  return {.tile = {4, 4, 0}, .log2_patches_a_thread = p.element_size == 16 ? 1 : 0};
}

PatchKernel shifted_kernel(const TransposeProblem& p) {
  const int lost_cols = shifts_input(p) ? 2 : 0, lost_rows = shifts_output(p) ? 2 : 0;
  // Long in the direction in which tiles overlap, and 32 KiB of elements of 4 bytes and more.
  PatchTile tile = {4, 4, 0};
  if (p.element_size >= 4) {
    tile = lost_cols > 0 ? PatchTile{5, 4, 0} : PatchTile{4, 5, 0};
  } else if (p.element_size == 2 && lost_rows == 0) {
    tile = {5, 3, 0};
  }
  return {.tile = tile,
          .log2_patches_a_thread = p.element_size >= 4 ? 1 : 0,
          .most_log2_cols = 5,  // a row of packs is shuffled within a warp
          .lost_cols = lost_cols,
          .lost_rows = lost_rows};
}

PatchKernel tma_kernel(const TransposeProblem& p) {
  constexpr auto kFixed = PatchKernel::Fit::kFixed;
  if (p.element_size == 16) return {.tile = {4, 6, 0}, .fit = kFixed, .log2_patches_a_thread = 1};
  if (p.element_size == 8) return {.tile = {4, 5, 0}, .fit = kFixed};
  return {.tile = {4, 4, 0}, .fit = kFixed};
}

PatchKernel in_place_kernel(const TransposeProblem& p) {
  constexpr auto kSquare = PatchKernel::Fit::kSquare;
  if (p.element_size == 16) return {.tile = {5, 5, 0}, .fit = kSquare, .log2_patches_a_thread = 1};
  return {.tile = {4, 4, 0}, .fit = kSquare};
}

TransposeProblem from_workspace(const TransposeProblem& p, const void* workspace) {
  TransposeProblem from = p;
  from.in = workspace;
  from.ldin = p.cols;
  // Unsigned: of sizes that no matrix has, the product is of no use and may be anything.
  from.stride_in =
      static_cast<int64_t>(static_cast<uint64_t>(p.rows) * static_cast<uint64_t>(p.cols));
  return from;
}

PatchKernel kernel_from_workspace(const TransposeProblem& p) {
  const TransposeProblem from = from_workspace(p, nullptr);
  return in_packs(from) ? vector_kernel(from) : shifted_kernel(from);
}

NarrowGrid narrow_grid(const TransposeProblem& p) {
  using Side = NarrowGrid::Side;
  // H200: runs of 10 to 16 KiB draw 0.94 to 0.98 of a copy, of 4 KiB 0.85.
  constexpr int64_t kRunBytes = 16384, kSmallBytes = 49152, kMostWidth = 64;
  NarrowGrid grid;
  const int64_t size = p.element_size;
  if (p.rows == 0 || p.cols == 0) return grid;
  if (p.ldin == p.cols && p.rows <= kSmallBytes / size / p.cols) {
    const int64_t bytes = p.rows * p.cols * size;
    const bool dense = p.batch_count == 1 || p.stride_in == p.rows * p.cols;
    grid.side = Side::kSmall;
    grid.length = static_cast<int>(p.rows);
    const int64_t most =
        std::clamp<int64_t>(kRunBytes / bytes, 1, std::max<int64_t>(p.batch_count, 1));
    grid.matrices = dense ? static_cast<int>(most) : 1;
    grid.blocks = ceil_div(p.batch_count, grid.matrices);
    grid.shared_bytes = static_cast<size_t>(bytes * grid.matrices);
    return grid;
  }
  if (p.ldin == p.cols && p.cols <= kMostWidth) {
    grid.side = Side::kInputRuns;
  } else if (p.ldout == p.rows && p.rows <= kMostWidth) {
    grid.side = Side::kOutputRuns;
  } else {
    return grid;
  }
  const bool input_runs = grid.side == Side::kInputRuns;
  const int64_t width = input_runs ? p.cols : p.rows, lines = input_runs ? p.rows : p.cols;
  // At least 16 rows, so that every run begins at a multiple of 16 bytes if the first one does.
  while (grid.length == 0 || 2 * grid.length * width * size <= kRunBytes) {
    grid.length = grid.length == 0 ? 16 : 2 * grid.length;
  }
  grid.matrices = 1;
  grid.blocks = TileCounts{ceil_div(lines, grid.length), 1, p.batch_count}.blocks();
  grid.shared_bytes = static_cast<size_t>(grid.length * width * size);
  return grid;
}

}  // namespace mygemm
