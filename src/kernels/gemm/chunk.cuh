// Chunks: 16 bytes that begin at any element, loaded by aligned accesses. Device only.
#pragma once

#include <cstdint>

namespace mygemm {

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

}  // namespace mygemm
