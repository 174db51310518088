// Packed products: A, B or both, which tensor maps cannot describe, are copied to the workspace,
// and a kernel that tensor maps feed multiplies the copies. Where the workspace does not hold them
// whole, D is computed in parts of some rows and columns, or of some matrices of a batch; k is
// never divided, so that the kernel alone decides the order of sums. Defined by plan/packed.cpp,
// since the product of packed operands is planned as any other. Pure, but for launch_packed().
#pragma once

#include "kernels/gemm/pack.h"

namespace mygemm {

// Packing: a launch, and the traffic of a packed byte, of which L2 has a part when it is
// multiplied. On an H100, estimates of 198 packed products differ from what they take by 9 % (root
// mean square).
constexpr double kPackSeconds = 2.5e-6, kPackedTraffic = 1.4;

// Up to this shorter side of D there are kernels that take the longer side's operand as it is.
inline constexpr int64_t kMostShorterSide = 16;

inline bool must_be_packed(const Operand& x, int64_t batch_count) {
  return !has_tensor_map(x, batch_count);
}
// The reasons why a product is not packed.
inline constexpr const char* kNoRoomToPack = "the workspace is too small";
inline constexpr const char* kNothingToPack = "tensor maps describe A and B as they are";
inline constexpr const char* kCannotBePacked = "no tensor map describes the packed operands";

const char* configure_packed(const GemmKernel&, const GemmFacts&, const DeviceTraits&,
                             const PlanOptions&, GemmConfig*);
Status launch_packed(const GemmProblem&, const GemmConfig&, const LaunchContext&);

// The operands are read once more, at least, by a kernel that multiplies at `efficiency`.
constexpr GemmBound packed_bound(const GemmFigures& figures) {
  return {.launches = kPackSeconds + kOverlappedLaunchSeconds,
          .per_element = 1.0,
          .tile_flops = 2.0 / figures.efficiency,
          .lone_share = 0.0,
          .not_overlapped = 0.0,
          .least_k = 1};
}

}  // namespace mygemm
