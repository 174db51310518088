// The calls of a process that a drop-in library counts, and prints to stderr when the process ends,
// where MYGEMM_REPORT=1 is in the environment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mygemm::drop_in {

inline bool report_is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("MYGEMM_REPORT");
    return value && std::strcmp(value, "1") == 0;
  }();
  return wanted;
}

// Counts by function and by outcome, both numbered from 0.
template <size_t kFunctions, size_t kOutcomes>
class CallCounts {
 public:
  // Without a report, threads do not contend for the counts.
  void add(size_t function, size_t outcome) {
    if (report_is_wanted()) counts_[function][outcome].fetch_add(1, std::memory_order_relaxed);
  }
  long long of(size_t function, size_t outcome) const { return counts_[function][outcome]; }

  // Calls print(function) for each function with a count, after a heading. Processes that call none
  // of our functions print nothing: a preloaded library is in every child.
  template <class Print>
  void report(Print print) const {
    bool begun = false;
    for (size_t function = 0; function < kFunctions; ++function) {
      if (!is_used(function)) continue;
      if (!begun) std::fputs("mygemm: calls of this process\n", stderr);
      begun = true;
      print(function);
    }
  }

 private:
  bool is_used(size_t function) const {
    for (const auto& count : counts_[function]) {
      if (count > 0) return true;
    }
    return false;
  }

  std::array<std::array<std::atomic<long long>, kOutcomes>, kFunctions> counts_{};
};

}  // namespace mygemm::drop_in
