// The dots kernels, for products of few results or of short sums: configuration, launch. Pure.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm {

// A group of lanes, a power of two, computes kColumns neighbouring results of a row straight from
// global memory: its lanes share k, and nothing of the operands is kept in shared memory.
template <int kColumns_, int kUnrolled_, int kMostLanes_>
struct DotsGroup {
  static constexpr int kColumns = kColumns_;
  static constexpr int kUnrolled = kUnrolled_;  // k of a lane whose loads are in flight at once
  static constexpr int kMostLanes = kMostLanes_;
  static constexpr int kThreads = 256;  // of a block, where a group has no more lanes
  // Lanes of a multiprocessor that reside at once, as registers allow.
  static constexpr int kResidentLanes = 1024;
  static constexpr int kWarpSums = 32;  // in shared memory
  // Longer sums of several columns take several times their estimate, and other kernels are faster.
  static constexpr int64_t kMostK = kColumns == 1 ? 0x7ffffffe : 24;
  static constexpr const char* kTooLong =
      kColumns == 1 ? "k of 2^31 - 1 and more" : "k of more than 24";

  // FFMA peak's operations in the time of a warp besides its loads. The constants were fitted on an
  // H200: to 330 products of 1 to 40 us, with an error of 12 %, and for groups of 4 columns to 180
  // of 1 to 6 us, with an error of 8 %.
  static constexpr double kWarpFlops = kColumns == 1 ? 0 : 6.4e3;
  // The addition over the lanes of a group.
  static constexpr double kLanesSeconds = kColumns == 1 ? 0.13e-6 : 0.23e-6;
};

// For few results: a group may be a whole block.
using Dots1 = DotsGroup<1, 8, 1024>;
// For short sums of many results: an element of A is loaded once for so many of them.
using Dots4 = DotsGroup<4, 4, 8>;

namespace dots {

// The lanes of a group, as a power of two: as many as load all k at once, as long as the lanes of
// all groups reside at once.
template <class Group>
unsigned log2_lanes(double groups, int64_t k, int num_sms) {
  const double most = static_cast<double>(num_sms) * Group::kResidentLanes;
  unsigned log2 = 0;
  while (1 << log2 < Group::kMostLanes && k > Group::kUnrolled << log2 &&
         groups * static_cast<double>(2 << log2) <= most) {
    ++log2;
  }
  return log2;
}

// The addition over the warps of a group.
constexpr double kWarpsSeconds = 0.25e-6;
// FFMA peak's operations in the additional time of a warp's loads of a k, for each sector of memory
// that they touch.
constexpr double kSectorFlops = 23;
constexpr double kSectorBytes = 32;
// Time of a byte that a block loads from L2 of an operand that is not contiguous along k, over that
// of one from device memory.
constexpr double kStridedTime = 0.42;
// Fraction of the time of the memory traffic that is not overlapped.
constexpr double kNotOverlapped = 0.75;

// Rows and columns of D that the results of so many neighbouring groups lie in.
struct Patch {
  int64_t rows, columns;
};
template <class Group>
Patch patch_of(const GemmProblem& p, int64_t groups) {
  const int64_t rows = std::clamp<int64_t>(p.m, 1, groups);
  const double columns = static_cast<double>(p.n) * static_cast<double>(p.batch_count);
  const int64_t wanted = ceil_div(groups, rows) * Group::kColumns;
  return {rows, columns < static_cast<double>(wanted) ? static_cast<int64_t>(columns) : wanted};
}

// Sectors of memory that `lines` neighbouring rows or columns of an operand touch, of `lanes`
// neighbouring k each.
inline double sectors_of(bool along_k, int64_t lines, int lanes, double element_bytes, int64_t ld) {
  const auto sectors = [&](double elements) {
    return estimate::rounded_up(elements * element_bytes / kSectorBytes);
  };
  const auto width = static_cast<double>(lines);
  if (along_k) return width * sectors(lanes);
  return std::min(lanes * sectors(width), sectors((lanes - 1.0) * static_cast<double>(ld) + width));
}

// Sectors of memory that a warp's loads of a k touch: one of A, and one of B for each column.
template <class Group>
double sectors_of_warp(const GemmFacts& facts, int lanes) {
  const GemmProblem& p = facts.problem;
  const Patch patch = patch_of<Group>(p, 32 / lanes);
  const double of_a = sectors_of(p.transa, patch.rows, lanes, facts.a_bytes, p.a.ld);
  const double of_b = sectors_of(!p.transb, patch.columns, lanes, facts.b_bytes, p.b.ld);
  return of_a + of_b * (p.transb ? Group::kColumns : 1);
}

// Bytes of a k that a block loads of operands that are not contiguous along k: whole sectors, which
// may have elements of the next k as well.
inline double strided_bytes_of_k(const GemmFacts& facts, const Patch& of_block) {
  const auto bytes = [](int64_t lines, double element_bytes, int64_t ld) {
    return std::min(kSectorBytes * sectors_of(false, lines, 1, element_bytes, ld),
                    static_cast<double>(ld) * element_bytes);
  };
  const GemmProblem& p = facts.problem;
  return (p.transa ? 0.0 : bytes(of_block.rows, facts.a_bytes, p.a.ld)) +
         (p.transb ? bytes(of_block.columns, facts.b_bytes, p.b.ld) : 0.0);
}

// FFMA peak's operations in the time of a warp's loads of a k and their multiply-adds, besides.
template <class Group>
constexpr double warp_flops(const GemmFigures& figures) {
  return 2.0 * 32 * Group::kColumns / figures.efficiency;
}

}  // namespace dots

