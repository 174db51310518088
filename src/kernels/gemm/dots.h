// The dots kernel, for products of few results or of short sums: configuration, launch. Pure.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm {

// A group of lanes, a power of two, computes a result straight from global memory: its lanes share
// k, and nothing of the operands is kept in shared memory.
struct DotsGroup {
  static constexpr int kUnrolled = 8;  // k of a lane whose loads are in flight at once
  static constexpr int kMostLanes = 1024;
  static constexpr int kThreads = 256;  // of a block, where a group has no more lanes
  static constexpr int kWarpSums = 32;  // in shared memory
};

namespace dots {

// The lanes of a group, as a power of two: as many as load all k at once, as long as the lanes of
// all groups reside at once, a block of 1024 on each multiprocessor.
inline unsigned log2_lanes(double results, int64_t k, int num_sms) {
  const double most = static_cast<double>(num_sms) * DotsGroup::kMostLanes;
  unsigned log2 = 0;
  while (1 << log2 < DotsGroup::kMostLanes && k > DotsGroup::kUnrolled << log2 &&
         results * static_cast<double>(2 << log2) <= most) {
    ++log2;
  }
  return log2;
}

// Fitted to 280 products of 1 to 12 us on an H200; estimates are 13 % off. The addition over the
// warps of a group.
constexpr double kWarpsSeconds = 0.25e-6;
// FFMA peak's operations in the additional time of a warp's loads of a k for each line of memory
// that they touch.
constexpr double kLineFlops = 26;
// Bandwidth of L2 for what the blocks load, over that of device memory.
constexpr double kL2Share = 2.8;
// Fraction of the time of the memory traffic that is not overlapped.
constexpr double kNotOverlapped = 0.23;

// Rows and columns of D that so many neighbouring results lie in.
struct Patch {
  int64_t rows, columns;
};
inline Patch patch_of(const GemmProblem& p, int64_t results) {
  const int64_t rows = std::clamp<int64_t>(p.m, 1, results);
  const double columns = static_cast<double>(p.n) * static_cast<double>(p.batch_count);
  const int64_t wanted = ceil_div(results, rows);
  return {rows, columns < static_cast<double>(wanted) ? static_cast<int64_t>(columns) : wanted};
}

// Lines of memory that a warp's loads of a k touch.
inline double lines_of_warp(const GemmProblem& p, int lanes) {
  const Patch patch = patch_of(p, 32 / lanes);
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

}  // namespace dots

inline const char* configure_dots(const GemmKernel& kernel, const GemmFacts& facts,
                                  const DeviceTraits& device, const PlanOptions&,
                                  GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (facts.area >= 0x1p31) return "2^31 results and more";
  if (p.k >= 0x7fffffff) return "k of 2^31 - 1 and more";
  const unsigned log2_lanes = dots::log2_lanes(facts.area, p.k, device.num_sms);
  const int lanes = 1 << log2_lanes;
  config->threads = std::max(DotsGroup::kThreads, lanes);
  config->resident = 1;
  config->shared_bytes = DotsGroup::kWarpSums * sizeof(float);
  const int results = config->threads / lanes;  // of a block
  config->block_m = results;
  config->block_n = 1;
  config->block_k = DotsGroup::kUnrolled * lanes;
  config->tiles_m = ceil_div(static_cast<int64_t>(facts.area), results);
  config->tiles_n = 1;
  config->blocks = config->tiles_m;
  config->k_per_split = p.k;
  config->may_overlap = true;

  const auto blocks = static_cast<double>(config->blocks);
  const double warps = estimate::rounded_up(blocks / device.num_sms) * (config->threads / 32.0);
  const double k_of_lane = estimate::rounded_up(facts.k / config->block_k) * DotsGroup::kUnrolled;
  constexpr double kFlops = 2.0 * 32;  // of a warp's k
  const double load_flops = kFlops / kernel.figures.efficiency +
                            dots::kLineFlops * dots::lines_of_warp(p, std::min(lanes, 32));
  const double l2_bytes = blocks * facts.k * dots::bytes_of_k(facts, dots::patch_of(p, results));
  config->seconds = kOverlappedLaunchSeconds + kernel.figures.fill_seconds +
                    estimate::cold_seconds(facts, device) +
                    (lanes > 32 ? dots::kWarpsSeconds : 0.0) +
                    warps * k_of_lane * load_flops * facts.flop_seconds +
                    l2_bytes / (device.memory_bandwidth * dots::kL2Share) +
                    dots::kNotOverlapped * facts.memory_seconds;
  return nullptr;
}

constexpr GemmBound dots_bound(const GemmFigures& figures) {
  return {.launches = kOverlappedLaunchSeconds + figures.fill_seconds,
          .moving = dots::kNotOverlapped};
}

namespace cuda {
Status launch_gemm_dots(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
