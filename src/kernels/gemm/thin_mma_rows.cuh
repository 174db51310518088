// The rows of the long operand that a warp of a thin product on tensor cores has, in registers:
// those of an operand contiguous along k (DepthRows) or along the rows (TileRows), aligned to 16
// bytes or not. Device only.
//
// A lane has quads of eight neighbours in memory. Where they are not aligned, it loads the aligned
// 16 bytes in which a quad begins and those in which it ends, and shifts them where it is
// multiplied (chunk.cuh).
#pragma once

#include "kernels/gemm/chunk.cuh"
#include "kernels/gemm/thin_mma.h"
#include "ptx/global.cuh"
#include "ptx/mma.cuh"

namespace mygemm::thin_mma {

// A matrix, outside of which nothing is read: [begin, end).
struct Extent {
  const uint16_t *begin, *end;
};
// The matrix has so many columns of `rows` elements, which begin ld apart.
__device__ __forceinline__ Extent extent_of(const uint16_t* matrix, int64_t rows, int64_t columns,
                                            int64_t ld) {
  return {matrix, matrix + (columns - 1) * ld + rows};
}

// Aligned 16 bytes. Those over an end of the matrix are loaded by elements; zeros for elements
// outside, and where !needed.
__device__ __forceinline__ uint4 load_aligned(const uint16_t* from, bool needed,
                                              const Extent& matrix) {
  const bool whole = matrix.begin <= from && from + 8 <= matrix.end;
  uint4 words = ptx::load_16_bytes(from, needed && whole);
  if (needed && !whole) [[unlikely]] {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const bool inside = matrix.begin <= from + i && from + i < matrix.end;
      const unsigned element = ptx::load_2_bytes(from + i, inside);
      words = {words.x >> 16 | words.y << 16, words.y >> 16 | words.z << 16,
               words.z >> 16 | words.w << 16, words.w >> 16 | element << 16};
    }
  }
  return words;
}

// The aligned 16 bytes in which an element lies, and its number of eight there.
__device__ __forceinline__ const uint16_t* aligned_16_of(const uint16_t* element) {
  return reinterpret_cast<const uint16_t*>(reinterpret_cast<uintptr_t>(element) & ~uintptr_t{15});
}
__device__ __forceinline__ int number_of_8(const uint16_t* element) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(element) / 2 % 8);
}
__device__ __forceinline__ uint4 quad_of(const uint4& first, const uint4& second, int number) {
  return shifted(Chunk{first, second, 2 * static_cast<unsigned>(number)});
}

// Zeros in place of the quad's elements from `count` on.
__device__ __forceinline__ void keep_first(uint4& quad, int count) {
  const auto kept = [count](unsigned word, int first) {
    return count > first + 1 ? word : count > first ? word & 0xffffu : 0u;
  };
  quad = {kept(quad.x, 0), kept(quad.y, 2), kept(quad.z, 4), kept(quad.w, 6)};
}

// A warp's rows of the long operand, contiguous along k: a lane has rows g and g + 8, g = lane / 4.
// Its quads of a row are 32 k apart where they are aligned. Else they are neighbours, so that the
// 16 bytes in which one ends are those in which the next one begins.
template <class Tile, bool kBf16, bool kAligned>
class DepthRows {
 public:
  static constexpr int kProducts = 1;     // of 16 rows
  static constexpr int kElementsOfY = 8;  // for which a thread has registers while it copies Y
  static constexpr bool kRowsAligned = kAligned;

  // x: the warp's first row at the first k of the block; first_k: the warp's.
  __device__ __forceinline__ DepthRows(const uint16_t* x, int64_t ld, int64_t rows, int lane,
                                       int first_k, const Extent& matrix)
      : first_(x + lane / 4 * ld + (first_k + k_of(lane, 0))),
        second_(first_ + 8 * ld),
        has_first_(lane / 4 < rows),
        has_second_(lane / 4 + 8 < rows),
        matrix_(matrix) {}

  // The place of Y's k in shared memory: lanes read theirs of a quad 8 places apart.
  __device__ __forceinline__ static int place_of_y(int k) {
    if constexpr (kAligned) return k;
    static_assert(Tile::kQuads == 4);
    return (k & ~0x78) | (k & 0x18) << 2 | (k & 0x60) >> 2;
  }

