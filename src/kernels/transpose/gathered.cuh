// Tiles of rows that begin anywhere, and packs of the output gathered from them. Device only.
//
// A row of a tile lies in shared memory at an address that is congruent to its own in the input
// modulo 16, since the tile's pitch is congruent to the matrix's: whole aligned packs are copied
// without a shift, and the place of element (r, c) is linear in r and c. For a pack of the output,
// which may begin at any row, a thread reads one element of each of kPackElements rows.
//
// Banks: kGatherLanes lanes gather packs along a row of the output, and four such groups work on
// four rows. From lane to lane the place grows by kPackElements rows, which is an odd multiple of
// 16 bytes: the pitch is an odd number of elements, or the tile is skewed. So the lanes of a group
// read in 8 different groups of 4 banks, and the four groups in different banks of these: from
// group to group places grow by 4 * step bytes (rotation()), and the words of a pack are read in
// another order where `step` is even.
#pragma once

#include "kernels/divisor.h"
#include "kernels/transpose/gathered.h"
#include "kernels/transpose/patches.cuh"
#include "ptx/cp_async.cuh"
#include "ptx/cp_async_line.cuh"
#include "ptx/shared.cuh"

namespace mygemm {

template <int kBytes, bool kSkewed>
struct GatheredTile {
  char* memory;
  int phase;  // bytes from a multiple of 16 to element (0, 0), here and in global memory
  int pitch;

  __device__ __forceinline__ GatheredTile(char* storage, const char* first, int tile_pitch)
      : memory(storage),
        phase(static_cast<int>(reinterpret_cast<uintptr_t>(first) % 16)),
        pitch(tile_pitch) {}
  // Bytes from `memory` to column 0 of a row.
  __device__ __forceinline__ int place(int row) const {
    return phase + row * pitch + (kSkewed ? row / kPackElements<kBytes> * kGatherSkew : 0);
  }
};

template <int kBytes>
__device__ __forceinline__ void copy_part(char* to, const char* from, const Part& part) {
  using T = Unit<kBytes>;
#pragma unroll 1
  for (int byte = 0; byte < 16; byte += static_cast<int>(sizeof(T))) {
    if (part.has(byte)) *reinterpret_cast<T*>(to + byte) = *reinterpret_cast<const T*>(from + byte);
  }
}

// Starts to copy `bytes` of each of `rows` rows from `first` on. Bytes outside the matrix are not
// read (those between its rows may be).
template <int kBytes, bool kSkewed>
__device__ __forceinline__ void fetch_tile(const GatheredTile<kBytes, kSkewed>& tile,
                                           const TransposeProblem& p, const InputMatrix& in,
                                           const char* first, int rows, int bytes,
                                           const Divisor& packs) {
  const int first_row = static_cast<int>(packs.quotient(threadIdx.x));
  const int step = static_cast<int>(packs.quotient(blockDim.x));
  if (first_row >= step) return;  // less than a row of threads is left
  const int width = static_cast<int>(packs.value());
  const int along = 16 * (static_cast<int>(threadIdx.x) - first_row * width);
  const char* at = first + first_row * in.pitch + along;
  const int64_t stride = step * in.pitch;
  const int to_step = step * tile.pitch;
  int to = tile.place(first_row) + along;
  const auto each_row = [&](auto copy) {
    for (int row = first_row; row < rows; row += step) {
      const auto address = reinterpret_cast<uintptr_t>(at);
      if (kSkewed) to = tile.place(row) + along;
      if (along - static_cast<int>(address % 16) < bytes) {
        copy(to & ~15, reinterpret_cast<const char*>(address & ~uintptr_t{15}));
      }
      at += stride;
      to += to_step;
    }
  };
  const char* end = in.first + (p.rows - 1) * in.pitch + p.cols * kBytes;
  if (first - 15 >= in.first && first + (rows - 1) * in.pitch + 16 * width <= end) {
    const unsigned shared = ptx::shared_address(tile.memory);
    each_row([&](int place, const char* from) {
      ptx::cp_async_line_16(shared + static_cast<unsigned>(place), from);
    });
  } else {
    each_row([&](int place, const char* from) {
      if (from >= in.first && from + 16 <= end) {
        ptx::cp_async_16(tile.memory + place, from, true);
      } else {
        copy_part<kBytes>(tile.memory + place, from, Part(in.first - from, end - from));
      }
    });
  }
}

// The words of a pack (of 8-byte elements: its halves) are read in the order w ^ rotation.
template <int kBytes>
__device__ __forceinline__ int rotation(int64_t ldout, int pitch, int group) {
  const int step = (1 - static_cast<int>(ldout) * (pitch / kBytes)) & 3;
  if (step % 2 != 0) return 0;
  if (kBytes == 8) return group & 1;
  return step == 2 ? group >> 1 : group;
}

// Columns of the input between two groups of lanes: 4 bytes of small elements.
template <int kBytes>
inline constexpr int kGroupSpacing = kBytes < 4 ? 4 / kBytes : 1;

// Packs of small elements are many loads; and with two packs sm_120 spills.
template <int kBytes>
__device__ constexpr int packs_at_once() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return 1;
#else
  return kBytes <= 2 ? 1 : 2;
#endif
}

