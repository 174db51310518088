// The calls of a process that a drop-in library counts, and prints to stderr when the process ends,
// where MYGEMM_REPORT=1 is in the environment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "messages.h"

namespace mygemm::drop_in {

inline bool report_is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("MYGEMM_REPORT");
    if (!value || !*value || std::strcmp(value, "0") == 0) return false;
    const bool one = std::strcmp(value, "1") == 0;
    if (!one) {
      say(print("mygemm: MYGEMM_REPORT = %s is neither 0 nor 1; taken as 0\n", value));
    }
    return one;
  }();
  return wanted;
}

// The devices that calls were taken on.
class Devices {
 public:
  void add(int device) { add_set(bit_of(device)); }
  void add_set(uint64_t devices) {
    if ((set_.load(std::memory_order_relaxed) & devices) == devices) return;
    set_.fetch_or(devices, std::memory_order_relaxed);
  }
  static uint64_t bit_of(int device) {
    return device >= 0 && device < 64 ? uint64_t{1} << device : 0;
  }
  void forget() { set_ = 0; }
  // ", device 1", ", device 0, device 1".
  std::string text() const {
    std::string text;
    for (int device = 0; device < 64; ++device) {
      if (set_ >> device & 1) text += ", device " + std::to_string(device);
    }
    return text;
  }

 private:
  std::atomic<uint64_t> set_{0};
};

// The heading, once for a process: several drop-in libraries share the report, and know of each
// other by the environment. The second one's names its devices where it has any.
inline std::string begin_report(const std::string& devices) {
  constexpr const char* kBegun = "MYGEMM_REPORT_BEGUN";
  const std::string process = std::to_string(getpid());
  const char* begun = std::getenv(kBegun);
  if (devices.empty() && begun && process == begun) return "";
  setenv(kBegun, process.c_str(), 1);
  return "mygemm: calls of " + this_process() + devices + "\n";
}

// Counts by function and by outcome, both numbered from 0.
template <size_t kFunctions, size_t kOutcomes>
class CallCounts {
 public:
  // Calls, and the operations of their products.
  struct Count {
    long long calls = 0;
    double flop = 0;

    Count& operator+=(const Count& other) {
      calls += other.calls;
      flop += other.flop;
      return *this;
    }
  };

  // Without a report, threads do not contend for the counts.
  void add(size_t function, size_t outcome, double flop = 0) {
    if (!report_is_wanted()) return;
    calls_[function][outcome].fetch_add(1, std::memory_order_relaxed);
    if (flop > 0) flop_[function][outcome].fetch_add(flop, std::memory_order_relaxed);
  }
  Count of(size_t function, size_t outcome) const {
    return {calls_[function][outcome], flop_[function][outcome]};
  }

  // In a child of fork(), whose parent reports the calls so far.
  void forget() {
    for (auto& of_function : calls_) {
      for (auto& calls : of_function) calls = 0;
    }
    for (auto& of_function : flop_) {
      for (auto& flop : of_function) flop = 0;
    }
  }

  // A heading and line(function) for each function with a count; "" where there is none. Processes
  // that call none of our functions print nothing: a preloaded library is in every child.
  template <class Line>
  std::string report(const Devices& devices, Line line) const {
    std::string text;
    for (size_t function = 0; function < kFunctions; ++function) {
      if (is_used(function)) text += line(function);
    }
    return text.empty() ? text : begin_report(devices.text()) + text;
  }

 private:
  bool is_used(size_t function) const {
    for (const auto& calls : calls_[function]) {
      if (calls > 0) return true;
    }
    return false;
  }

  template <class Number>
  using Table = std::array<std::array<std::atomic<Number>, kOutcomes>, kFunctions>;
  Table<long long> calls_{};
  Table<double> flop_{};
};

}  // namespace mygemm::drop_in
