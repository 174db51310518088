// Counts calls, and prints the counts when the library is unloaded, which is at the process's end.
#include "report.h"

#include "../drop_in/call_report.h"

namespace mygemm::cublas {
namespace {

constinit drop_in::CallCounts<kComputeFunctions, kOutcomeCount> counts;

void print_function(size_t function) {
  long long forwarded = 0;
  for (size_t i = kTaken + 1; i < kOutcomeCount; ++i) forwarded += counts.of(function, i);
  std::fprintf(stderr, "mygemm:   %-30s %lld taken, %lld forwarded\n", kFunctionNames[function],
               counts.of(function, kTaken), forwarded);
  for (size_t i = kTaken + 1; i < kOutcomeCount; ++i) {
    if (const long long calls = counts.of(function, i); calls > 0) {
      std::fprintf(stderr, "mygemm:     %lld forwarded: %s\n", calls, kOutcomeNames[i]);
    }
  }
}

[[gnu::destructor]] void print_report() { counts.report(print_function); }

}  // namespace

void count(Function function, Outcome outcome) { counts.add(function, outcome); }

}  // namespace mygemm::cublas
