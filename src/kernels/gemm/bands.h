// The order in which blocks take the tiles of a matrix. Pure; used by kernels.
#pragma once

namespace mygemm {

template <class Int>
struct TileNumber {
  Int m, n;
};

// Tiles are walked in bands of 8 tiles of m, column of tiles after column, so that blocks that run
// together share columns of A and B in L2.
template <class Int>
constexpr TileNumber<Int> tile_in_bands(Int tile, Int tiles_m, Int tiles_n) {
  constexpr Int kBand = 8;
  const Int first_m = tile / (kBand * tiles_n) * kBand;
  const Int left = tiles_m - first_m;
  const Int band = left < kBand ? left : kBand;
  const Int within = tile - first_m * tiles_n;
  return {first_m + within % band, within / band};
}

}  // namespace mygemm
