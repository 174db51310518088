// Pairs of mirrored tiles of a square matrix, for transposes in place. Pure.
#pragma once

#include <cstdint>

namespace mygemm {

constexpr int64_t tile_pairs(int64_t tiles) { return tiles * (tiles + 1) / 2; }

// A tile on or below the diagonal; its mirror image is (col, row).
struct TilePair {
  int64_t row, col;
};

// The `index`-th of tile_pairs(tiles). Row by row, short rows at the start taking turns with long
// ones from the end, so that two of them together always have as many tiles: a rectangle. An odd
// number of rows leaves the last one, which is as long as two.
constexpr TilePair tile_pair(int64_t index, int64_t tiles) {
  const int64_t folded = tiles / 2 * 2;  // rows
  const int64_t fold = index / (folded + 1), along = index % (folded + 1);
  if (fold == folded / 2) return {tiles - 1, along};
  if (along <= fold) return {fold, along};
  return {folded - 1 - fold, along - fold - 1};
}

}  // namespace mygemm
