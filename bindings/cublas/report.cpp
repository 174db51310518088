// Counts calls, and prints the counts when the library is unloaded, which is at the process's end.
#include "report.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace mygemm::cublas {
namespace {

using Counts = std::array<std::atomic<long long>, kOutcomeCount>;
constinit std::array<Counts, kComputeFunctions> counts{};

bool wanted() {
  const char* value = std::getenv("MYGEMM_REPORT");
  return value && std::strcmp(value, "1") == 0;
}

long long forwarded(const Counts& calls) {
  return std::accumulate(calls.begin() + kTaken + 1, calls.end(), 0LL);
}

bool is_used(const Counts& calls) { return calls[kTaken] + forwarded(calls) > 0; }

void print_function(int function) {
  const Counts& calls = counts[function];
  if (!is_used(calls)) return;
  std::fprintf(stderr, "mygemm:   %-30s %lld taken, %lld forwarded\n", kFunctionNames[function],
               calls[kTaken].load(), forwarded(calls));
  for (int i = kTaken + 1; i < kOutcomeCount; ++i) {
    if (calls[i] == 0) continue;
    std::fprintf(stderr, "mygemm:     %lld forwarded: %s\n", calls[i].load(), kOutcomeNames[i]);
  }
}

// Processes that call nothing of ours print nothing: a preloaded library is in every child.
[[gnu::destructor]] void print_report() {
  if (!wanted() || std::none_of(counts.begin(), counts.end(), is_used)) return;
  std::fprintf(stderr, "mygemm: calls of this process\n");
  for (int function = 0; function < kComputeFunctions; ++function) print_function(function);
}

}  // namespace

void count(Function function, Outcome outcome) {
  counts[function][outcome].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mygemm::cublas