// A thread's part in writing a tile: the columns of the input that it gathers, and how.
template <int kBytes, bool kSkewed>
struct Gatherer {
  static constexpr int kUnits = kBytes == 8 ? 2 : 4;  // words, or halves, of a pack
  static constexpr int kElements = kPackElements<kBytes>;

  const GatheredTile<kBytes, kSkewed>& tile;
  int lane;          // along the row of the output
  int column, step;  // its first column, and from one to the next
  int rotated;
  int unit[kUnits];  // bytes to the first row of each unit, in the order of reading

  __device__ __forceinline__ Gatherer(const GatheredTile<kBytes, kSkewed>& from, int64_t ldout)
      : tile(from) {
    constexpr int kSpacing = kGroupSpacing<kBytes>;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int group = thread % 32 / kGatherLanes;
    lane = thread % kGatherLanes;
    column = warp / kSpacing * 4 * kSpacing + warp % kSpacing + group * kSpacing;
    step = static_cast<int>(blockDim.x) / kGatherLanes;  // a multiple of 4 * kSpacing
    rotated = kSkewed ? 0 : rotation<kBytes>(ldout, tile.pitch, group);
#pragma unroll
    for (int u = 0; u < kUnits; ++u) unit[u] = (u ^ rotated) * (kElements / kUnits) * tile.pitch;
  }

  // One element of each of kElements rows from `row` on, whose first is at `place`.
  __device__ __forceinline__ Pack pack(int place, int row) const {
    const int crossing = kElements - row % kElements;  // the rows from here on are skewed by more
    Pack read;
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const auto element = [&](int i) -> Element<kBytes> {
        int at = place + unit[u] + i * tile.pitch;
        if (kSkewed && u * (kElements / kUnits) + i >= crossing) at += kGatherSkew;
        return *reinterpret_cast<const Element<kBytes>*>(tile.memory + at);
      };
      if constexpr (kBytes == 8) {
        const uint64_t bits = element(0);
        read.word[2 * u] = static_cast<uint32_t>(bits);
        read.word[2 * u + 1] = static_cast<uint32_t>(bits >> 32);
      } else if constexpr (kBytes == 4) {
        read.word[u] = element(0);
      } else if constexpr (kBytes == 2) {
        read.word[u] = __byte_perm(element(0), element(1), 0x5410);
      } else {
        read.word[u] = __byte_perm(__byte_perm(element(0), element(1), 0x0040),
                                   __byte_perm(element(2), element(3), 0x0040), 0x5410);
      }
    }
    return kSkewed ? read : unrotated(read);
  }

  // The words of a pack in their own order.
  __device__ __forceinline__ Pack unrotated(const Pack& read) const {
    Pack pairs = read, pack;
    if constexpr (kUnits == 4) {
#pragma unroll
      for (int w = 0; w < 4; ++w) pairs.word[w] = rotated & 1 ? read.word[w ^ 1] : read.word[w];
    }
    const bool swapped = (rotated & kUnits / 2) != 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) pack.word[w] = swapped ? pairs.word[w ^ 2] : pairs.word[w];
    return pack;
  }

  // Writes `bytes` of a row of the output from `to` on, a multiple of 16, from row `row` on.
  template <Caching caching>
  __device__ __forceinline__ void write_packs(int c, int row, char* to, int bytes) const {
    row += lane * kElements;
    to += 16 * lane;
    int place = tile.place(row) + c * kBytes;
    constexpr int kRows = kGatherLanes * kElements;
    [[maybe_unused]] constexpr int kPacksAtOnce = packs_at_once<kBytes>();
    const int stride = kRows * tile.pitch + (kSkewed ? kGatherLanes * kGatherSkew : 0);
#pragma unroll kPacksAtOnce
    for (int byte = 16 * lane; byte < bytes; byte += 16 * kGatherLanes) {
      store_pack<caching>(to, pack(place, row));
      to += 16 * kGatherLanes;
      place += stride;
    }
  }

  // The same from byte `begin` to end - 1 of a row that begins at `to`, which need be no multiple
  // of 16: whole packs, and elements at both ends.
  template <Caching caching>
  __device__ __forceinline__ void write_part(int c, char* to, int begin, int end) const {
    const int first = begin + (-(static_cast<int>(reinterpret_cast<uintptr_t>(to)) + begin) & 15);
    const int tail = first + max(end - first, 0) / 16 * 16;
    if (first < tail) write_packs<caching>(c, first / kBytes, to + first, tail - first);
    // The bytes before the first pack, and those after the last one.
    const int head = min(first, end) - begin, edges = head + max(end - tail, 0);
#pragma unroll 1
    for (int edge = lane * kBytes; edge < edges; edge += kGatherLanes * kBytes) {
      const int byte = edge < head ? begin + edge : tail + edge - head;
      *reinterpret_cast<Element<kBytes>*>(to + byte) = *reinterpret_cast<const Element<kBytes>*>(
          tile.memory + tile.place(byte / kBytes) + c * kBytes);
    }
  }
};

}  // namespace mygemm
