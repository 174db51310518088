// How wide rows are cut up: the plan and the launchers must agree on it, and all kernels for wide
// rows add up in this order, so that they give the same bits whichever of them a call's number of
// rows makes the fastest. Depends on columns, types and layout only. Pure.
#pragma once

#include <algorithm>

#include "kernels/softmax/formats.h"

namespace mygemm {

// What a lane holds of a tile: packs, or single elements.
constexpr int tile_packs(int pack_elements) { return pack_elements > 1 ? 4 : 16; }

// A row is `runs` runs of tiles, as even as can be. A warp works on a tile at once; of the tiles of
// a run each lane adds up, in order, what it holds; then the lanes' sums are added up, then the
// runs' (combine_runs()).
struct WideRows {
  static constexpr int kMostRuns = 512;
  int64_t tiles;
  int runs;

  // Run `number` is tiles first_tile(number) to first_tile(number + 1).
  constexpr int64_t first_tile(int64_t number) const { return number * tiles / runs; }
  constexpr int64_t most_tiles_of_run() const { return ceil_div(tiles, runs); }
};

// Warps of a block, and the most blocks of a cluster, that share a row in shared memory, a run for
// each warp. A warp has a ring of kRingBytes for its tiles: kWishedBytes of a row while the cluster
// can grow, which leaves room for half of the next row (H200, fp32: four tiles of x, two of y and
// dy).
constexpr int kClusterWarps = 16, kMostLog2Blocks = 4;
constexpr int kRingBytes = 12 * 1024, kWishedBytes = 8 * 1024;

inline WideRows wide_rows(const SoftmaxProblem& p) {
  const bool any = layout_of(p) == Layout::kAny;
  const int64_t pack = any ? 1 : widths_of(p) == Widths::k16Bit ? Packs16::kPack : Fp32Packs::kPack;
  const int64_t tile = 32 * tile_packs(static_cast<int>(pack));  // packs
  const int64_t bytes = element_bytes(p.in.type) + (p.backward ? element_bytes(p.dy.type) : 0);
  WideRows rows{};
  rows.tiles = std::max<int64_t>(1, ceil_div(packs_of_row(p), tile));
  const auto tiles_of = [&](int64_t ring_bytes) { return ring_bytes / (tile * pack * bytes); };
  int64_t runs = kClusterWarps;
  while (rows.tiles > runs * tiles_of(kWishedBytes) && runs < kClusterWarps << kMostLog2Blocks) {
    runs *= 2;
  }
  if (rows.tiles > runs * tiles_of(kRingBytes)) runs = WideRows::kMostRuns;
  rows.runs = static_cast<int>(std::min(runs, rows.tiles));
  return rows;
}

// Calls body with the format in which wide rows, and those in a block's registers, are moved.
template <class Body>
auto with_wide_format(const SoftmaxProblem& p, Body body) {
  if (layout_of(p) == Layout::kAny) return body(MixedElements{});
  return with_packs(p, body);
}

}  // namespace mygemm