  // depth: k from the warp's k here on.
  __device__ __forceinline__ void load_all(int depth, int lane) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) load(i, depth, lane);
  }

  // Multiplies the loaded k, those of y, and loads those that lie step_k further on.
  __device__ __forceinline__ void multiply(float (&sums)[kProducts][Tile::kColumnGroups][4],
                                           const uint16_t (&y)[Tile::kThin][Tile::kPitch], int k0,
                                           int step_k, int depth, int lane) {
    skip(step_k);
#pragma unroll
    for (int q = 0; q < Tile::kQuads; ++q) {
      const int left = depth - k0 - k_of(lane, q);
      const uint4 first = quad(q, 0, first_, left), second = quad(q, 1, second_, left);
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
        const uint4 b =
            *reinterpret_cast<const uint4*>(&y[8 * c + lane / 4][k0 + 32 * q + 8 * (lane % 4)]);
        ptx::mma_16<kBf16>(sums[0][c], {first.x, second.x, first.y, second.y}, {b.x, b.y});
        ptx::mma_16<kBf16>(sums[0][c], {first.z, second.z, first.w, second.w}, {b.z, b.w});
      }
      load(q, depth - k0 - step_k, lane);
    }
    if constexpr (!kAligned) load(Tile::kQuads, depth - k0 - step_k, lane);
  }

  __device__ __forceinline__ void skip(int k) {
    first_ = ptx::advanced(first_, k);
    second_ = ptx::advanced(second_, k);
  }

  // Leaves the sums of the warp's 16 rows: (thin, rows).
  __device__ __forceinline__ static void store(
      float* to, const float (&sums)[kProducts][Tile::kColumnGroups][4], int lane) {
#pragma unroll
    for (int c = 0; c < Tile::kColumnGroups; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[(8 * c + lane % 4 * 2 + i % 2) * 16 + lane / 4 + i / 2 * 8] = sums[0][c][i];
      }
    }
  }

 private:
  static constexpr int kLoads = Tile::kQuads + (kAligned ? 0 : 1);  // of a row

  __device__ __forceinline__ static int k_of(int lane, int q) {
    return kAligned ? 32 * q + lane % 4 * 8 : 8 * q + lane % 4 * (8 * Tile::kQuads);
  }
  __device__ __forceinline__ void load(int i, int depth, int lane) {
    if constexpr (kAligned) {
      const bool inside = k_of(lane, i) < depth;
      x_[i][0] = ptx::load_16_bytes(first_ + 32 * i, inside && has_first_);
      x_[i][1] = ptx::load_16_bytes(second_ + 32 * i, inside && has_second_);
    } else {
      const auto load_of = [&](const uint16_t* row, bool has_row) {
        const int before = number_of_8(row);
        const bool needed =
            has_row && k_of(lane, i) - before < depth && (i < Tile::kQuads || before > 0);
        return load_aligned(aligned_16_of(row) + 8 * i, needed, matrix_);
      };
      x_[i][0] = load_of(first_, has_first_);
      x_[i][1] = load_of(second_, has_second_);
    }
  }
  // Quad q of one of the two rows, of which the first `left` elements belong to the product.
  __device__ __forceinline__ uint4 quad(int q, int row, const uint16_t* place, int left) const {
    if constexpr (kAligned) {
      return x_[q][row];
    } else {
      uint4 quad = quad_of(x_[q][row], x_[q + 1][row], number_of_8(place));
      if (left < 8) [[unlikely]]
        keep_first(quad, left);
      return quad;
    }
  }

  const uint16_t *first_, *second_;
  bool has_first_, has_second_;
  Extent matrix_;
  uint4 x_[kLoads][2];
};

// A warp's 64 rows of the long operand, contiguous along them: a lane has rows 8g to 8g + 7 of
// eight k from 8t on, g = lane / 4, t = lane % 4. Pairs of k are made of two loads. Product p has
// rows 8g + 2p and, eight rows further down, 8g + 2p + 1.
template <class Tile, bool kBf16, bool kAligned>
class TileRows {
 public:
  static constexpr int kProducts = 4;
  static constexpr int kElementsOfY = kAligned ? 4 : 2;  // as above
  static constexpr bool kRowsAligned = kAligned;

