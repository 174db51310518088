// Configuration of the naive transpose (naive.cu).
#include "kernels/transpose/cost.h"
#include "kernels/transpose/kernels.h"

namespace mygemm {

const char* configure_transpose_naive(const TransposeKernel& kernel, const TransposeFacts& facts,
                                      const DeviceTraits& device, const PlanOptions&,
                                      TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  // Throughput of a multiprocessor of an H200, divisions included: 1 x 9503796 of 1 byte in 65 us.
  constexpr double kElementsPerSecond = 1.1e9;
  // A thread that follows a cycle alone waits for memory at every element.
  constexpr double kCycleStep = 10e-9;
  const double size = static_cast<double>(p.element_size), moved = facts.bytes_moved;
  const double elements = moved / size / 2.0;
  config->threads = kTransposeThreads;
  config->blocks = elements >= static_cast<double>(kMostGridBlocks) * kTransposeThreads
                       ? kMostGridBlocks
                       : ceil_div(static_cast<int64_t>(elements), kTransposeThreads);
  // Reads are coalesced; each write is one element of a sector, and its neighbours in a row of the
  // output come later.
  const double rate = device.memory_bandwidth * kernel.figures.efficiency;
  const double spread = std::min(kSectorBytes / size, std::max(1.0, static_cast<double>(p.rows)));
  const double chain = p.in_place() && p.rows != p.cols ? elements * kCycleStep : 0.0;
  const double transfers = std::max(moved * (1.0 + spread) / 2.0 / rate,
                                    elements / (kElementsPerSecond * device.num_sms));
  config->seconds = kLaunchSeconds + kernel.figures.block_seconds + transfers + chain;
  return nullptr;
}

}  // namespace mygemm
