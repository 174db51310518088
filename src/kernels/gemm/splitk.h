// How a product is split along k: by the plan, which must know the workspace, and by the launcher,
// which must agree with it. Pure.
#pragma once

#include <algorithm>

#include "plan/plan.h"

namespace mygemm {

// No split is shorter: below, the partial sums cost more than the parallelism gains.
constexpr int64_t kSmallestSplit = 256;

// Splits that would fill the GPU once, without regard to the workspace.
inline int64_t splitk_count(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device) {
  const double tiles = std::max(1.0, static_cast<double>(ceil_div(p.m, row.block_m)) *
                                         static_cast<double>(ceil_div(p.n, row.block_n)) *
                                         static_cast<double>(p.batch_count));
  const auto fill = static_cast<int64_t>(device.num_sms * row.blocks_per_sm / tiles);
  return std::max<int64_t>(1, std::min(fill, p.k / kSmallestSplit));
}

// One FP32 partial matrix per split and product, dense: [split][batch][n][m].
inline size_t splitk_bytes(const GemmProblem& p, int64_t splits) {
  if (splits < 2) return 0;
  // A split product has fewer tiles than the GPU has slots, so this cannot overflow; where a size
  // is 0 the others may be anything, and unsigned products still end at 0.
  return static_cast<size_t>(splits) * static_cast<size_t>(p.batch_count) *
         static_cast<size_t>(p.m) * static_cast<size_t>(p.n) * sizeof(float);
}

// The most splits up to `wanted` whose partial sums fit the workspace.
inline int64_t splitk_fitting(const GemmProblem& p, int64_t wanted, size_t workspace_bytes) {
  while (wanted > 1 && splitk_bytes(p, wanted) > workspace_bytes) --wanted;
  return wanted;
}

}  // namespace mygemm
