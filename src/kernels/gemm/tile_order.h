// The order in which blocks take the tiles of a batch, found by multiplications. Pure.
#pragma once

#include <algorithm>

#include "kernels/divisor.h"

namespace mygemm {

// The tiles of one matrix after those of another; those of a matrix in bands of kBand tiles along
// m, column of tiles after column, so that blocks that run together share columns of A and B in L2.
class TilesInBands {
 public:
  static constexpr unsigned kBand = 8;

  // A tile's number along m, along n, and that of its matrix.
  struct Place {
    unsigned m, n, batch;
  };

  TilesInBands() = default;
  // Tiles of one matrix: fewer than 2^31, and at least one.
  TilesInBands(unsigned tiles_m, unsigned tiles_n)
      : tiles_m_(tiles_m),
        matrix_(tiles_m * tiles_n),
        band_(std::min(tiles_m, kBand) * tiles_n),
        last_rows_((tiles_m - 1) % kBand + 1) {}

  // The place of the tile of this number, below 2^31, of the batch.
  constexpr Place place_of(unsigned tile) const {
    const unsigned batch = matrix_.quotient(tile), in_matrix = tile - batch * matrix_.value();
    const unsigned band = band_.quotient(in_matrix), in_band = in_matrix - band * band_.value();
    const bool whole = (band + 1) * kBand <= tiles_m_;
    const unsigned n = whole ? in_band / kBand : last_rows_.quotient(in_band);
    return {band * kBand + in_band - n * (whole ? kBand : last_rows_.value()), n, batch};
  }

 private:
  unsigned tiles_m_ = 1;
  Divisor matrix_{1};     // tiles
  Divisor band_{1};       // tiles of a whole band
  Divisor last_rows_{1};  // tiles along m of the last band
};

}  // namespace mygemm
