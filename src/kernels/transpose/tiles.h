// The tiles of the transpose kernels: what the table of rows and the kernels share.
#pragma once

#include <cstdint>

namespace mygemm {

// A square tile of elements of kBytes bytes each, padded by one element: columns of the tile are
// then in different banks. 64 elements a side keep rows of small elements a whole sector long.
constexpr int transpose_tile_side(int64_t element_size) { return element_size <= 4 ? 64 : 32; }

template <int kBytes>
struct TransposeTile {
  static constexpr int kSide = transpose_tile_side(kBytes);
  static constexpr int kThreads = 256;
  static constexpr int kRowsPerPass = kThreads / kSide;
  static constexpr int kPasses = kSide / kRowsPerPass;
};

constexpr int kTransposeThreads = 256;

// Elements as plain bits. 16-byte ones are only promised to be 8-byte aligned.
struct Bits128 {
  uint64_t low, high;
};

template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using type = uint8_t;
};
template <>
struct ElementOf<2> {
  using type = uint16_t;
};
template <>
struct ElementOf<4> {
  using type = uint32_t;
};
template <>
struct ElementOf<8> {
  using type = uint64_t;
};
template <>
struct ElementOf<16> {
  using type = Bits128;
};
template <int kBytes>
using Element = typename ElementOf<kBytes>::type;

template <int kBytes>
struct TransposeStorage {
  Element<kBytes> tile[TransposeTile<kBytes>::kSide][TransposeTile<kBytes>::kSide + 1];
};

}  // namespace mygemm
