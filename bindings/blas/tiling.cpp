// See tiling.h.
#include "tiling.h"

#include <algorithm>
#include <utility>

namespace mygemm::blas {
namespace {

constexpr int64_t ceil_div(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Size of a block when `size` is divided evenly into `blocks`, rounded up to a multiple of `unit`.
int64_t even_block(int64_t size, int64_t blocks, int64_t unit) {
  return std::min(size, ceil_div(ceil_div(size, blocks), unit) * unit);
}

void count_blocks(const Product& p, Tiling* tiling) {
  tiling->blocks_m = ceil_div(p.m, tiling->tile_m);
  tiling->blocks_n = ceil_div(p.n, tiling->tile_n);
  tiling->blocks_k = ceil_div(p.k, tiling->tile_k);
}

bool halve(int64_t* tile, int64_t unit) {
  if (*tile <= unit) return false;
  *tile = even_block(*tile, 2, unit);
  return true;
}

// Halves the larger side of C's tiles, since small tiles of C reuse little; then k.
bool shrink(Tiling* tiling, int64_t unit) {
  int64_t* larger = &tiling->tile_m;
  int64_t* smaller = &tiling->tile_n;
  if (*larger < *smaller) std::swap(larger, smaller);
  constexpr int64_t kEnoughReuse = 16;  // in units: a tile of C this wide overlaps its transfers
  const bool whole_k_first = *larger > kEnoughReuse * unit;
  if (whole_k_first) return halve(larger, unit);
  return halve(&tiling->tile_k, unit) || halve(larger, unit) || halve(smaller, unit);
}

int64_t stored_floats(bool transposed, int64_t rows, int64_t cols) {
  return transposed ? device_ld(cols) * rows : device_ld(rows) * cols;
}

}  // namespace

std::optional<Tiling> choose_tiling(const Product& p, const TilingLimits& limits) {
  Tiling tiling{};
  tiling.a_stays = p.n >= p.m;
  tiling.tile_m = tiling.a_stays ? p.m : even_block(p.m, limits.panels, limits.min_tile);
  tiling.tile_n = tiling.a_stays ? even_block(p.n, limits.panels, limits.min_tile) : p.n;
  tiling.tile_k = p.k;
  count_blocks(p, &tiling);
  while (device_floats(p, tiling) > limits.device_floats) {
    if (!shrink(&tiling, limits.min_tile)) return std::nullopt;
    count_blocks(p, &tiling);
  }
  return tiling;
}

int64_t device_floats(const Product& p, const Tiling& t) {
  return t.buffers_of_a() * stored_floats(p.transa, t.tile_m, t.tile_k) +
         t.buffers_of_b() * stored_floats(p.transb, t.tile_k, t.tile_n) +
         t.buffers_of_c() * device_ld(t.tile_m) * t.tile_n;
}

std::vector<Rect> tiles_of_result(const Product& p, const Tiling& t) {
  std::vector<Rect> tiles;
  const int64_t blocks = t.blocks_m * t.blocks_n;
  tiles.reserve(static_cast<size_t>(blocks));
  for (int64_t index = 0; index < blocks; ++index) {
    const int64_t i = t.a_stays ? index / t.blocks_n : index % t.blocks_m;
    const int64_t j = t.a_stays ? index % t.blocks_n : index / t.blocks_m;
    const int64_t row = i * t.tile_m;
    const int64_t col = j * t.tile_n;
    tiles.push_back({row, col, std::min(t.tile_m, p.m - row), std::min(t.tile_n, p.n - col)});
  }
  return tiles;
}

Pieces::Pieces(int64_t rows, int64_t cols, int64_t ld, int64_t capacity)
    : rows_(rows),
      cols_(cols),
      piece_rows_(std::min(rows, capacity)),
      piece_cols_(std::clamp<int64_t>(capacity / ld, 1, cols)),
      row_pieces_(ceil_div(rows, piece_rows_)),
      col_pieces_(ceil_div(cols, piece_cols_)) {}

Rect Pieces::at(int64_t index) const {
  const int64_t row = index % row_pieces_ * piece_rows_;
  const int64_t col = index / row_pieces_ * piece_cols_;
  return {row, col, std::min(piece_rows_, rows_ - row), std::min(piece_cols_, cols_ - col)};
}

}  // namespace mygemm::blas
