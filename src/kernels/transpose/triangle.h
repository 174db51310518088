// Pairs of mirrored tiles of a square matrix, for transposes in place. Pure.
#pragma once

#include <cstdint>

namespace mygemm {

constexpr int64_t tile_pairs(int64_t tiles) { return tiles * (tiles + 1) / 2; }

// A tile on or below the diagonal; its mirror image is (col, row).
struct TilePair {
  unsigned row, col;
};

// The `index`-th of tile_pairs(tiles). Row by row, short rows at the start taking turns with long
// ones from the end, so that two of them together always have as many tiles: a rectangle. An odd
// number of rows leaves the last one, which is as long as two.
// A grid has fewer than 2^31 blocks: 32 bits do, in which a division is 5 times shorter.
constexpr TilePair tile_pair(unsigned index, unsigned tiles) {
  const unsigned folded = tiles / 2 * 2;  // rows
  const unsigned fold = index / (folded + 1), along = index % (folded + 1);
  if (fold == folded / 2) return {tiles - 1, along};
  if (along <= fold) return {fold, along};
  return {folded - 1 - fold, along - fold - 1};
}

}  // namespace mygemm
