// Products of 16-bit operands: the shared memory through which a warp's results go, and their way
// from there to lines of D that begin anywhere. Device only.
#pragma once

#include "kernels/element.cuh"
#include "kernels/swizzle.h"
#include "problem.h"

namespace mygemm::tensor16 {

// Where a warp's results are in shared memory: boxes of its 16 rows. Where rows are contiguous in D
// (kInRows), a box has 128 bytes of each, swizzled; otherwise as many columns as 128 bytes have
// elements, each of 16 rows.
template <class Tile>
using Boxes = unsigned char[Tile::kBoxes][Tile::kBoxBytes];

// Two neighbours in memory as elements of T of 16 bits.
template <class T>
__device__ __forceinline__ unsigned pair_of(float first, float second) {
  return bits_of(from_float<T>(second)) << 16 | bits_of(from_float<T>(first));
}

// The part of D that a warp has in its boxes, as floats: `lines` lines from `first_line` on, and of
// each `inside` elements that are inside D, from `first_along` on; at least one.
struct BoxedLines {
  int64_t first_line, first_along;
  int lines, inside;
};

// Stores alpha times the sums in the boxes to lines that begin anywhere. The lanes of a line store
// neighbours: words of two elements of 16 bits, and what is left at either end of a line. Loads of
// several lines are in flight at once, and no branch is taken in between.
template <class T, bool kInRows, class Tile>
__device__ __forceinline__ void store_plain(const Boxes<Tile>& boxes, const Operand& d, int batch,
                                            const BoxedLines& to, float alpha, int lane) {
  constexpr unsigned kAlong = kInRows ? Tile::kBoxes * 32 : 16, kLanes = kAlong / 2;
  constexpr unsigned kTurn = 32 / kLanes, kTurns = 4;  // lines of a turn, and turns at once
  const unsigned in_line = static_cast<unsigned>(lane) % kLanes;
  const auto inside = static_cast<unsigned>(to.inside), lines = static_cast<unsigned>(to.lines);
  unsigned line = static_cast<unsigned>(lane) / kLanes;
  T* of_line = d.matrix<T>(batch) + to.first_along + (to.first_line + line) * d.ld;
  // Where an element is in the boxes, in bytes, but for its line.
  const auto place_of = [](unsigned along) {
    return kInRows ? along / 32 * Tile::kBoxBytes + along % 32 * 4 : along * 4;
  };
  const auto sum_at = [&](unsigned of_turn, unsigned place) {
    const unsigned at = line + of_turn * kTurn;
    const unsigned whole = kInRows ? (place ^ at % 8 * 16) + at * 128 : place + at * 64;
    return alpha * *reinterpret_cast<const float*>(&boxes[0][0] + whole);
  };
  if constexpr (sizeof(T) == 4) {
    const unsigned places[2] = {place_of(in_line), place_of(in_line + kLanes)};
#pragma unroll 4
    for (; line < lines; line += kTurn, of_line += kTurn * d.ld) {
      if (in_line < inside) of_line[in_line] = sum_at(0, places[0]);
      if (in_line + kLanes < inside) of_line[in_line + kLanes] = sum_at(0, places[1]);
    }
  } else {
    const unsigned places[3] = {place_of(2 * in_line), place_of(2 * in_line + 1),
                                place_of(min(2 * in_line + 2, kAlong - 1))};
#pragma unroll 1
    for (; line < lines; line += kTurns * kTurn) {
      float sums[kTurns][3];
      T* to_line[kTurns];
      bool odd[kTurns];
#pragma unroll
      for (unsigned t = 0; t < kTurns; ++t) {
        to_line[t] = of_line;
        of_line += kTurn * d.ld;
        odd[t] = (reinterpret_cast<uintptr_t>(to_line[t]) & 2) != 0;
        sums[t][0] = sum_at(t, places[0]);
        sums[t][1] = sum_at(t, places[1]), sums[t][2] = sum_at(t, places[2]);
      }
#pragma unroll
      for (unsigned t = 0; t < kTurns; ++t) {
        const unsigned along = 2 * in_line + (odd[t] ? 1 : 0);
        const float first = odd[t] ? sums[t][1] : sums[t][0];
        const float second = odd[t] ? sums[t][2] : sums[t][1];
        const unsigned end = line + t * kTurn < lines ? inside : 0;
        if (along + 1 < end) {
          *reinterpret_cast<unsigned*>(to_line[t] + along) = pair_of<T>(first, second);
        }
        if (along + 1 == end) to_line[t][along] = from_float<T>(first);
        if (odd[t] && in_line == 0 && end > 0) to_line[t][0] = from_float<T>(sums[t][0]);
      }
    }
  }
}

}  // namespace mygemm::tensor16
