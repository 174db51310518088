// Row softmax: what each row of the table can run, and how long it should take.
//
// A row's bits must not depend on how many rows a call has. So what a warp's or a block's registers
// hold is worked on there, however few rows there are: the costs of these kernels differ by a
// factor that does not know of rows. The kernels for wider rows add up in the same order (wide.h),
// and the fastest one is taken. The constants are H200 measurements (bench/results/).
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/softmax/cluster.h"
#include "kernels/softmax/lanes.h"
#include "kernels/softmax/split.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

constexpr double kHostCallSeconds = 0.3e-6;
constexpr double kMostBlocks = 2147483647.0;  // of a grid

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

double rows_of(const SoftmaxProblem& p) { return std::max(1.0, static_cast<double>(p.rows)); }

// In registers, and for comparison the naive kernel: rows in rounds of what multiprocessors hold,
// or at the bandwidth of the memory. All but the kernel's efficiency is the same for all of them.
double registers_cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device) {
  constexpr double kRowSeconds = 0.9e-6, kRowBandwidth = 60e9, kBytesInFlight = 131072;
  const double read = read_bytes(p) / rows_of(p);
  const double at_once = std::clamp(kBytesInFlight / std::max(1.0, read), 1.0, 256.0);
  const double rounds = std::ceil(rows_of(p) / (device.num_sms * at_once));
  const double bytes = read_bytes(p) + written_bytes(p);
  const double row_seconds = kRowSeconds + bytes / rows_of(p) / kRowBandwidth;
  return kLaunchSeconds +
         std::max(bytes / device.memory_bandwidth, rounds * row_seconds) / row.efficiency;
}

// The first row has to be read before anything can be written.
double cluster_cost(const SoftmaxProblem& p, const DeviceTraits& device) {
  constexpr double kFirstSeconds = 3.5e-6;
  const ClusterRing ring = cluster_ring(p, wide_rows(p), device);
  const double counter =
      cluster_workspace_bytes(p, clusters_of(p, ring, device)) > 0 ? kLaunchSeconds : 0.0;
  return kLaunchSeconds + counter + kFirstSeconds + cluster_seconds(p, ring, device);
}

// Two grids, of which the second one finds in the cache what half of it can hold.
double split_cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device) {
  constexpr double kGridSeconds = 2e-6, kCacheRate = 2.5;
  const double rate = device.memory_bandwidth * row.efficiency;
  const bool cached = read_bytes(p) <= static_cast<double>(device.l2_bytes) / 2;
  return 2 * (kLaunchSeconds + kGridSeconds) + (read_bytes(p) + written_bytes(p)) / rate +
         read_bytes(p) / (cached ? rate * kCacheRate : rate);
}

double reread_cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device) {
  constexpr double kRowSeconds = 3e-6, kRowBandwidth = 45e9, kRowsOfSm = 2;
  const double at_once = kRowsOfSm * device.num_sms;
  const double bytes = (2 * read_bytes(p) + written_bytes(p)) / rows_of(p);
  const double shared_seconds =
      bytes * std::min(at_once, rows_of(p)) / (device.memory_bandwidth * row.efficiency);
  return kLaunchSeconds + std::ceil(rows_of(p) / at_once) *
                              std::max(shared_seconds, kRowSeconds + bytes / kRowBandwidth);
}

const char* no_cluster(const SoftmaxProblem& p, const DeviceTraits& device) {
  if (!bulk_copies_fit(p)) return "the rows of the matrices do not lie alike";
  if (cluster_ring(p, wide_rows(p), device).slots == 0) {
    return "a row has more columns than a cluster that can run here holds";
  }
  return nullptr;
}

}  // namespace

const char* unsupported(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
                        const PlanOptions& options) {
  if ((row.needs & kNeedsWarpRow) && !fits_warp(p)) {
    return "a row has more columns than a warp's registers hold";
  }
  if ((row.needs & kNeedsBlockRow) && !fits_block(p)) {
    return "a row has more columns than a block's registers hold";
  }
  if ((row.needs & kNeedsWideRow) && fits_block(p)) {
    return "a block's registers hold a row, and its bits must not depend on how many there are";
  }
  if (row.needs & kNeedsClusters) return no_cluster(p, device);
  if (row.needs & kNeedsWorkspace) {
    if (workspace_bytes(row, p, device) > options.workspace_bytes) {
      return "the workspace is too small";
    }
    const SplitRows split = split_rows(p, wide_rows(p), device);
    if (rows_of(p) * static_cast<double>(split.blocks_of_row) > kMostBlocks) {
      return "more blocks than a grid can have";
    }
  }
  return nullptr;
}

double cost(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device,
            const PlanOptions&) {
  if (device.cc == 0) {
    const double bytes = read_bytes(p) * row.reads + written_bytes(p);
    return kHostCallSeconds + bytes / (device.memory_bandwidth * row.efficiency);
  }
  if (row.needs & kNeedsClusters) return cluster_cost(p, device);
  if (row.needs & kNeedsWorkspace) return split_cost(row, p, device);
  if (row.needs & kNeedsWideRow) return reread_cost(row, p, device);
  // Never the choice: wide rows are added up in another order. A warp for each row is slower
  // anyway.
  if (!fits_block(p) && !fits_warp(p)) return 3 * reread_cost(row, p, device);
  return registers_cost(row, p, device);
}

size_t workspace_bytes(const SoftmaxRow& row, const SoftmaxProblem& p, const DeviceTraits& device) {
  if (row.needs & kNeedsClusters) {
    const ClusterRing ring = cluster_ring(p, wide_rows(p), device);
    return static_cast<size_t>(cluster_workspace_bytes(p, clusters_of(p, ring, device)));
  }
  if (!(row.needs & kNeedsWorkspace)) return 0;
  const int64_t bytes_of_row = 8 * int64_t{wide_rows(p).runs};
  if (p.rows > std::numeric_limits<int64_t>::max() / bytes_of_row) return SIZE_MAX;
  return static_cast<size_t>(p.rows * bytes_of_row);
}

const char* force_variable(const SoftmaxProblem&) { return "MYGEMM_FORCE_SOFTMAX"; }

}  // namespace mygemm
