// The division of a product into tiles for a GPU's memory, and of a matrix into pieces for staging
// buffers. Arithmetic only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "product.h"

namespace mygemm::blas {

// A tile of C is the product of a panel of A's rows and one of B's columns. The panels of one
// operand stay on the device while those of the other stream through; where memory is short, a
// group of them stays at a time; in the end k is cut, too, and two tiles of each are there.
struct Tiling {
  int64_t tile_m, tile_n, tile_k;
  int64_t blocks_m, blocks_n, blocks_k;
  bool a_stays;       // else B does
  int64_t staying;    // panels of a group
  int64_t streaming;  // panels of the other operand on the device at once, 2 or more

  // Tiles of each matrix on the device at once.
  int64_t slots_of_a() const { return slots(a_stays, blocks_m); }
  int64_t slots_of_b() const { return slots(!a_stays, blocks_n); }
  int64_t slots_of_c() const { return std::min(blocks_m * blocks_n, kMostTilesOfC); }
  int64_t panels_that_stream() const { return a_stays ? blocks_n : blocks_m; }

  // While so many tiles are computed or wait for it, the next panel is loaded.
  static constexpr int64_t kMostTilesOfC = 6;

 private:
  int64_t slots(bool stays, int64_t panels) const {
    if (blocks_k > 1) return 2;
    return std::min(panels, stays ? staying + 1 : streaming);
  }
};

struct TilingLimits {
  int64_t device_floats;      // for all tiles
  int64_t min_tile;           // sizes are cut into multiples of it
  int64_t panels;             // that m and n are cut into, kMostPanels or fewer
  int64_t elements_of_c = 0;  // of a tile, at least, unless memory is short; see choose_sides()
  int64_t panel_floats = 0;   // of a panel of the operand that streams, and its part of C, at least
};
constexpr int64_t kMostPanels = 16;

// Leading dimension of a matrix on the device: columns begin at multiples of 128 bytes.
constexpr int64_t device_ld(int64_t rows) { return (rows + 31) / 32 * 32; }

// Empty where not even the smallest tiles fit.
std::optional<Tiling> choose_tiling(const Product& product, const TilingLimits& limits);

// Device memory of the tiles of a tiling, in floats.
int64_t device_floats(const Product& product, const Tiling& tiling);

// One of `parts` parts of the tiles of C, in the order in which a GPU computes them: a tile needs
// one panel more than those before, or none.
std::vector<Rect> tiles_of_result(const Product& product, const Tiling& tiling, int64_t part = 0,
                                  int64_t parts = 1);

// A matrix, whose columns lie `ld` apart on the device, divided into pieces of at most `capacity`
// floats, each contiguous there: columns with the gaps between them or, where one is too long,
// parts of it.
class Pieces {
 public:
  Pieces(int64_t rows, int64_t cols, int64_t ld, int64_t capacity);
  int64_t count() const { return row_pieces_ * col_pieces_; }
  Rect at(int64_t index) const;
  // Floats that the piece takes, from its first element to its last.
  static int64_t extent(const Rect& piece, int64_t ld) {
    return (piece.cols - 1) * ld + piece.rows;
  }

 private:
  int64_t rows_, cols_;
  int64_t piece_rows_, piece_cols_;
  int64_t row_pieces_, col_pieces_;
};

}  // namespace mygemm::blas
