// How wide rows are cut up: the plan and the launchers must agree on it, and all kernels for wide
// rows add up in this order, so that they give the same bits whichever of them a call's number of
// rows makes the fastest. Depends on columns, types and layout only. Pure.
#pragma once

#include <algorithm>

#include "kernels/softmax/formats.h"

namespace mygemm {

// What a lane holds of a tile: packs, or single elements.
constexpr int tile_packs(int pack_elements) { return pack_elements > 1 ? 4 : 16; }

// A row is `runs` runs of tiles, as even as can be. (Runs of parts of tiles, evener, are slower:
// 0.91 of a copy where these have 0.97; 40000 columns, H200.) A warp works on a tile at once; of
// the tiles of a run each lane adds up, in order, what it holds; then the lanes' sums are added up,
// then the runs' (combine_runs()).
struct WideRows {
  static constexpr int kMostRuns = 512;
  int64_t tiles;
  int runs;

  // Run `number` is tiles first_tile(number) to first_tile(number + 1).
  constexpr int64_t first_tile(int64_t number) const { return number * tiles / runs; }
  constexpr int64_t most_tiles_of_run() const { return ceil_div(tiles, runs); }
};

// Bytes of a row in a run, of y and dy together, while there can be more runs: five tiles of fp32
// or 16-bit x, two of y and dy. (Runs of two and a half to five tiles. A warp with three tiles
// beside others with two of them works as long as those of a row with three everywhere.)
constexpr int64_t kRunBytes = 10 * 1024;
constexpr int kFewestRuns = 16;

inline WideRows wide_rows(const SoftmaxProblem& p) {
  const int64_t pack = pack_elements(p);
  const int64_t bytes = element_bytes(p.in.type) + (p.backward ? element_bytes(p.dy.type) : 0);
  const int64_t tile = 32 * tile_packs(static_cast<int>(pack));  // packs
  const int64_t tiles_of_run = std::max<int64_t>(1, kRunBytes / (tile * pack * bytes));
  WideRows rows{};
  rows.tiles = ceil_div(packs_of_row(p), tile);
  rows.runs = kFewestRuns;
  while (rows.tiles > rows.runs * tiles_of_run && rows.runs < WideRows::kMostRuns) rows.runs *= 2;
  return rows;
}

// Calls body with the format in which wide rows, and those in a block's registers, are moved.
template <class Body>
auto with_wide_format(const SoftmaxProblem& p, Body body) {
  if (layout_of(p) == Layout::kAny) return body(MixedElements{});
  return with_packs(p, body);
}

}  // namespace mygemm
