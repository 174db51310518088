// The order of summation of wide rows, those that a block's registers do not hold. All kernels for
// wide rows use it, so that they give the same bits whichever of them is the fastest for a call's
// number of rows. It depends on columns, types and alignment only. Pure.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/softmax/formats.h"

namespace mygemm {

// Packs, or single elements, that a lane holds of a tile: 32 lanes x 4 packs, or 32 x 16 elements.
constexpr int tile_packs(int pack_elements) { return pack_elements > 1 ? 4 : 16; }

// A row is divided into tiles, each the amount that a warp holds in registers at once, and the
// tiles are grouped into `runs` runs of equal length or one tile more. Order of summation: each
// lane adds the elements that it holds of a run's tiles, in order; then the sums of the lanes are
// added; then those of the runs (combine_runs()). (Runs that end within tiles are of more equal
// length, but slower: 0.91 of a copy where these have 0.97; 40000 columns, H200.)
struct WideRows {
  static constexpr int kMostRuns = 512;
  int64_t tiles;
  int runs = 0;  // a power of two

  // Run `number` is tiles first_tile(number) to first_tile(number + 1).
  constexpr int64_t first_tile(int64_t number) const { return number * tiles >> log2_runs(); }
  constexpr int64_t most_tiles_of_run() const { return (tiles + runs - 1) >> log2_runs(); }
  constexpr int log2_runs() const { return std::bit_width(static_cast<unsigned>(runs)) - 1; }
};

// Most bytes of a run (of y and dy together) as long as the number of runs can grow: five tiles of
// fp32 or 16-bit x, two of y and dy. Runs then have two and a half to five tiles. (A warp with
// three tiles beside others with two works as long as if all had three.)
constexpr int kRunBytes = 10 * 1024;
constexpr int kFewestRuns = 16;

// Tiles of such a run where all elements have the same width.
constexpr int run_tiles(bool backward) { return backward ? 2 : 5; }

// Elements of a pack in which wide rows are moved.
constexpr int wide_pack(const RowShape& shape) {
  return shape.layout == Layout::kAny ? 1 : pack_of(shape.widths);
}

// Rows whose runs have at most `tiles_of_run` tiles as long as their number can grow.
inline WideRows wide_rows(const RowShape& shape, int tiles_of_run) {
  WideRows rows{};
  rows.tiles = wide_pack(shape) == 1 ? ceil_div(shape.packs, 32 * tile_packs(1))
                                     : ceil_div(shape.packs, 32 * tile_packs(2));
  rows.runs = kFewestRuns;
  while (rows.tiles > int64_t{rows.runs} * tiles_of_run && rows.runs < WideRows::kMostRuns) {
    rows.runs *= 2;
  }
  return rows;
}

inline WideRows wide_rows(const SoftmaxProblem& p, const RowShape& shape) {
  const int pack = wide_pack(shape);
  const auto bytes =
      static_cast<int>(element_bytes(p.in.type) + (p.backward ? element_bytes(p.dy.type) : 0));
  return wide_rows(shape, std::max(1, kRunBytes / (32 * tile_packs(pack) * pack * bytes)));
}

// Calls body with the format in which wide rows are moved.
template <class Body>
auto with_wide_format(const RowShape& shape, Body body) {
  if (shape.layout == Layout::kAny) return body(MixedElements{});
  return with_packs(shape.widths, body);
}

}  // namespace mygemm
