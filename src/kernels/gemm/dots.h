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

  // Fitted on an H200 to 453 products of 1 to 40 us, with an error of 11 %, and for groups of 4
  // columns to 237 of 1 to 27 us, with an error of 10 %.
  // FFMA peak's operations in the time of a warp besides its loads, and in the additional time of
  // its loads of a k for each line of memory that they touch.
  static constexpr double kWarpFlops = kColumns == 1 ? 5.1e3 : 9.5e3;
  static constexpr double kLineFlops = kColumns == 1 ? 12 : 0;
  // Time of a byte that a block loads from L2, over that of one from device memory.
  static constexpr double kL2Time = kColumns == 1 ? 0.14 : 0;
  // Fraction of the time of the memory traffic that is not overlapped.
  static constexpr double kNotOverlapped = kColumns == 1 ? 0.89 : 0.39;
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

// Lines of memory that a warp's loads of a k touch.
template <class Group>
double lines_of_warp(const GemmProblem& p, int lanes) {
  const Patch patch = patch_of<Group>(p, 32 / lanes);
  return static_cast<double>((p.transa ? patch.rows : lanes) + (p.transb ? lanes : patch.columns));
}

// Bytes of a k that a block loads from L2, each element once. Those of an operand that is not
// contiguous along k come in whole sectors, which may have elements of the next k as well.
inline double bytes_of_k(const GemmFacts& facts, const Patch& of_block) {
  constexpr double kSector = 32;
  const auto bytes = [](bool along_k, int64_t lines, double element, int64_t ld) {
    const double own = static_cast<double>(lines) * element;
    return along_k ? own
                   : std::min(estimate::rounded_up(own / kSector) * kSector,
                              static_cast<double>(ld) * element);
  };
  const GemmProblem& p = facts.problem;
  return bytes(p.transa, of_block.rows, facts.a_bytes, p.a.ld) +
         bytes(!p.transb, of_block.columns, facts.b_bytes, p.b.ld);
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
  const double load_flops = dots::warp_flops<Group>(kernel.figures) +
                            Group::kLineFlops * dots::lines_of_warp<Group>(p, std::min(lanes, 32));
  const double l2_bytes =
      blocks * facts.k * dots::bytes_of_k(facts, dots::patch_of<Group>(p, of_block));
  config->seconds = kOverlappedLaunchSeconds + kernel.figures.fill_seconds +
                    estimate::cold_seconds(facts, device) +
                    (lanes > 32 ? dots::kWarpsSeconds : 0.0) +
                    warps * (Group::kWarpFlops + k_of_lane * load_flops) * facts.flop_seconds +
                    Group::kL2Time * l2_bytes / device.memory_bandwidth +
                    Group::kNotOverlapped * facts.memory_seconds;
  return nullptr;
}

// As if each result were a tile. A warp's loads of a k touch two lines of memory at least.
template <class Group>
constexpr GemmBound dots_bound(const GemmFigures& figures) {
  constexpr double kResults = 32.0 * Group::kColumns;  // of a warp
  return {.launches = kOverlappedLaunchSeconds + figures.fill_seconds,
          .per_element = 1.0,
          .tile_flops = (dots::warp_flops<Group>(figures) + 2 * Group::kLineFlops) / kResults,
          .lone_share = 1.0 / Group::kMostLanes,
          .moving = Group::kNotOverlapped,
          .not_overlapped = 1.0};
}

namespace cuda {
template <class Group>
Status launch_gemm_dots(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
