// Products on tensor cores: the main loop of the consumer warps. A float is the sum of a high and a
// low TF32 value, and a product of two floats is three of tensor cores: low high + high low + high
// high. The product of the low parts would add less than 2^-21 of the whole. Device only.
//
// Tensor cores round every sum towards zero, and with positive operands these errors add up. So
// they sum few k at a time, the small products first, and the FP32 units, which round to nearest,
// add these sums up.
#pragma once

#include <cstddef>

#include "kernels/gemm/tf32x3/feed.cuh"
#include "ptx/math.cuh"
#include "ptx/shared.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/wgmma.cuh"

namespace mygemm::tf32x3 {

// Results of a thread, in the order of wgmma_tf32(): 2 columns of 2 rows, for every 8 columns.
template <class Tile>
using Results = float[Tile::kBlockN / 2];

// The places of a thread's values of A in a stage, and the rows of its results in the tile. Any
// assignment of rows to warps is correct. Where A is K-major, a warp has 16 neighbouring rows;
// where it is MN-major, 8 neighbours and the 8 that are 16 further on, so that the loads of 32
// lanes from the swizzled lines of 4 k have no bank conflicts.
template <Major kMajor>
struct RowsOfA {
  static constexpr bool kKMajor = kMajor == Major::kK;

  unsigned first;  // bytes from the beginning of the stage: the first row's, at k = lane % 4

  __device__ RowsOfA(int warp, int lane) {
    const unsigned group = lane / 4, t = lane % 4;
    if (kKMajor) {
      first = (16 * warp + group) * 128 + group * 16 + t * 4;
    } else {
      const unsigned chunk = warp % 2 * 2 + group / 4 * 4;
      first = warp / 2 * 4096 + t * 128 + (chunk ^ t) * 16 + group % 4 * 4;
    }
  }

  // The four values of products of 8 k, the group-th from k on, as wgmma_tf32() takes them.
  // k is a multiple of 16, and the compiler need not know it.
  __device__ __forceinline__ void load(unsigned (&x)[4], unsigned stage, unsigned k,
                                       int group) const {
    if (kKMajor) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned quad = stage + (first ^ (k * 4 + (2 * group + half) * 16));
        x[2 * half] = ptx::load_shared_4(quad);
        x[2 * half + 1] = ptx::load_shared_4(quad + 8 * 128);
      }
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          x[2 * half + row] = ptx::load_shared_4(
              stage + k * 128 + (first ^ (row * 16 + half * 64)) + (8 * group + 4 * half) * 128);
        }
      }
    }
  }

  // The tile's row of a warp's row number `index`.
  static __device__ __forceinline__ int row(int warp, int index) {
    return kKMajor ? 16 * warp + index : warp / 2 * 32 + warp % 2 * 8 + index / 8 * 16 + index % 8;
  }

  // The sum over the lanes that load values of the same rows: the rows of a lane's results as they
  // are stored, of index lane / 4 and 8 further on.
  static __device__ __forceinline__ float sum_of_rows(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    x += __shfl_xor_sync(0xffffffffu, x, 2);
    if (!kKMajor) x += __shfl_xor_sync(0xffffffffu, x, 16);
    return x;
  }
};

// The guard's sums for a lane's results: of |A| over their rows, or more, and of |B|, where the sum
// of any column is at most kLanesOfColumn times as much.
struct Sums {
  float a = 0.0f, b = 0.0f;
};
constexpr float kLanesOfColumn = 8;

