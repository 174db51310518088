// The division of a product into tiles for a GPU's memory, and of a matrix into pieces for staging
// buffers. Arithmetic only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "product.h"

namespace mygemm::blas {

// One operand stays on the device while panels of the other and of C stream through, two at a time.
// Where memory is short, the operand that stays is divided, too, and then k.
struct Tiling {
  int64_t tile_m, tile_n, tile_k;
  int64_t blocks_m, blocks_n, blocks_k;
  bool a_stays;  // n runs fastest; else B stays and m does

  // Device buffers of each operand: a second one where it is not loaded once and for all.
  int64_t buffers_of_a() const { return blocks_m * blocks_k > 1 ? 2 : 1; }
  int64_t buffers_of_b() const { return blocks_n * blocks_k > 1 ? 2 : 1; }
  int64_t buffers_of_c() const { return blocks_m * blocks_n > 1 ? 2 : 1; }
};

struct TilingLimits {
  int64_t device_floats;  // for all tiles
  int64_t min_tile;       // sizes are cut into multiples of it
  int64_t panels;         // that the larger of m and n is cut into, for transfers to overlap
};

// Leading dimension of a matrix on the device: columns begin at multiples of 128 bytes.
constexpr int64_t device_ld(int64_t rows) { return (rows + 31) / 32 * 32; }

// Empty where not even the smallest tiles fit.
std::optional<Tiling> choose_tiling(const Product& product, const TilingLimits& limits);

// Device memory of the tiles of a tiling, in floats.
int64_t device_floats(const Product& product, const Tiling& tiling);

// The tiles of C in the order in which they are computed.
std::vector<Rect> tiles_of_result(const Product& product, const Tiling& tiling);

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
