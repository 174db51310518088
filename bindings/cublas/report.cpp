// Counts calls and their operations, and prints both when the library is unloaded, which is at the
// process's end.
#include "report.h"

#include <pthread.h>

#include "../drop_in/call_report.h"

namespace mygemm::cublas {
namespace {

using Counts = drop_in::CallCounts<kComputeFunctions, kOutcomeCount>;
constinit Counts counts;
constinit drop_in::Devices devices;

std::string lines_of(size_t function) {
  Counts::Count taken, forwarded;
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    (is_taken(static_cast<Outcome>(i)) ? taken : forwarded) += counts.of(function, i);
  }
  std::string text = drop_in::print("mygemm:   %-30s %lld taken, %lld forwarded\n",
                                    kFunctionNames[function], taken.calls, forwarded.calls);
  for (size_t i = kTaken + 1; i < kOutcomeCount; ++i) {
    const Counts::Count some = counts.of(function, i);
    if (some.calls == 0) continue;
    text += drop_in::print("mygemm:     %lld %s, %.3g GFLOP: %s\n", some.calls,
                           is_taken(static_cast<Outcome>(i)) ? "taken" : "forwarded",
                           some.flop * 1e-9, kOutcomeNames[i]);
  }
  return text;
}

// One line from which a user sees whether the preload was worth it.
std::string share() {
  Counts::Count taken, all;
  for (size_t function = 0; function < kComputeFunctions; ++function) {
    for (size_t i = 0; i < kOutcomeCount; ++i) {
      all += counts.of(function, i);
      if (is_taken(static_cast<Outcome>(i))) taken += counts.of(function, i);
    }
  }
  std::string text = drop_in::print("mygemm: %lld of %lld calls taken", taken.calls, all.calls);
  if (all.flop > 0) {
    text += drop_in::print(", with %.1f %% of their %.4g GFLOP", 100 * taken.flop / all.flop,
                           all.flop * 1e-9);
  }
  return text + "\n";
}

[[gnu::constructor]] void watch() {
  pthread_atfork(nullptr, nullptr, [] {
    counts.forget();
    devices.forget();
  });
}

[[gnu::destructor]] void print_report() {
  const std::string text = counts.report(devices, lines_of);
  if (!text.empty()) drop_in::say(text + share());
}

}  // namespace

void count(Function function, Outcome outcome, double flop) { counts.add(function, outcome, flop); }

void note_device(int device) { devices.add(device); }

}  // namespace mygemm::cublas
