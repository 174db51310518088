// The grids of the transpose kernels that work on tiles of patches.
#include "kernels/transpose/tiles.h"

#include <algorithm>
#include <bit>

namespace mygemm {
namespace {

// The logarithm of the smallest power of two, at most 2^62, that is not less than n.
int ceil_log2(int64_t n) {
  return n <= 1 ? 0 : std::min(62, static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))));
}

constexpr int log2_pack_elements(const TransposeProblem& p) {
  return 4 - std::countr_zero(static_cast<uint64_t>(p.element_size));
}

// Tiles that cover `size` elements, in packs of 2^log2_pack.
int64_t tiles_along(int64_t size, int log2_patches, int lost, int log2_pack) {
  if (lost == 0) return ceil_shift(size, log2_patches + log2_pack);
  return ceil_div(size, ((int64_t{1} << log2_patches) - lost) << log2_pack);
}

TileCounts count_tiles(const PatchKernel& kernel, const PatchTile& tile, const TransposeProblem& p,
                       int log2_pack) {
  return {tiles_along(p.rows, tile.log2_rows, kernel.lost_rows, log2_pack),
          tiles_along(p.cols, tile.log2_cols, 0, log2_pack),
          ceil_shift(p.batch_count, tile.log2_matrices)};
}

// The tile shrunk to narrow matrices, which would leave some of its patches without work. It grows
// by as much along the other side, or over more matrices, where those exist.
PatchTile narrowed(const PatchKernel& kernel, const TransposeProblem& p, int log2_pack) {
  PatchTile tile = kernel.tile;
  if (p.rows >> (tile.log2_rows + log2_pack) > 0 && p.cols >> (tile.log2_cols + log2_pack) > 0) {
    return tile;
  }
  const auto packs = [&](int64_t size) {  // at least one, and few enough to add to
    return std::clamp<int64_t>(ceil_shift(size, log2_pack), 1, int64_t{1} << 40);
  };
  const int cols = ceil_log2(packs(p.cols));
  const int rows = ceil_log2(packs(p.rows) + kernel.lost_rows);
  const int patches = tile.log2_patches();
  if (kernel.fit == PatchKernel::Fit::kSquare) {
    tile.log2_cols = tile.log2_rows = std::min(tile.log2_cols, std::max(cols, rows));
    return tile;
  }
  tile.log2_cols = std::min(tile.log2_cols, cols);
  tile.log2_rows = std::min(std::max(tile.log2_rows, patches - tile.log2_cols), rows);
  tile.log2_cols = std::min(patches - tile.log2_rows, cols);
  if (kernel.lost_rows == 0) {
    tile.log2_matrices = std::min(patches - tile.log2_patches(), ceil_log2(p.batch_count));
  }
  return tile;
}

// The tile halved along its longest extent.
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

// Sets the tile and returns the number of tiles.
TileCounts fit_tile(const PatchKernel& kernel, const TransposeProblem& p,
                    const DeviceTraits& device, int log2_pack, PatchTile* tile) {
  *tile = kernel.tile;
  if (kernel.fit == PatchKernel::Fit::kFixed) return count_tiles(kernel, *tile, p, log2_pack);
  const int least = 5 + kernel.log2_patches_a_thread;  // log2 of the patches of a warp
  *tile = narrowed(kernel, p, log2_pack);
  TileCounts tiles = count_tiles(kernel, *tile, p, log2_pack);
  // H200, fractions of a copy: 0.94 for 1024 x 1024 fp32 with 15 blocks a multiprocessor, 0.83 with
  // 8, 0.78 with 2; from 8 on, the longer rows of larger tiles matter more.
  const int64_t enough = int64_t{8} * device.num_sms;
  // Overlapping tiles keep their size: smaller ones would read more elements twice.
  if (kernel.lost_rows == 0) {
    while (tiles.blocks() < enough) {
      const PatchTile half = halved(kernel, *tile);
      if (half.log2_patches() < least) break;
      *tile = half;
      tiles = count_tiles(kernel, half, p, log2_pack);
    }
  }
  if (tile->log2_patches() >= least) return tiles;
  while (tile->log2_patches() < least) {
    ++tile->log2_rows;
    if (kernel.fit == PatchKernel::Fit::kSquare) ++tile->log2_cols;
  }
  return count_tiles(kernel, *tile, p, log2_pack);
}

}  // namespace

TileOrder tile_order(const TransposeProblem& p) {
  // Rows at this distance are in the same few memory channels; reading in two places at once keeps
  // others busy. H200, fractions of a copy: 0.975 for 8192 x 8192 of 16 bytes, 0.931 with
  // kAlongOutput; 0.974 and 0.953 for 16384 x 16384 of 8; but 0.959 and 0.970 for 23168 x 23168
  // fp32.
  constexpr int64_t kSlowPitch = 131072 / kPackBytes;  // packs
  if ((p.ldin & ((kSlowPitch << log2_pack_elements(p)) - 1)) == 0) return TileOrder::kTwoStreams;
  // H200, fractions of a copy, 1048576 x 1024 fp32: 0.944, and 0.930 along the output.
  if (p.rows / 64 >= p.cols) return TileOrder::kAlongInput;
  return TileOrder::kAlongOutput;
}

PatchGrid patch_grid(const PatchKernel& kernel, const TransposeProblem& p,
                     const DeviceTraits& device) {
  const int log2_pack = log2_pack_elements(p);
  PatchGrid grid;
  TileCounts tiles = fit_tile(kernel, p, device, log2_pack, &grid.tile);
  grid.order = tile_order(p);
  if (grid.order == TileOrder::kTwoStreams) tiles.c += tiles.c & 1;
  grid.tiles_r = static_cast<unsigned>(std::min<int64_t>(tiles.r, INT32_MAX));
  grid.tiles_c = static_cast<unsigned>(std::min<int64_t>(tiles.c, INT32_MAX));
  grid.step_r = ((1 << grid.tile.log2_rows) - kernel.lost_rows) << log2_pack;
  grid.step_c = (1 << grid.tile.log2_cols) << log2_pack;
  grid.blocks = tiles.blocks();
  grid.threads = 1 << (grid.tile.log2_patches() - kernel.log2_patches_a_thread);
  grid.shared_bytes = size_t{kPackBytes} << (grid.tile.log2_patches() + log2_pack);
  return grid;
}

}  // namespace mygemm
