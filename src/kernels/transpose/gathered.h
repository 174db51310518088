// Grids of the kernels that gather packs of the output (gathered.cuh), for rows that begin
// anywhere. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/transpose/tiles.h"

namespace mygemm {

// Bytes by which a tile is skewed for every kPackElements rows, where its pitch is an even number
// of elements.
constexpr int kGatherSkew = 16;
// Lanes of a warp along a row of the output.
constexpr int kGatherLanes = 8;
// In place, neighbouring blocks swap a group of so many tiles along each side.
constexpr int kLog2SwappedTogether = 2;
constexpr unsigned groups_of(unsigned tiles) {
  return (tiles + (1u << kLog2SwappedTogether) - 1) >> kLog2SwappedTogether;
}

// Threads of a block, at most.
constexpr int kGatherThreads = 512;

struct GatheredGrid {
  TileOrder order;
  bool skewed;
  unsigned tiles_r, tiles_c;  // of a matrix
  int step_r, step_c;         // elements from a tile to the next one
  int rows;                   // that a tile reads: step_r, or more where rows of the output shift
  int packs = 0;              // of a row of the tile; 0: the kernel does not gather
  int pitch;                  // bytes from one of its rows to the next in shared memory
  size_t tile_bytes;
};

constexpr int log2_matrices(const GatheredGrid&) { return 0; }

}  // namespace mygemm
