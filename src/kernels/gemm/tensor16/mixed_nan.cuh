// Products of an FP32 and a BF16 operand: results that are NaN. An infinite BF16 value times a part
// that is 0 is NaN, where times the whole element it may be infinite. So they are computed again,
// by multiply-adds. Device only.
#pragma once

#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/tensor16/store.cuh"
#include "kernels/reduce.cuh"

namespace mygemm::tensor16 {

// Computes the results of a warp that are NaN again, its lanes along k. Where none is, this is a
// look at each.
template <class Tile>
__device__ __forceinline__ void compute_nan_again(Results<Tile>& sum, const GemmProblem& p,
                                                  const WarpPlace& at, int lane) {
  constexpr int kResults = Tile::kColumns / 2;
  bool some = false;
#pragma unroll
  for (const float x : sum) some |= isnan(x);
  if (!__any_sync(~0u, some)) return;
  const StridedOperand<float> a = operand_a<float>(p, at.batch);
  const StridedOperand<__nv_bfloat16> b = operand_b<__nv_bfloat16>(p, at.batch);
  // Results move up in their registers, and are in their places again at the end.
#pragma unroll 1
  for (int r = 0; r < kResults; ++r) {
    const float first = sum[0];
#pragma unroll
    for (int i = 0; i + 1 < kResults; ++i) sum[i] = sum[i + 1];
    sum[kResults - 1] = first;
    const auto row_of = [&](int of) { return at.row + row_of_lane<Tile>(of) + r / 2 % 2 * 8; };
    const auto column_of = [&](int of) { return at.column + r / 4 * 8 + of % 4 * 2 + r % 2; };
    const bool inside = row_of(lane) < p.m && column_of(lane) < p.n;
    for (unsigned left = __ballot_sync(~0u, inside && isnan(first)); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const int64_t row = row_of(owner), column = column_of(owner);
      float part = 0.0f;
#pragma unroll 4
      for (int64_t k = lane; k < p.k; k += 32) part = fmaf(a.at(row, k), b.at(column, k), part);
      const float whole = warp_reduce<Sum>(part);
      if (lane == owner) sum[kResults - 1] = whole;
    }
  }
}

}  // namespace mygemm::tensor16