  __device__ __forceinline__ TileRows(const uint16_t* x, int64_t ld, int64_t rows, int lane,
                                      int first_k, const Extent& matrix)
      : next_(x + lane / 4 * 8 + (first_k + lane % 4 * 8) * ld),
        ld_(ld),
        inside_(lane / 4 * 8 < rows),
        first_number_(number_of_8(next_)),
        matrix_(matrix) {}

  __device__ __forceinline__ static int place_of_y(int k) { return k; }

  __device__ __forceinline__ void load_all(int depth, int lane) {
#pragma unroll
    for (int i = 0; i < kLoaded; ++i) load(i, depth, lane);
  }

  __device__ __forceinline__ void multiply(float (&sums)[kProducts][Tile::kColumnGroups][4],
                                           const uint16_t (&y)[Tile::kThin][Tile::kPitch], int k0,
                                           int step_k, int depth, int lane) {
    if constexpr (kAligned) skip(step_k - 8);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint2 b[Tile::kColumnGroups];
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
        b[c] =
            *reinterpret_cast<const uint2*>(&y[8 * c + lane / 4][k0 + 8 * (lane % 4) + 4 * half]);
      }
      uint4 x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = quad(4 * half + i);
      // x0 to x3: two rows of four k.
      const auto product = [&](int p, unsigned x0, unsigned x1, unsigned x2, unsigned x3) {
        const unsigned a[4] = {__byte_perm(x0, x1, 0x5410), __byte_perm(x0, x1, 0x7632),
                               __byte_perm(x2, x3, 0x5410), __byte_perm(x2, x3, 0x7632)};
#pragma unroll
        for (int c = 0; c < Tile::kColumnGroups; ++c) {
          ptx::mma_16<kBf16>(sums[p][c], a, {b[c].x, b[c].y});
        }
      };
      product(0, x[0].x, x[1].x, x[2].x, x[3].x);
      product(1, x[0].y, x[1].y, x[2].y, x[3].y);
      product(2, x[0].z, x[1].z, x[2].z, x[3].z);
      product(3, x[0].w, x[1].w, x[2].w, x[3].w);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (kAligned || half == 1) {
          if (!kAligned && i == 0) skip(step_k - 8);
          load(kAligned ? 4 * half + i : i, depth - k0 - step_k, lane);
        } else {
          load(4 + i, depth - k0, lane);
        }
      }
    }
  }

  __device__ __forceinline__ void skip(int k) { next_ = ptx::advanced(next_, k * ld_); }

  __device__ __forceinline__ static void store(
      float* to, const float (&sums)[kProducts][Tile::kColumnGroups][4], int lane) {
#pragma unroll
    for (int p = 0; p < kProducts; ++p) {
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          to[(8 * c + lane % 4 * 2 + i % 2) * 64 + lane / 4 * 8 + 2 * p + i / 2] = sums[p][c][i];
        }
      }
    }
  }

 private:
  // Columns in registers: half of a step's where each takes two loads.
  static constexpr int kLoaded = kAligned ? 8 : 4;

  // Rows past the last one may hold anything: they are multiplied, but not stored.
  __device__ __forceinline__ void load(int i, int depth, int lane) {
    const bool needed = inside_ && lane % 4 * 8 + i < depth;
    if constexpr (kAligned) {
      x_[i][0] = ptx::load_16_bytes(next_, needed);
    } else {
      const uint16_t* const aligned = aligned_16_of(next_);
      x_[i % kLoaded][0] = load_aligned(aligned, needed, matrix_);
      x_[i % kLoaded][1] = load_aligned(aligned + 8, needed && number_of_8(next_) > 0, matrix_);
    }
    next_ = ptx::advanced(next_, ld_);
  }
  // Column i's; the lane's columns of every step begin as those of the first one, for steps are
  // multiples of eight columns.
  __device__ __forceinline__ uint4 quad(int i) const {
    if constexpr (kAligned) {
      return x_[i][0];
    } else {
      const int number = (first_number_ + i * static_cast<int>(ld_ % 8)) % 8;
      return quad_of(x_[i % kLoaded][0], x_[i % kLoaded][1], number);
    }
  }

  const uint16_t* next_;
  int64_t ld_;
  bool inside_;
  int first_number_;  // of the lane's first column
  Extent matrix_;
  uint4 x_[kLoaded][kAligned ? 1 : 2];
};

}  // namespace mygemm::thin_mma
