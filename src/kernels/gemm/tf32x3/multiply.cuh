// Three TF32 products: the main loop of the consumer warps. A float is the sum of a high and a
// low TF32 value, and a product of two floats is three of tensor cores: low high + high low + high
// high. The product of the low parts would add less than 2^-21 of the whole. Device only.
//
// Tensor cores round every sum towards zero, and with positive operands these errors add up. So
// they sum few k at a time, the small products first, and the FP32 units, which round to nearest,
// add these sums up.
#pragma once

#include <cstddef>

#include "kernels/gemm/tensor/rows.cuh"
#include "ptx/math.cuh"
#include "ptx/shared.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/wgmma.cuh"

namespace mygemm::tf32x3 {

using tensor::kNoTile;
using tensor::Results;

// The guard's statistics for a lane's results: the sum of |A| over their rows, or more, and a sum
// of |B| of which that of any column is at most kLanesOfColumn times as much.
struct Statistics {
  float a = 0.0f, b = 0.0f;

  // The smallest |result| that they prove right, of k products; NaN where a sum is NaN.
  __device__ __forceinline__ float least_proven(int k) const {
    if (a == 0.0f || b == 0.0f) return 0.0f;  // all products are 0
    // The error of a unit of TF32 denormals, 2^-136, relative to 2^-26 of a result; and the error
    // of sums among denormal numbers.
    constexpr float kLoss = 0x1p-110f, kDenormalLoss = 0x1p-122f, kLanesOfColumn = 8;
    return kLoss * (a + kLanesOfColumn * b) + static_cast<float>(k) * kDenormalLoss;
  }
};

// A value of A in its two parts, the high one rounded to nearest: the low one has either sign, so
// that errors of truncating its last bits, as tensor cores do, do not add up. NaN and values that
// round to infinity leave a low part of NaN or infinity: see guard.cuh.
__device__ __forceinline__ void split(unsigned& high, unsigned& low, unsigned x) {
  high = (x + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
}

// Sets `sum` to the products of the k steps of the block's next item, and returns the item, or one
// of kNoTile where there are no more; `least` is the smallest |sum| that is proven right. `unit`
// counts the parts of the block's steps. Only this loop's own values are in registers meanwhile:
// with 128 x 192 results they are all taken.
template <class Tile, class Shared, class Rows>
__device__ __forceinline__ WorkItem multiply(Results<Tile>& sum, float& least, Shared& s, int& unit,
                                             const Rows& rows) {
  constexpr int kResults = Tile::kBlockN / 2, kParts = Tile::kParts;
  constexpr int kGroups = Tile::kTogether / 8;  // of 8 k, as the tensor cores take them
  constexpr unsigned kPartBytes = Shared::kPart * sizeof(float), kBarrier = sizeof(uint64_t);
  constexpr int kUnits = Shared::kPlanes * kParts;
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
  Statistics statistics;
#pragma unroll 1
  for (; unit < end; ++unit) {
    const unsigned u = unit, step = u / kParts, part = u % kParts;
    const unsigned place = step % Shared::kStages, plane = step % Shared::kPlanes;
    const unsigned k = part * Tile::kTogether;
    const unsigned stage = base + offsetof(Shared, a) + place * (Shared::kStageA * sizeof(float));
    const unsigned low_part =
        base + offsetof(Shared, parts) + plane * (Shared::kPartsOfB * kPartBytes);
    const unsigned high_part =
        Shared::kFreesB ? low_part + kPartBytes : base + offsetof(Shared, b) + place * kPartBytes;
    const unsigned b_high = ptx::wgmma_matrix(high_part + k * sizeof(float));
    const unsigned b_low = ptx::wgmma_matrix(low_part + k * sizeof(float));
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
      statistics.a += fabsf(__uint_as_float(x[e / 4][e % 4]));
      split(high[e / 4][e % 4], low[e / 4][e % 4], x[e / 4][e % 4]);
    }
    // Products take the place of a chunk that has been added. Where that is always so, the compiler
    // may not know it: it would have them write to other registers while the chunk is added, and
    // there are none. gridDim.z is 1 in every grid of ours.
    const bool adds = kParts > 1 ? part > 0 : gridDim.z > 1;
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
  for (int w = 0; w < Tile::kProducerWarps; ++w) {
    statistics.b += s.b_statistics[step % Shared::kPlanes][w].sum;
  }
  const WorkItem same = s.items[step % Shared::kNotes];
  ptx::mbarrier_arrive_behind(free_at + (unit - 1) % kUnits * kBarrier,
                              __float_as_uint(statistics.b) ^ same.tile ^ same.begin ^ same.end);
  statistics.a = rows.sum_of_rows(statistics.a);
  least = statistics.least_proven((same.end - same.begin) * Tile::kBlockK);
  return same;
}

}  // namespace mygemm::tf32x3