template <class Group>
const char* configure_dots(const GemmKernel& kernel, const GemmFacts& facts,
                           const DeviceTraits& device, const PlanOptions&, GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (facts.area >= 0x1p31) return "2^31 results and more";
  if (p.k > Group::kMostK) return Group::kTooLong;
  const auto columns = static_cast<double>(ceil_div(p.n, Group::kColumns));
  const double groups = static_cast<double>(p.m) * columns * static_cast<double>(p.batch_count);
  const unsigned log2_lanes = dots::log2_lanes<Group>(groups, p.k, device.num_sms);
  const int lanes = 1 << log2_lanes;
  config->threads = std::max(Group::kThreads, lanes);
  config->resident = 1;
  config->shared_bytes = Group::kWarpSums * sizeof(float);
  const int of_block = config->threads / lanes;  // groups
  config->block_m = of_block;
  config->block_n = Group::kColumns;
  config->block_k = Group::kUnrolled * lanes;
  config->tiles_m = ceil_div(static_cast<int64_t>(groups), of_block);
  config->tiles_n = 1;
  config->blocks = config->tiles_m;
  config->k_per_split = p.k;
  config->may_overlap = true;

  const auto blocks = static_cast<double>(config->blocks);
  const double warps = estimate::rounded_up(blocks / device.num_sms) * (config->threads / 32.0);
  const double k_of_lane = estimate::rounded_up(facts.k / config->block_k) * Group::kUnrolled;
  const double load_flops =
      dots::warp_flops<Group>(kernel.figures) +
      dots::kSectorFlops * dots::sectors_of_warp<Group>(facts, std::min(lanes, 32));
  const double strided_bytes =
      blocks * facts.k * dots::strided_bytes_of_k(facts, dots::patch_of<Group>(p, of_block));
  config->seconds = kOverlappedLaunchSeconds + kernel.figures.fill_seconds +
                    estimate::cold_seconds(facts, device) +
                    (lanes > 1 ? Group::kLanesSeconds : 0.0) +
                    (lanes > 32 ? dots::kWarpsSeconds : 0.0) +
                    warps * (Group::kWarpFlops + k_of_lane * load_flops) * facts.flop_seconds +
                    std::max(dots::kStridedTime * strided_bytes / device.memory_bandwidth,
                             dots::kNotOverlapped * facts.memory_seconds);
  return nullptr;
}

// As if each result were a tile. A warp's loads of a k touch two sectors of memory at least.
template <class Group>
constexpr GemmBound dots_bound(const GemmFigures& figures) {
  constexpr double kResults = 32.0 * Group::kColumns;  // of a warp
  return {.launches = kOverlappedLaunchSeconds + figures.fill_seconds,
          .per_element = 1.0,
          .tile_flops = (dots::warp_flops<Group>(figures) + 2 * dots::kSectorFlops) / kResults,
          .lone_share = 1.0 / Group::kMostLanes,
          .moving = dots::kNotOverlapped,
          .not_overlapped = 1.0};
}

namespace cuda {
template <class Group>
Status launch_gemm_dots(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
