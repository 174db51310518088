// Six BF16 products: the main loop of the consumer warps. With a = high + mid + low, and b so too,
// a product of two floats is six of tensor cores: low high + high low + mid mid + mid high +
// high mid + high high. The other three add at most 2^-23 of the whole. Device only.
//
// Tensor cores round every sum towards zero, and with positive operands these errors add up. So
// they sum high high for 32 k at a time, and the FP32 units, which round to nearest, add these sums
// up. The sums of the small products, below 2^-7 of the whole, stay in the tensor cores' registers.
#pragma once

#include <cstddef>

#include "kernels/gemm/bf16x6/power.cuh"
#include "kernels/gemm/bf16x6/split.cuh"
#include "kernels/gemm/tensor/rows.cuh"
#include "ptx/bulk.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/warp.cuh"
#include "ptx/wgmma.cuh"

namespace mygemm::bf16x6 {

using tensor::kNoTile;
using tensor::Results;

// From here on splitting loses no bit: the last one of low is a normal number.
constexpr float kExact = 0x1p-103f;

// The guard's statistics for a lane's results: the sum of |A| over their rows, or more, and a sum
// of |B| of which that of any column is at most kLanesOfColumn times as much; the smallest elements
// of these rows of A, or more, and of all columns of B. A counts as it is split, scaled.
struct Statistics {
  float a = 0.0f, b = 0.0f;
  Smallest smallest_a, smallest_b;

  // Counts an element of A.
  __device__ __forceinline__ void see(float x) {
    a += fabsf(x);
    smallest_a.see(x);
  }
  // Those of A are multiplied by a power of two, at most 1.
  __device__ __forceinline__ void scale_a(float power) {
    a *= power;
    if (!smallest_a.none()) smallest_a.see(fmaxf(power * smallest_a.value(), 0x1p-149f));
  }

  // The smallest |result| that they prove right, of k products; NaN where a sum is NaN.
  __device__ __forceinline__ float least_proven(int k) const {
    if (!tensor::may_lose_bits(smallest_a, smallest_b, kExact)) return 0.0f;
    // The error of a part that is denormal and taken as 0, less than 2^-126, relative to 2^-26 of a
    // result; and the error of sums among denormal numbers.
    constexpr float kLoss = 0x1p-100f, kDenormalLoss = 0x1p-122f, kLanesOfColumn = 8;
    return kLoss * (a + kLanesOfColumn * b) + static_cast<float>(k) * kDenormalLoss;
  }
};

// A lane's elements of A for products of 16 k, split.
struct Fragments {
  unsigned part[kPartsOfElement][4];
};

// The high parts of those of 8 k, as RowsOfA loads them: the first or the second half of 16.
__device__ __forceinline__ void split_high(Fragments& to, int half, const unsigned (&x)[4]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    to.part[kHigh][2 * half + row] =
        ptx::pack_bf16(__uint_as_float(x[row]), __uint_as_float(x[2 + row]));
  }
}
// The others.
__device__ __forceinline__ void split_rest(Fragments& to, int half, const unsigned (&x)[4],
                                           Statistics& statistics) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float first = __uint_as_float(x[row]), second = __uint_as_float(x[2 + row]);
    statistics.see(first), statistics.see(second);
#pragma unroll
    for (int part = kMid; part <= kLow; ++part) {
      subtract(first, second, to.part[part - 1][2 * half + row]);
      to.part[part][2 * half + row] = ptx::pack_bf16(first, second);
    }
  }
}

