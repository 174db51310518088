// Parts of the estimated times that several softmax kernels share. The constants are H200
// measurements (bench/results/). Pure.
#pragma once

#include <algorithm>

#include "kernels/softmax/config.h"

namespace mygemm {

// Bytes that a call must read and write, and its rows, at least 1.
struct SoftmaxWork {
  double read, written, rows;

  explicit SoftmaxWork(const SoftmaxProblem& p) {
    const double elements = static_cast<double>(p.rows) * static_cast<double>(p.cols);
    const int64_t dy = p.backward ? element_bytes(p.dy.type) : 0;
    read = elements * static_cast<double>(element_bytes(p.in.type) + dy);
    written = elements * static_cast<double>(element_bytes(p.out.type));
    rows = std::max(1.0, static_cast<double>(p.rows));
  }
};

// std::ceil for x >= 0, which is a call of a function where the processor may lack SSE 4.1.
inline double rounded_up(double x) {
  constexpr double kAllIntegers = 4503599627370496.0;  // doubles from here on are integers
  if (!(x < kAllIntegers)) return x;
  const auto truncated = static_cast<double>(static_cast<int64_t>(x));
  return truncated < x ? truncated + 1.0 : truncated;
}

// A grid of which every block loops over rows.
inline int64_t looping_grid(int64_t work) { return std::min(work, kMostGridBlocks); }

// Kernels that hold rows in registers, and for comparison the naive kernel: rounds of as many rows
// as the multiprocessors hold, or the memory bandwidth. The kernels differ by their efficiency
// only, a factor that does not depend on the number of rows: so what fits in registers is computed
// there, however few rows there are, and the bits of a row do not depend on their number.
inline double registers_seconds(const SoftmaxWork& work, double efficiency,
                                const DeviceTraits& device) {
  constexpr double kRowSeconds = 0.9e-6, kRowBandwidth = 60e9, kBytesInFlight = 131072;
  const double read = work.read / work.rows;
  const double at_once = std::clamp(kBytesInFlight / std::max(1.0, read), 1.0, 256.0);
  const double rounds = rounded_up(work.rows / (device.num_sms * at_once));
  const double bytes = work.read + work.written;
  const double row_seconds = kRowSeconds + bytes / work.rows / kRowBandwidth;
  return kLaunchSeconds +
         std::max(bytes / device.memory_bandwidth, rounds * row_seconds) / efficiency;
}

// Blocks of the reread kernel that a multiprocessor holds at once; registers are kept free for two.
constexpr int reread_residency(const SmResources& sm) {
  return residency(sm, kRereadThreads, static_cast<int>(sizeof(RereadStorage)), 2);
}

// Kernels in which a block, alone, reads a row twice.
inline double reread_seconds(const SoftmaxWork& work, double efficiency,
                             const DeviceTraits& device) {
  constexpr double kRowSeconds = 3e-6, kRowBandwidth = 45e9;
  const double at_once = static_cast<double>(reread_residency(device.sm)) * device.num_sms;
  const double bytes = (2 * work.read + work.written) / work.rows;
  const double shared_seconds =
      bytes * std::min(at_once, work.rows) / (device.memory_bandwidth * efficiency);
  return kLaunchSeconds + rounded_up(work.rows / at_once) *
                              std::max(shared_seconds, kRowSeconds + bytes / kRowBandwidth);
}

}  // namespace mygemm
