// See tiling.h.
#include "tiling.h"

#include <algorithm>
#include <utility>

namespace mygemm::blas {
namespace {

constexpr int64_t ceil_div(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Panels of the operand that streams: with so many products, a panel of the other one has the time
// of its transfer.
constexpr int64_t kPanelsOfSquare = 4;

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

// First fewer panels are kept, as long as the operand that streams is not loaded too often for it;
// then the larger side of C's tiles is halved, since small tiles of C reuse little; then k.
bool shrink(Tiling* tiling, int64_t unit) {
  int64_t* larger = &tiling->tile_m;
  int64_t* smaller = &tiling->tile_n;
  if (*larger < *smaller) std::swap(larger, smaller);
  const int64_t side = tiling->a_stays ? tiling->tile_m : tiling->tile_n;
  const int64_t enough_reuse = 16 * unit;  // a tile of C this wide overlaps its transfers
  const auto fewer = [](int64_t* panels, int64_t least) {
    if (*panels <= least) return false;
    *panels = std::max(least, *panels / 2);
    return true;
  };
  if (tiling->staying * side > 2 * enough_reuse && fewer(&tiling->staying, 1)) return true;
  if (fewer(&tiling->streaming, 3) || fewer(&tiling->staying, 1)) return true;
  if (fewer(&tiling->streaming, 2)) return true;
  if (*larger > enough_reuse) return halve(larger, unit);
  return halve(&tiling->tile_k, unit) || halve(larger, unit) || halve(smaller, unit);
}

int64_t stored_floats(bool transposed, int64_t rows, int64_t cols) {
  return transposed ? device_ld(cols) * rows : device_ld(rows) * cols;
}

// Two panels overlap transfers with products, also where they are small.
int64_t panels_of(const Product& p, const TilingLimits& limits) {
  if (limits.panel_floats == 0) return limits.panels;
  const int64_t floats = std::max(p.m, p.n) * std::max(p.k, std::min(p.m, p.n));
  return std::clamp<int64_t>(floats / limits.panel_floats, 2, limits.panels);
}

// Sides of the tiles of C: the larger of m and n is cut into panels; the other, too, where tiles
// are large enough then for a GPU to be busy with one. For short sums, whose time is that of the
// transfers, they are up to four times as large: the next tile's way to the host begins when the
// one before has been stored. 16384 x 16384 x 256 with tiles of 4 and 16 Mi elements: 32 and 24 ms;
// 8192^3: 16.5 and 15.7 (H200).
void choose_sides(const Product& p, const TilingLimits& limits, Tiling* tiling) {
  constexpr int64_t kLongSum = 16384;
  const int64_t panels = panels_of(p, limits);
  const int64_t larger = even_block(std::max(p.m, p.n), panels, limits.min_tile);
  const int64_t smaller_side = std::min(p.m, p.n);
  const int64_t square = even_block(smaller_side, panels, limits.min_tile);
  const int64_t elements = limits.elements_of_c * std::clamp<int64_t>(kLongSum / p.k, 1, 4);
  const int64_t busy = ceil_div(elements, larger);
  const int64_t smaller = even_block(
      smaller_side, std::max<int64_t>(1, smaller_side / std::max(square, busy)), limits.min_tile);
  tiling->tile_m = tiling->a_stays ? smaller : larger;
  tiling->tile_n = tiling->a_stays ? larger : smaller;
}

}  // namespace

std::optional<Tiling> choose_tiling(const Product& p, const TilingLimits& limits) {
  Tiling tiling{};
  tiling.a_stays = p.n >= p.m;
  choose_sides(p, limits, &tiling);
  tiling.tile_k = p.k;
  count_blocks(p, &tiling);
  tiling.staying = tiling.a_stays ? tiling.blocks_m : tiling.blocks_n;
  tiling.streaming = kPanelsOfSquare + 1;  // the next one is loaded meanwhile
  while (device_floats(p, tiling) > limits.device_floats) {
    if (!shrink(&tiling, limits.min_tile)) return std::nullopt;
    count_blocks(p, &tiling);
  }
  return tiling;
}

int64_t device_floats(const Product& p, const Tiling& t) {
  return t.slots_of_a() * stored_floats(p.transa, t.tile_m, t.tile_k) +
         t.slots_of_b() * stored_floats(p.transb, t.tile_k, t.tile_n) +
         t.slots_of_c() * device_ld(t.tile_m) * t.tile_n;
}

std::vector<Rect> tiles_of_result(const Product& p, const Tiling& t, int64_t part, int64_t parts) {
  std::vector<Rect> tiles;
  const int64_t all_staying = t.a_stays ? t.blocks_m : t.blocks_n;
  const int64_t all_streaming = t.panels_that_stream();
  const int64_t begin = all_streaming * part / parts;
  const int64_t end = all_streaming * (part + 1) / parts;
  tiles.reserve(static_cast<size_t>(all_staying * (end - begin)));
  const auto add = [&](int64_t staying, int64_t streaming) {
    const int64_t row = (t.a_stays ? staying : streaming) * t.tile_m;
    const int64_t col = (t.a_stays ? streaming : staying) * t.tile_n;
    tiles.push_back({row, col, std::min(t.tile_m, p.m - row), std::min(t.tile_n, p.n - col)});
  };
  for (int64_t first = 0; first < all_staying; first += t.staying) {
    const int64_t group = std::min(t.staying, all_staying - first);
    // A square that grows by a panel of either operand in turn: from its third on, a panel has more
    // products than its transfer needs time. Then panels of the operand that streams, one by one.
    const int64_t together = std::min(t.streaming - 1, end - begin);
    for (int64_t side = 0; side < std::max(group, together); ++side) {
      for (int64_t j = 0; side < group && j < std::min(side, together); ++j) {
        add(first + side, begin + j);
      }
      for (int64_t i = 0; side < together && i <= std::min(side, group - 1); ++i) {
        add(first + i, begin + side);
      }
    }
    for (int64_t j = begin + together; j < end; ++j) {
      for (int64_t i = 0; i < group; ++i) add(first + i, j);
    }
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
