// Bundles: consecutive rows without gaps, which a block moves between global and shared memory as
// one run of memory, wherever rows begin. Pure.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/softmax/registers.h"

namespace mygemm {

// A bundle's rows, and how its block works on them. The lanes of a warp work on rows that are
// 2^log2_stride apart, so that they read from different banks of shared memory.
struct SoftmaxBundle {
  int rows = 0;
  int log2_stride;
  // Where shared memory has dy and the output; x, or y, is at 0. The output replaces what it is
  // computed from where it lies at the same distance from a multiple of 16 bytes.
  int dy_at, out_at;
};

// Whether the results can replace what they are computed from in shared memory: elements are as
// wide, and rows begin at the same distance from a multiple of 16 bytes.
inline bool can_replace(const TypedMatrix& from, const TypedMatrix& results) {
  const int64_t bytes = element_bytes(from.type);
  const auto distance =
      reinterpret_cast<uintptr_t>(from.data) - reinterpret_cast<uintptr_t>(results.data);
  return bytes == element_bytes(results.type) && distance % 16 == 0 &&
         (from.ld - results.ld) * bytes % 16 == 0;
}
// Bytes of shared memory for a run of so many, which may begin anywhere.
constexpr int run_bytes(int64_t bytes) { return static_cast<int>(bytes + 15 + 15) / 16 * 16; }

// 2^log2_lanes lanes of a warp share a row: as few as have at most 24 elements each, or a whole
// warp with up to 64. The number of elements is a compile-time constant, rounded up but where one
// lane has a few: elements that a row lacks cost as much as others.
constexpr int kBundleFewElements = 24, kBundleManyElements = 64;

constexpr int bundle_unit(Widths widths, int log2_lanes, int elements) {
  if (elements > kBundleFewElements) return 8;
  if (log2_lanes == 0 && elements <= 8) return 1;
  return elements > (widths == Widths::k16Bit ? 16 : 8) ? 4 : 2;
}

inline SoftmaxLanes bundle_lanes(Widths widths, int64_t cols) {
  if (cols > kBundleManyElements * 32) return {};
  const int log2_lanes = std::min(
      static_cast<int>(std::bit_width(static_cast<unsigned>((cols - 1) / kBundleFewElements))), 5);
  const int elements = static_cast<int>((cols - 1) >> log2_lanes) + 1;
  const int unit = bundle_unit(widths, log2_lanes, elements);
  return {log2_lanes, (elements + unit - 1) / unit * unit};
}

// Whether kernels for these lanes are compiled: where they are the fastest (H200). Gradients have
// more bytes, and single lanes or blocks read rows of many FP32 elements as fast; but blocks do not
// read those of 513 to 1024 as fast.
constexpr bool has_bundle(Widths widths, bool backward, int log2_lanes, int elements) {
  if (backward && elements > kBundleFewElements) return false;
  if (widths != Widths::kFp32 || log2_lanes <= 1) return true;
  return !backward && log2_lanes == 5 && elements > 16 && elements <= 32;
}

// Threads of a block, and blocks of a multiprocessor for which the compiler limits the registers.
constexpr int log2_bundle_threads(int elements) { return elements > kBundleFewElements ? 7 : 8; }
constexpr int bundle_blocks(Widths widths, bool backward, int elements) {
  if (elements == 56) return 3;  // they take 132 registers
  if (elements > kBundleFewElements) return elements <= 32 ? 5 : 4;
  if (backward) return elements <= 16 ? 4 : 2;
  if (elements <= 8 && widths == Widths::k16Bit) return 8;
  return elements <= 12 ? 6 : elements <= 16 ? 5 : elements <= 20 ? 4 : 3;
}

}  // namespace mygemm
