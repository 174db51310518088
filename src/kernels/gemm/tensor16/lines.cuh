// Products of 16-bit operands: copies of a k step by the producer warps themselves, where no tensor
// map describes an operand. Lines then begin at any multiple of 2 bytes. Device only.
#pragma once

#include <cstdint>

#include "kernels/gemm/chunk.cuh"
#include "kernels/gemm/persistent/work.cuh"
#include "kernels/swizzle.h"
#include "ptx/bulk.cuh"

namespace mygemm::tensor16 {

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
