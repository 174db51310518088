// The parts of a blocked transpose: a tile is read once along its rows, transposed in registers
// into a small buffer, and written once along the rows of the result. Host backend; independent of
// batches and threads.
//
// With the buffer, leading dimensions that are powers of two are no slower than others: cache lines
// of the matrices that map to the same cache set need not be in the cache at the same time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "host/stream.h"

namespace mygemm::host {

// Elements of 1, 2, 4 and 8 bytes are unsigned integers; those of 16 may be aligned to 8 only.
struct Element16 {
  uint64_t half[2];
};

// Distance of the prefetch in rows; measured.
inline constexpr int64_t kPrefetchRows = 16;

// A tile is kRows x kCols elements of the source, 32 or 64 KiB: runs of 256 bytes are read and
// runs of at least 256 bytes are written. Shorter runs measured up to twice as slow.
template <class T>
struct Tile {
  static constexpr int64_t kRows = sizeof(T) == 1 ? 256 : 128;
  static constexpr int64_t kCols = 256 / sizeof(T);

  // data[c * kRows + r] is the source's (r, c).
  alignas(64) T data[kRows * kCols];
};

// to[c][r] = from[r][c] for a square of one vector a side.
template <class T>
inline void transpose_square(const T* from, int64_t from_ld, T* to, int64_t to_ld) {
  constexpr int kSide = 16 / sizeof(T);
  typedef T Vector __attribute__((vector_size(16)));
  Vector rows[kSide];
  Vector mixed[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) std::memcpy(&rows[i], from + i * from_ld, sizeof(Vector));
    // Interleaving rows i and i + kSide / 2, log2(kSide) times over, transposes.
#pragma GCC unroll 4
  for (int stage = kSide; stage > 1; stage /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kSide / 2; ++i) {
      const Vector& a = rows[i];
      const Vector& b = rows[i + kSide / 2];
      if constexpr (kSide == 2) {
        mixed[0] = __builtin_shufflevector(a, b, 0, 2);
        mixed[1] = __builtin_shufflevector(a, b, 1, 3);
      } else if constexpr (kSide == 4) {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      } else if constexpr (kSide == 8) {
        mixed[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
      } else {
        mixed[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        mixed[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                   29, 14, 30, 15, 31);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) rows[i] = mixed[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) std::memcpy(to + i * to_ld, &rows[i], sizeof(Vector));
}

// Asks for the cache lines of `count` rows. Rows far apart are beyond the hardware's guesses.
template <class T>
inline void prefetch_rows(const T* from, int64_t ld, int64_t count, int64_t cols) {
  const int64_t bytes = cols * static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < count; ++r) {
    const char* row = reinterpret_cast<const char*>(from + r * ld);
    for (int64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(row + byte);
  }
}

// Fills the tile from rows x cols elements of a source that goes on for rows_left >= rows rows.
template <class T>
void read_tile(const T* from, int64_t ld, int64_t rows, int64_t rows_left, int64_t cols,
               Tile<T>& tile) {
  constexpr int64_t kSide = std::max<int64_t>(1, 16 / sizeof(T));
  constexpr int64_t kLd = Tile<T>::kRows;
  const int64_t whole_rows = rows - rows % kSide;
  const int64_t whole_cols = cols - cols % kSide;
  if constexpr (kSide > 1) {
    for (int64_t r = 0; r < whole_rows; r += kSide) {
      const int64_t ahead = r + kPrefetchRows;
      prefetch_rows(from + ahead * ld, ld, std::min(kSide, rows_left - ahead), cols);
      for (int64_t c = 0; c < whole_cols; c += kSide) {
        transpose_square(from + r * ld + c, ld, tile.data + c * kLd + r, kLd);
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t done = kSide > 1 && r < whole_rows ? whole_cols : 0;
    for (int64_t c = done; c < cols; ++c) tile.data[c * kLd + r] = from[r * ld + c];
  }
}

// Writes the tile's cols x rows transpose.
template <class T>
void write_tile(const Tile<T>& tile, int64_t rows, int64_t cols, bool stream, T* to, int64_t ld) {
  const int64_t bytes = rows * static_cast<int64_t>(sizeof(T));
  for (int64_t c = 0; c < cols; ++c) {
    const T* from = tile.data + c * Tile<T>::kRows;
    if (stream) {
      stream_copy(to + c * ld, from, bytes);
    } else {
      std::memcpy(to + c * ld, from, static_cast<size_t>(bytes));
    }
  }
  if (stream) finish_streaming();
}

}  // namespace mygemm::host
