// Packs: 16 bytes of consecutive elements, the largest access of a thread and the unit in which the
// fast transposes move data. Device only.
#pragma once

#include <cstdint>

#include "kernels/transpose/tiles.h"
#include "ptx/global.cuh"

namespace mygemm {

struct alignas(16) Pack {
  uint32_t word[4];
};

// Cache hints of an access. H200, fractions of a copy:
// kStreamed does not keep the data: 0.987 against 0.973 without for 4096 x 4096 fp32, but 0.974
// against 0.981 for 16384 x 16384. Its loads require that nothing writes the data while the kernel
// runs. kInL2 is for stores to addresses that the block has just read: 0.940 against 0.925 without.
enum class Caching { kDefault, kStreamed, kInL2 };

template <Caching caching>
__device__ __forceinline__ Pack load_pack(const void* address) {
  if constexpr (caching == Caching::kStreamed) {
    const uint4 bits = ptx::load_once_16(address);
    return {{bits.x, bits.y, bits.z, bits.w}};
  }
  return *static_cast<const Pack*>(address);
}

template <Caching caching>
__device__ __forceinline__ void store_pack(void* address, const Pack& pack) {
  const uint4 bits = make_uint4(pack.word[0], pack.word[1], pack.word[2], pack.word[3]);
  if constexpr (caching == Caching::kStreamed) {
    __stcs(static_cast<uint4*>(address), bits);
  } else if constexpr (caching == Caching::kInL2) {
    __stcg(static_cast<uint4*>(address), bits);
  } else {
    *static_cast<uint4*>(address) = bits;
  }
}

// The unit in which parts of packs are accessed: an element, or half of one of 16 bytes, which may
// be aligned to 8 bytes only.
template <int kBytes>
using Unit = Element<kBytes <= 8 ? kBytes : 8>;

// Bytes first to last - 1 of a pack; both may be outside it.
struct Part {
  int first, last;

  __device__ __forceinline__ Part(int64_t from, int64_t to)
      : first(static_cast<int>(max(from, int64_t{0}))),
        last(static_cast<int>(max(min(to, int64_t{16}), int64_t{0}))) {}
  __device__ __forceinline__ bool has(int byte) const { return byte >= first && byte < last; }
};

// Loads the units of the pack at `address` that are in the part; the others are 0.
template <int kBytes>
__device__ __forceinline__ Pack load_part(const void* address, const Part& part) {
  constexpr int kSize = static_cast<int>(sizeof(Unit<kBytes>));
  Pack pack;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    uint64_t bits = 0;
#pragma unroll
    for (int byte = 0; byte < 8; byte += kSize) {
      const int at = 8 * half + byte;
      if (!part.has(at)) continue;
      bits |= uint64_t{static_cast<const Unit<kBytes>*>(address)[at / kSize]} << 8 * byte;
    }
    pack.word[2 * half] = static_cast<uint32_t>(bits);
    pack.word[2 * half + 1] = static_cast<uint32_t>(bits >> 32);
  }
  return pack;
}

template <int kBytes>
__device__ __forceinline__ void store_part(void* address, const Pack& pack, const Part& part) {
  constexpr int kSize = static_cast<int>(sizeof(Unit<kBytes>));
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint64_t bits = uint64_t{pack.word[2 * half + 1]} << 32 | pack.word[2 * half];
#pragma unroll
    for (int byte = 0; byte < 8; byte += kSize) {
      const int at = 8 * half + byte;
      if (!part.has(at)) continue;
      static_cast<Unit<kBytes>*>(address)[at / kSize] = static_cast<Unit<kBytes>>(bits >> 8 * byte);
    }
  }
}

// 16 bytes that begin `bytes` (0 to 15, a multiple of sizeof(Unit)) after those of `low`.
template <int kBytes>
__device__ __forceinline__ Pack shifted_pack(const Pack& low, const Pack& high, unsigned bytes) {
  uint32_t by8[6], by4[5];
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const auto word = [&](int w) { return w < 4 ? low.word[w & 3] : high.word[w & 3]; };
    by8[i] = bytes & 8 ? word(i + 2) : word(i);
  }
#pragma unroll
  for (int i = 0; i < 5; ++i) by4[i] = kBytes < 8 && (bytes & 4) ? by8[i + 1] : by8[i];
  Pack pack;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    pack.word[i] = kBytes < 4 ? __funnelshift_r(by4[i], by4[i + 1], bytes % 4 * 8) : by4[i];
  }
  return pack;
}

// Transposes a patch in registers: it has as many packs as a pack has elements, each a row of the
// input before and a row of the output after. For elements of 4 and 8 bytes that only renames
// registers; smaller ones take half a byte permutation per element.
template <int kBytes>
__device__ __forceinline__ void transpose_patch(Pack (&patch)[kPackElements<kBytes>]) {
  constexpr int kRows = kPackElements<kBytes>;
  Pack in[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) in[i] = patch[i];
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (kBytes == 8) {
        patch[j].word[w] = in[w / 2].word[2 * j + w % 2];
      } else if constexpr (kBytes == 4) {
        patch[j].word[w] = in[w].word[j];
      } else if constexpr (kBytes == 2) {
        patch[j].word[w] =
            __byte_perm(in[2 * w].word[j / 2], in[2 * w + 1].word[j / 2], j % 2 ? 0x7632 : 0x5410);
      } else if constexpr (kBytes == 1) {
        // Bytes 0 and 1, or 2 and 3, of two rows each, then one byte of all four. The pairs are
        // the same for two j: the compiler makes them once.
        const unsigned pair = j % 4 < 2 ? 0x5140 : 0x7362;
        const uint32_t rows01 = __byte_perm(in[4 * w].word[j / 4], in[4 * w + 1].word[j / 4], pair);
        const uint32_t rows23 =
            __byte_perm(in[4 * w + 2].word[j / 4], in[4 * w + 3].word[j / 4], pair);
        patch[j].word[w] = __byte_perm(rows01, rows23, j % 2 ? 0x7632 : 0x5410);
      }
    }
  }
}

}  // namespace mygemm
