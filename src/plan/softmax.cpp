// Row softmax: what each row of the table can run, and how long it should take.
//
// Softmax moves bytes, so a cost is the bytes that a kernel moves over the bandwidth that it can
// draw: the device's, times the kernel's measured share, unless there are too few matrix rows to
// ask for that much at once.
#include <algorithm>

#include "kernels/softmax/storage.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

// What one warp with a 16-byte load in flight per lane draws: 512 bytes per loaded latency.
constexpr double kWarpBandwidth = 0.7e9;
constexpr double kHostCallSeconds = 0.3e-6;

double elements(const SoftmaxProblem& p) {
  return static_cast<double>(p.rows) * static_cast<double>(p.cols);
}

double read_bytes(const SoftmaxProblem& p) {
  const int64_t dy = p.backward ? element_bytes(p.dy.type) : 0;
  return elements(p) * static_cast<double>(element_bytes(p.in.type) + dy);
}

double written_bytes(const SoftmaxProblem& p) {
  return elements(p) * static_cast<double>(element_bytes(p.out.type));
}

}  // namespace

const char* unsupported(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
                        const PlanOptions&) {
  if (row.block_n > 0 && p.cols > row.block_n) {
    return "a row has more columns than this kernel's registers hold";
  }
  if ((row.needs & kNeedsRowInShared) &&
      row.shared_bytes + softmax_row_bytes(p) > device.shared_per_block) {
    return "a row has more columns than a block's shared memory holds";
  }
  return nullptr;
}

double cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
            const PlanOptions&) {
  // block_k counts how often the kernel reads its input from memory.
  const double bytes = read_bytes(p) * row.block_k + written_bytes(p);
  if (device.cc == 0) {
    return kHostCallSeconds + bytes / (device.memory_bandwidth * row.efficiency);
  }
  const double warps = static_cast<double>(p.rows) * row.block_m;
  const double drawn = std::min(device.memory_bandwidth * row.efficiency, warps * kWarpBandwidth);
  return kLaunchSeconds + bytes / drawn;
}

size_t workspace_bytes(const SoftmaxRow&, const SoftmaxProblem&, const DeviceTraits&) { return 0; }

const char* force_variable(const SoftmaxProblem&) { return "MYGEMM_FORCE_SOFTMAX"; }

}  // namespace mygemm