// A value of A in its two parts, the high one rounded to nearest: the low one has either sign, so
// that errors of truncating its last bits, as tensor cores do, do not add up. NaN and values that
// round to infinity leave a low part of NaN or infinity: see guard.cuh.
__device__ __forceinline__ void split(unsigned& high, unsigned& low, unsigned x) {
  high = (x + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
}

// Sets `sum` to the products of the k steps of the block's next item, and returns the item, or one
// of kNoTile where there are no more. `unit` counts the parts of the block's steps. Only this
// loop's own values are in registers meanwhile: with 128 x 192 results they are all taken.
template <class Tile, class Shared>
__device__ __forceinline__ WorkItem multiply(Results<Tile>& sum, Sums& sums, Shared& s, int& unit,
                                             const RowsOfA<Shared::Operands::kA>& rows) {
  constexpr int kResults = Tile::kBlockN / 2, kParts = Tile::kParts;
  constexpr int kGroups = Tile::kTogether / 8;  // of 8 k, as the tensor cores take them
  constexpr unsigned kPlaneBytes = Shared::kStageB * sizeof(float), kBarrier = sizeof(uint64_t);
  constexpr int kUnits = Shared::kPlanes * kParts;
  constexpr unsigned kHighPlanes =
      Shared::kTransposesB ? offsetof(Shared, high) : offsetof(Shared, b);
  // One register for all addresses.
  const unsigned base = ptx::shared_address(&s);
  const unsigned split_at = base + offsetof(Shared, split), free_at = base + offsetof(Shared, free);
  float chunk[kResults];  // the tensor cores' sums
#pragma unroll
  for (int r = 0; r < kResults; ++r) sum[r] = chunk[r] = 0.0f;

  ptx::mbarrier_wait_at(split_at + unit % kUnits * kBarrier, unit / kUnits % 2);
  const WorkItem& item = s.items[unit / kParts % Shared::kNotes];
  if (ptx::warp_uniform(item.tile) == kNoTile) return {kNoTile, 0, 0};
  unit = ptx::warp_uniform(unit);
  const int first = unit, end = unit + ptx::warp_uniform(item.end - item.begin) * kParts;
#pragma unroll 1
  for (; unit < end; ++unit) {
    const unsigned u = unit, step = u / kParts, part = u % kParts;
    const unsigned place = step % Shared::kStages, plane = step % Shared::kPlanes;
    const unsigned k = part * Tile::kTogether;
    const unsigned stage = base + offsetof(Shared, a) + place * (Shared::kStageA * sizeof(float));
    const unsigned b_high =
        ptx::wgmma_matrix(base + kHighPlanes +
                          (Shared::kTransposesB ? plane : place) * kPlaneBytes + k * sizeof(float));
    const unsigned b_low =
        ptx::wgmma_matrix(base + offsetof(Shared, low) + plane * kPlaneBytes + k * sizeof(float));
    unsigned x[kGroups][4], high[kGroups][4], low[kGroups][4];
    ptx::mbarrier_wait_at(split_at + u % kUnits * kBarrier, u / kUnits % 2);
    ptx::wgmma_wait(chunk);
    if (unit > first) ptx::mbarrier_arrive_at(free_at + (u - 1) % kUnits * kBarrier);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) rows.load(x[g], stage, k, g);
    if (part == 0) {
#pragma unroll
      for (int r = 0; r < kResults; ++r) ptx::add_in_order(sum[r], chunk[r]);
    }
#pragma unroll
    for (int e = 0; e < 4 * kGroups; ++e) {
      sums.a += fabsf(__uint_as_float(x[e / 4][e % 4]));
      split(high[e / 4][e % 4], low[e / 4][e % 4], x[e / 4][e % 4]);
    }
    // Products take the place of a chunk that has been added. Where that is always so, the compiler
    // may not know it: it would have them write to other registers while the chunk is added, and
    // there are none. blockIdx.z is 0 in every grid of ours.
    const bool adds = kParts > 1 ? part > 0 : blockIdx.z > 0;
    constexpr int kNext = 2;  // from one group's B to the next, 8 k on
    ptx::wgmma_fence();
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      ptx::wgmma_tf32<Tile::kBlockN>(chunk, low[g], b_high + g * kNext, g > 0 || adds);
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      ptx::wgmma_tf32<Tile::kBlockN>(chunk, high[g], b_low + g * kNext, true);
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      ptx::wgmma_tf32<Tile::kBlockN>(chunk, high[g], b_high + g * kNext, true);
    }
    ptx::wgmma_commit();
  }
  ptx::wgmma_wait(chunk);
#pragma unroll
  for (int r = 0; r < kResults; ++r) ptx::add_in_order(sum[r], chunk[r]);
  const int step = (unit - 1) / kParts;
#pragma unroll 1
  for (int w = 0; w < Tile::kProducerWarps; ++w) sums.b += s.b_sums[step % Shared::kPlanes][w];
  const WorkItem same = s.items[step % Shared::kNotes];
  ptx::mbarrier_arrive_behind(free_at + (unit - 1) % kUnits * kBarrier,
                              __float_as_uint(sums.b) ^ same.tile ^ same.begin ^ same.end);
  sums.a = rows.sum_of_rows(sums.a);
  return same;
}

}  // namespace mygemm::tf32x3
