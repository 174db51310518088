// Pairs of mirrored tiles of a square matrix, for transposes in place. Pure.
#pragma once

#include <cstdint>

namespace mygemm {

constexpr int64_t tile_pairs(int64_t tiles) { return tiles * (tiles + 1) / 2; }

// A tile on or below the diagonal; its mirror image is (col, row).
struct TilePair {
  unsigned row, col;
};

// Pair number `index` of tile_pairs(tiles). The rows of the triangle are folded to a rectangle:
// each short row from the top is joined to a long one from the bottom, which together always have
// the same number of tiles. If the number of rows is odd, the last row, which has that number of
// tiles alone, comes last. A grid has fewer than 2^31 blocks, so 32 bits suffice, in which a
// division takes a fifth of the time.
constexpr TilePair tile_pair(unsigned index, unsigned tiles) {
  const unsigned folded = tiles / 2 * 2;  // rows
  const unsigned fold = index / (folded + 1), along = index % (folded + 1);
  if (fold == folded / 2) return {tiles - 1, along};
  if (along <= fold) return {fold, along};
  return {folded - 1 - fold, along - fold - 1};
}

}  // namespace mygemm
