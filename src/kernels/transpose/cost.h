// Parts of the estimated times that several transpose kernels share. A transpose reads and writes
// each element once; kernels differ by the fraction of the copy bandwidth that they draw, which is
// measured, and by how full the tiles at the edges are. Pure.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/transpose/config.h"

namespace mygemm {

constexpr const char* kNotInPlaceReason = "not in place";
constexpr const char* kOnlyInPlaceReason = "only for transposes in place";
constexpr const char* kNotInPacksReason = "rows do not all begin at multiples of 16 bytes";
constexpr const char* kOnlySquareReason = "only for square matrices with ldin = ldout";
constexpr const char* kTooManyTilesReason = "more tiles than a grid can have";
constexpr const char* kSharedMemoryReason = "more shared memory than a block can have";
constexpr const char* kWorkspaceReason = "the workspace is too small";

constexpr bool is_square(const TransposeProblem& p) {
  return p.rows == p.cols && p.ldin == p.ldout;
}

// Bytes of a dense copy of `copies` matrices of the problem; SIZE_MAX where that is too small.
inline size_t dense_bytes(const TransposeProblem& p, int64_t copies) {
  if (bytes_moved(p) > 1e19) return SIZE_MAX;
  // Unsigned: where one size is 0 the others may be anything, and the product is still 0.
  return static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols) * static_cast<size_t>(copies) *
         static_cast<size_t>(p.element_size);
}

// The share of the copy bandwidth for kernels whose threads read lines of 128 bytes: without
// alignment to 128 bytes, these extend over two tiles. H200: 0.930 against 0.958 for 16384 x 30000
// fp32.
inline double share_of_lines(const TransposeFigures& figures, const TransposeFacts& facts) {
  const RowAlignment& alignment = facts.alignment;
  const bool splits_lines =
      alignment.in < 128 && alignment.in >= kSectorBytes && alignment.out >= kSectorBytes;
  return share_of(figures, facts) * (splits_lines ? 0.965 : 1.0);
}

// Time of a grid of tiles. A block takes as long for a tile at the edge as for a full one:
// tile_bytes are the bytes that all tiles would move if they were full. Tiles of data that need not
// come from memory pass at kTileRate times the copy bandwidth; H200: 1.3 to 1.5.
inline double tiles_seconds(const TransposeFacts& facts, double share, double tile_bytes,
                            double block_seconds, const DeviceTraits& device) {
  constexpr double kTileRate = 1.4;
  return kLaunchSeconds + block_seconds +
         std::max(facts.bytes_moved / (device.memory_bandwidth * share),
                  tile_bytes / (device.memory_bandwidth * kTileRate));
}

// The bytes that the tiles of a grid would move if all were full.
inline double full_tile_bytes(const PatchGrid& grid) {
  return 2.0 * static_cast<double>(grid.blocks) * static_cast<double>(grid.shared_bytes);
}

// Takes the grid of a kernel that has a block for each tile.
inline void take_grid(const PatchGrid& grid, TransposeConfig* config) {
  config->patches = grid;
  config->blocks = grid.blocks;
  config->threads = grid.threads;
  config->shared_bytes = grid.shared_bytes;
}

// Whether a block can have the Config's shared memory, and the grid as many blocks as `tiles`.
inline const char* refuse_size(const TransposeConfig& config, int64_t tiles,
                               const DeviceTraits& device) {
  if (config.shared_bytes > static_cast<size_t>(device.shared_per_block)) {
    return kSharedMemoryReason;
  }
  return tiles > kMostGridBlocks ? kTooManyTilesReason : nullptr;
}

}  // namespace mygemm