// Sets `sum` to the products of the k steps of the block's next item, and returns the item, or one
// of kNoTile where there are no more; `least` is the smallest |sum| that is proven right. `step`
// counts the block's steps. High high is computed for kColumns columns at a time, so that its sums
// take few registers: they are added while small products run. The products that need no more than
// the high parts of A begin before the others are split: at 4096^3 that takes 1 % less time on an
// H200.
template <class Tile, class Shared, class Rows, class First>
__device__ __forceinline__ WorkItem multiply(Results<Tile>& sum, float& least, Shared& s, int& step,
                                             const Rows& rows, const First& in_first_step) {
  constexpr int kResults = Tile::kBlockN / 2, kPlanes = Shared::kPlanes;
  constexpr int kColumns = 64, kChunk = kColumns / 2, kChunks = Tile::kBlockN / kColumns;
  constexpr int kGroups = Tile::kBlockK / 16;  // of 16 k, as the tensor cores take them
  constexpr unsigned kPartBytes = Shared::kPart * sizeof(uint16_t), kBarrier = sizeof(uint64_t);
  constexpr bool kMNMajor = Shared::Operands::kB == Major::kMN;
  // From one group's B to the next, and from the first columns' to the next ones', in units of 16
  // bytes.
  constexpr int kNext = kMNMajor ? 16 * kLine * sizeof(uint16_t) / 16 : 2;
  constexpr int kNextColumns = kColumns * kLine * sizeof(uint16_t) / 16;
  static_assert(Tile::kParts == 1 && kChunks <= 2);
  // One register for all addresses.
  const unsigned base = ptx::shared_address(&s);
  const unsigned split_at = base + offsetof(Shared, split), free_at = base + offsetof(Shared, free);
  float small[kResults], chunk[kChunk];  // sums of the tensor cores
#pragma unroll
  for (int r = 0; r < kResults; ++r) sum[r] = small[r] = 0.0f;
#pragma unroll
  for (int r = 0; r < kChunk; ++r) chunk[r] = 0.0f;
  // At the first step: that of its elements, which the producer warps tell.
  const auto sum_of_b = [&s](int plane) {
    float all = 0.0f;
#pragma unroll
    for (const StatisticsOfB& of_warp : s.b_statistics[plane]) all += of_warp.sum;
    return all;
  };
  const auto add_chunk = [&](int c) {
#pragma unroll
    for (int r = 0; r < kChunk; ++r) ptx::add_in_order(sum[c * kChunk + r], chunk[r]);
  };

  ptx::mbarrier_wait_at(split_at + step % kPlanes * kBarrier, step / kPlanes % 2);
  const WorkItem& item = s.items[step % Shared::kNotes];
  if (ptx::warp_uniform(item.tile) == kNoTile) return {kNoTile, 0, 0};
  step = ptx::warp_uniform(step);
  const int first = step, end = step + ptx::warp_uniform(item.end - item.begin);
  Statistics statistics;
  float power = 0.0f;  // of A, once it is known
#pragma unroll 1
  for (; step < end; ++step) {
    const unsigned i = step, plane = i % kPlanes;
    const unsigned stage =
        base + offsetof(Shared, a) + i % Shared::kStages * (Shared::kStageA * sizeof(float));
    // From a uniform register all other descriptors are made in uniform registers. Made in others
    // and moved, they take 5 % of the time at 4096^3.
    const unsigned parts = base + offsetof(Shared, parts) + plane * (kPartsOfElement * kPartBytes);
    const unsigned matrix =
        ptx::in_uniform_register(kMNMajor ? ptx::wgmma_matrix_mn(parts) : ptx::wgmma_matrix(parts));
    const auto part_of_b = [&](Part part) { return matrix + part * (kPartBytes / 16); };
    unsigned x[2 * kGroups][4];
    Fragments a[kGroups];
    ptx::mbarrier_wait_at(split_at + plane * kBarrier, i / kPlanes % 2);
    ptx::wgmma_wait(small);
    if (step > first) ptx::mbarrier_arrive_at(free_at + (i - 1) % kPlanes * kBarrier);
    const auto load_a = [&] {
#pragma unroll
      for (int eight = 0; eight < 2 * kGroups; ++eight) rows.load(x[eight], stage, 0, eight);
    };
    if (power != 1.0f) {  // the stage is scaled in its place: the way of most data is as without
      load_a();
      if (step == first) {
        in_first_step(s.items[i % Shared::kNotes]);
        power = power_for(x, sum_of_b(plane));
      }
      const float most = most_for(tensor::largest_in_warp(largest_of(x)));
      if (power != 1.0f && most < power) {  // elements of A have grown
        const float less = most * inverse_of(power);
#pragma unroll
        for (int r = 0; r < kResults; ++r) sum[r] *= less, small[r] *= less;
        statistics.scale_a(less);
        power = most;
      }
      if (power != 1.0f) {
        scale(x, power);
#pragma unroll
        for (int eight = 0; eight < 2 * kGroups; ++eight) rows.store(x[eight], stage, 0, eight);
        ptx::fence_bulk();  // before the next copy to the stage
      }
    }
    load_a();
#pragma unroll
    for (int eight = 0; eight < 2 * kGroups; ++eight) split_high(a[eight / 2], eight % 2, x[eight]);
    // Products take the place of a chunk that has been added. The compiler may not know it: it
    // would have them write to other registers while the chunk is added, and there are none.
    // gridDim.z is 1 in every grid of ours.
    const bool adds = gridDim.z > 1;
    const auto multiply_high = [&](int c) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        ptx::wgmma_bf16<kColumns, kMNMajor>(chunk, a[g].part[kHigh],
                                            part_of_b(kHigh) + c * kNextColumns + g * kNext,
                                            g > 0 || adds);
      }
      ptx::wgmma_commit();
    };
    const auto multiply_small = [&](Part of_a, Part of_b) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        ptx::wgmma_bf16<Tile::kBlockN, kMNMajor>(small, a[g].part[of_a],
                                                 part_of_b(of_b) + g * kNext, true);
      }
    };
    ptx::wgmma_fence();
    multiply_high(0);
    multiply_small(kHigh, kLow);
    multiply_small(kHigh, kMid);
    ptx::wgmma_commit();
#pragma unroll
    for (int eight = 0; eight < 2 * kGroups; ++eight) {
      split_rest(a[eight / 2], eight % 2, x[eight], statistics);
    }
    ptx::wgmma_wait<1>(chunk);
    add_chunk(0);
    ptx::wgmma_fence();
    if (kChunks > 1) multiply_high(1);
    multiply_small(kMid, kMid);
    multiply_small(kMid, kHigh);
    multiply_small(kLow, kHigh);
    ptx::wgmma_commit();
    if (kChunks > 1) {
      ptx::wgmma_wait<1>(chunk);
      add_chunk(1);
    }
  }
  ptx::wgmma_wait(small);
#pragma unroll
  for (int r = 0; r < kResults; ++r) ptx::add_in_order(sum[r], small[r]);
  const int last = step - 1;
#pragma unroll
  for (const StatisticsOfB& of_warp : s.b_statistics[last % kPlanes]) {
    statistics.b += of_warp.sum;
    statistics.smallest_b.see(of_warp.smallest);
  }
  const WorkItem same = s.items[last % Shared::kNotes];
  ptx::mbarrier_arrive_behind(free_at + last % kPlanes * kBarrier,
                              __float_as_uint(statistics.b) ^ statistics.smallest_b.bits ^
                                  same.tile ^ same.begin ^ same.end);
  statistics.a = rows.sum_of_rows(statistics.a);
  statistics.smallest_a = statistics.smallest_a.of_warp();
  least = statistics.least_proven((same.end - same.begin) * Tile::kBlockK);
  if (power != 1.0f) {
    const float inverse = inverse_of(power);
#pragma unroll
    for (int r = 0; r < kResults; ++r) sum[r] *= inverse;
    least *= inverse;
  }
  return same;
}

}  // namespace mygemm::bf16x6
