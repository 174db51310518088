// Row softmax: what each row of the table can run, and how long it should take.
//
// The cost is the largest of three times: the bytes over the share of the copy bandwidth that the
// kernel draws; the elements over the rate of its arithmetic (conversions, two exponentials);
// and, where there are few matrix rows or short ones, the rounds in which the rows are worked on
// times what one row takes. The constants are H200 measurements (bench/results/).
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/softmax/storage.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

// What a warp and a block draw where nothing else runs on their multiprocessor, bytes/s.
constexpr double kWarpBandwidth = 2.8e9, kBlockBandwidth = 40e9;
// A row that is read again comes from L1 where the rows in work on an SM fit it.
constexpr double kRereadFromL1 = 4096.0;
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

// Matrix rows that a multiprocessor works on at once, and the warps that work on each.
struct Occupancy {
  double rows_per_sm, warps_per_row;
};

Occupancy occupancy_of(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device) {
  if (row.needs & kNeedsRowInShared) {
    const int64_t shared = row.shared_bytes + softmax_row_bytes(p);
    const int threads = softmax_block_threads(p, shared, device);
    const int64_t fit = std::min<int64_t>(device.shared_per_sm / (shared + kSharedPerBlock),
                                          row.blocks_per_sm * 128 / threads);
    return {static_cast<double>(std::max<int64_t>(1, fit)), threads / 32.0};
  }
  const int warps = row.threads / 32;
  // Short rows take part of a warp: one lane per pack of four columns.
  const uint64_t lanes =
      std::clamp<uint64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(p.cols, 4))), 4, 32);
  const double share = row.most_cols > 0 ? 32.0 / static_cast<double>(lanes) : 1.0;
  return {row.blocks_per_sm * warps / static_cast<double>(row.warps_per_row) * share,
          static_cast<double>(row.warps_per_row)};
}

}  // namespace

const char* unsupported(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
                        const PlanOptions&) {
  if (row.most_cols > 0 && p.cols > row.most_cols) {
    return "a row has more columns than this kernel's registers hold";
  }
  if ((row.needs & kNeedsRowInShared) &&
      softmax_row_bytes(p) > device.shared_per_block - row.shared_bytes) {
    return "a row has more columns than a block's shared memory holds";
  }
  return nullptr;
}

double cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
            const PlanOptions&) {
  if (device.cc == 0) {
    const double bytes = read_bytes(p) * row.reads + written_bytes(p);
    return kHostCallSeconds + bytes / (device.memory_bandwidth * row.efficiency);
  }
  const double rows = std::max<double>(1.0, static_cast<double>(p.rows));
  const double row_read = read_bytes(p) / rows;
  const double again = row_read <= kRereadFromL1 ? 1.0 : row.reads;
  const double row_bytes = row_read * row.reads + written_bytes(p) / rows;
  const Occupancy occupancy = occupancy_of(row, p, device);
  const double rounds = std::ceil(rows / (device.num_sms * occupancy.rows_per_sm));
  const double row_seconds =
      row.step_seconds +
      row_bytes / std::min(occupancy.warps_per_row * kWarpBandwidth, kBlockBandwidth);
  const double bytes = read_bytes(p) * again + written_bytes(p);
  return kLaunchSeconds +
         std::max({bytes / (device.memory_bandwidth * row.efficiency),
                   elements(p) * row.element_flops / device.fp32_flops, rounds * row_seconds});
}

size_t workspace_bytes(const SoftmaxRow&, const SoftmaxProblem&, const DeviceTraits&) { return 0; }

const char* force_variable(const SoftmaxProblem&) { return "MYGEMM_FORCE_SOFTMAX"; }

}  // namespace mygemm
