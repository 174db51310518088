// Facts of a softmax on a device, worked out once for the configurations of all its kernels. The
// constants are H200 measurements (bench/results/). Pure.
#pragma once

#include <algorithm>

#include "device_traits.h"
#include "kernels/softmax/registers.h"
#include "kernels/softmax/wide.h"

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

// Kernels that hold rows in registers, and for comparison the naive kernel: rounds of as many rows
// as the multiprocessors hold, or the memory bandwidth, at an efficiency of 1.
inline double rounds_seconds(const SoftmaxWork& work, const DeviceTraits& device) {
  constexpr double kRowSeconds = 0.9e-6, kRowBandwidth = 60e9, kBytesInFlight = 131072;
  const double read = work.read / work.rows;
  const double at_once = std::clamp(kBytesInFlight / std::max(1.0, read), 1.0, 256.0);
  const double rounds = rounded_up(work.rows / (device.num_sms * at_once));
  const double bytes = work.read + work.written;
  const double row_seconds = kRowSeconds + bytes / work.rows / kRowBandwidth;
  return std::max(bytes / device.memory_bandwidth, rounds * row_seconds);
}

struct SoftmaxFacts {
  SoftmaxFacts(const SoftmaxProblem& p, const DeviceTraits& device)
      : problem(p),
        shape(row_shape(p)),
        lanes(softmax_lanes(p, shape)),
        fits_warp(mygemm::fits_warp(lanes, shape)),
        fits_block(mygemm::fits_block(p, shape)),
        work(p) {
    if (fits_warp || fits_block) rounds_seconds = mygemm::rounds_seconds(work, device);
    if (!fits_block) rows = wide_rows(p, shape);
  }

  const SoftmaxProblem& problem;
  RowShape shape;
  SoftmaxLanes lanes;
  bool fits_warp, fits_block;  // the registers of either hold a row
  SoftmaxWork work;
  double rounds_seconds;  // where a row fits in registers; see there
  WideRows rows;          // where it does not fit in a block's
};

}  // namespace mygemm
