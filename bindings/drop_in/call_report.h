// The calls of a process that a drop-in library counts, and prints to stderr when the process ends,
// where MYGEMM_REPORT=1 is in the environment.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace mygemm::drop_in {

inline bool report_is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("MYGEMM_REPORT");
    if (!value || !*value || std::strcmp(value, "0") == 0) return false;
    const bool one = std::strcmp(value, "1") == 0;
    if (!one) {
      std::fprintf(stderr, "mygemm: MYGEMM_REPORT = %s is neither 0 nor 1; taken as 0\n", value);
    }
    return one;
  }();
  return wanted;
}

// The heading, once for a process: several drop-in libraries share the report, and know of each
// other by the environment.
inline void begin_report() {
  constexpr const char* kBegun = "MYGEMM_REPORT_BEGUN";
  const std::string process = std::to_string(getpid());
  const char* begun = std::getenv(kBegun);
  if (begun && process == begun) return;
  setenv(kBegun, process.c_str(), 1);
  std::fputs("mygemm: calls of this process\n", stderr);
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

  // Calls print(function) for each function with a count, after a heading. Processes that call none
  // of our functions print nothing: a preloaded library is in every child.
  // Returns whether there was one.
  template <class Print>
  bool report(Print print) const {
    bool begun = false;
    for (size_t function = 0; function < kFunctions; ++function) {
      if (!is_used(function)) continue;
      if (!begun) begin_report();
      begun = true;
      print(function);
    }
    return begun;
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
