// Counts calls and their operations, and prints both when the library is unloaded, which is at the
// process's end.
#include "report.h"

#include "../drop_in/call_report.h"

namespace mygemm::cublas {
namespace {

using Counts = drop_in::CallCounts<kComputeFunctions, kOutcomeCount>;
constinit Counts counts;

void print_function(size_t function) {
  Counts::Count forwarded;
  for (size_t i = kTaken + 1; i < kOutcomeCount; ++i) forwarded += counts.of(function, i);
  const Counts::Count taken = counts.of(function, kTaken);
  std::fprintf(stderr, "mygemm:   %-30s %lld taken, %lld forwarded\n", kFunctionNames[function],
               taken.calls, forwarded.calls);
  for (size_t i = kTaken + 1; i < kOutcomeCount; ++i) {
    const Counts::Count some = counts.of(function, i);
    if (some.calls == 0) continue;
    std::fprintf(stderr, "mygemm:     %lld forwarded, %.3g GFLOP: %s\n", some.calls,
                 some.flop * 1e-9, kOutcomeNames[i]);
  }
}

// One line from which a user sees whether the preload was worth it.
void print_share() {
  Counts::Count taken, all;
  for (size_t function = 0; function < kComputeFunctions; ++function) {
    taken += counts.of(function, kTaken);
    for (size_t i = 0; i < kOutcomeCount; ++i) all += counts.of(function, i);
  }
  std::fprintf(stderr, "mygemm: %lld of %lld calls taken", taken.calls, all.calls);
  if (all.flop > 0) {
    std::fprintf(stderr, ", with %.1f %% of their %.4g GFLOP", 100 * taken.flop / all.flop,
                 all.flop * 1e-9);
  }
  std::fputs("\n", stderr);
}

[[gnu::destructor]] void print_report() {
  if (counts.report(print_function)) print_share();
}

}  // namespace

void count(Function function, Outcome outcome, double flop) { counts.add(function, outcome, flop); }

}  // namespace mygemm::cublas
