// Products of 16-bit operands: copies of a k step by the producer warps themselves, where no tensor
// map describes an operand. Lines then begin at any multiple of 2 bytes. Device only.
#pragma once

#include <cstdint>

#include "kernels/gemm/persistent/work.cuh"
#include "kernels/swizzle.h"
#include "ptx/bulk.cuh"

namespace mygemm::tensor16 {

// 16 bytes from any multiple of 2 bytes on, by the two aligned ones that hold them.
struct Chunk {
  uint4 first, second;
  unsigned shift;  // bytes
};

// The words of a chunk.
__device__ __forceinline__ uint4 shifted(const Chunk& x) {
  unsigned w[8] = {x.first.x,  x.first.y,  x.first.z,  x.first.w,
                   x.second.x, x.second.y, x.second.z, x.second.w};
  const bool by_8 = (x.shift & 8) != 0, by_4 = (x.shift & 4) != 0;
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = by_8 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = by_4 ? w[i + 1] : w[i];
  const unsigned bits = (x.shift & 2) * 8;
  uint4 words;
  words.x = __funnelshift_r(w[0], w[1], bits), words.y = __funnelshift_r(w[1], w[2], bits);
  words.z = __funnelshift_r(w[2], w[3], bits), words.w = __funnelshift_r(w[3], w[4], bits);
  return words;
}

// Loads the chunk of 8 elements at `from`, of which `count` are in the matrix, where the elements
// around are `before` and `behind` in number; the others are 0.
__device__ __forceinline__ Chunk load_chunk(const uint16_t* from, int count, bool inside) {
  Chunk chunk = {};
  const auto address = reinterpret_cast<uintptr_t>(from);
  if (inside) {
    chunk.shift = static_cast<unsigned>(address % 16);
    const auto* aligned = reinterpret_cast<const uint4*>(address - chunk.shift);
    chunk.first = __ldg(aligned);
    if (chunk.shift != 0) chunk.second = __ldg(aligned + 1);
    return chunk;
  }
  unsigned w[4] = {};
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    if (e < count) w[e / 2] |= unsigned{__ldg(from + e)} << e % 2 * 16;
  }
  chunk.first = make_uint4(w[0], w[1], w[2], w[3]);
  return chunk;
}

// Copies kLines rows of op(A) (columns of op(B)) of a k step, zeros outside the matrix; all lanes
// of kWarps warps. Eight lanes copy a line of 128 bytes.
template <int kLines, int kWarps>
__device__ __forceinline__ void copy_lines(unsigned char* stage, const Operand& x, bool k_major,
                                           const persistent::StepOfOperand& at, int warp,
                                           int lane) {
  constexpr int kAtOnce = 4, kChunks = kLines * 8, kStep = 32 * kWarps;
  static_assert(kChunks % (kAtOnce * kStep) == 0);
  const uint16_t* const matrix = x.matrix<const uint16_t>(at.batch);
  // Extents of the operand along its lines, from the step on, and across them.
  const int along = k_major ? at.depth : at.extent, across = k_major ? at.extent : at.depth;
#pragma unroll 1
  for (int first = warp * 32 + lane; first < kChunks; first += kAtOnce * kStep) {
    Chunk chunks[kAtOnce];
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      const int number = first + c * kStep, line = number / 8, part = number % 8 * 8;
      // Blocks of 64 lines lie one behind the other: of an MN-major operand, further along.
      const int element = k_major ? part : line / 64 * 64 + part;
      const int across_at = k_major ? line : line % 64;
      const int count = across_at < across ? along - element : 0;
      const int64_t at_line = (k_major ? at.origin : at.k) + int64_t{across_at};
      const int64_t at_element = int64_t{k_major ? at.k : at.origin} + element;
      // Aligned loads reach 7 elements to both sides.
      const bool inside = count >= 15 && at_element >= 7;
      chunks[c] = load_chunk(matrix + at_line * x.ld + at_element, count, inside);
    }
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      const int number = first + c * kStep;
      *reinterpret_cast<uint4*>(stage + swizzle_128b(number * 16)) = shifted(chunks[c]);
    }
  }
}

}  // namespace mygemm::tensor16
