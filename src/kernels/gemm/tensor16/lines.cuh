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

// Loads the 16 bytes at `from` with what lies around them in the same 16 bytes.
__device__ __forceinline__ void load_around(Chunk& chunk, const void* from) {
  const auto address = reinterpret_cast<uintptr_t>(from);
  chunk.shift = static_cast<unsigned>(address % 16);
  const auto* aligned = reinterpret_cast<const uint4*>(address - chunk.shift);
  chunk.first = __ldg(aligned);
  chunk.second = __ldg(aligned + (chunk.shift != 0 ? 1 : 0));
}

// Loads the first `count` elements of the 16 bytes at `from`; the others are 0.
template <class Element>
__device__ __forceinline__ void load_first(Chunk& chunk, const Element* from, int count) {
  constexpr int kOfWord = 4 / sizeof(Element);
  unsigned w[4] = {};
#pragma unroll
  for (int e = 0; e < 4 * kOfWord; ++e) {
    if (e < count) w[e / kOfWord] |= unsigned{__ldg(from + e)} << e % kOfWord * 16;
  }
  chunk.shift = 0;
  chunk.first = make_uint4(w[0], w[1], w[2], w[3]);
}

// A thread's part of a copy that is in flight: every kThreads-th chunk of 16 bytes of the lines of
// an operand. Eight threads have a line of 128 bytes.
template <int kThreads>
struct Batch {
  static constexpr int kChunks = 2, kLines = kChunks * kThreads / 8;

  Chunk chunks[kChunks];

  // Loads from the line `first` of a step of kExtent rows or columns on; zeros where k is outside
  // the matrix. Rows or columns outside are any of the matrix: no result of D depends on them.
  template <class Element, int kExtent>
  __device__ __forceinline__ void load(const Operand& x, bool k_major,
                                       const persistent::StepOfOperand& at, int first, int thread) {
    // Where k goes on behind the step, aligned loads of a line reach into the matrix's next
    // elements, or its next line. A loop without branches: one warp of a scheduler has no other to
    // hide its latencies (4095^3 on an H200 with a branch for each chunk: 90 TFLOP/s).
    constexpr int kReach = 7, kStep = 64;
    const bool inner = at.depth >= kStep + kReach && x.ld >= 2 * (kReach + 1);
    constexpr int kOfChunk = 16 / sizeof(Element), kOfLine = 8 * kOfChunk;
    const int part = thread % 8 * kOfChunk, line = first + thread / 8;
    const Element* const begin = x.matrix<const Element>(at.batch) +
                                 (k_major ? at.origin * x.ld + at.k : at.k * x.ld + at.origin);
    const auto load_each = [&](auto load_chunk) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        // Further along are every 64 lines of an MN-major operand, and all rows of a K-major one.
        const int number = line + c * (kThreads / 8);
        const int block = number / (k_major ? kExtent : 64);
        const int in_block = number % (k_major ? kExtent : 64), further = block * kOfLine + part;
        const int across = k_major ? min(in_block, at.extent - 1) : in_block;
        const int along = k_major ? further : min(further, at.extent - 1);
        load_chunk(chunks[c], begin + across * x.ld + along, across, along);
      }
    };
    if (inner) {
      load_each([](Chunk& chunk, const Element* from, int, int) { load_around(chunk, from); });
    } else {
      load_each([&](Chunk& chunk, const Element* from, int across, int along) {
        const int count = k_major ? at.depth - along : across < at.depth ? at.extent - along : 0;
        load_first(chunk, from, count);
      });
    }
  }
  __device__ __forceinline__ void store(unsigned char* stage, int first, int thread) const {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int at = first * 128 + (c * kThreads + thread) * 16;
      *reinterpret_cast<uint4*>(stage + swizzle_128b(at)) = shifted(chunks[c]);
    }
  }
};

}  // namespace mygemm::tensor16
