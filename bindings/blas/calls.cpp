// The counts of calls and the report. See calls.h.
#include "calls.h"

#include <pthread.h>

#include <array>

#include "../drop_in/call_report.h"
#include "offload.h"

namespace mygemm::blas {
namespace {

constexpr size_t kFunctions = static_cast<size_t>(Function::kCount);

// In the order of Function.
constexpr std::array<const char*, kFunctions> kNames = {
    "sgemm_",          "cblas_sgemm",     "somatcopy_",    "simatcopy_",
    "cblas_somatcopy", "cblas_simatcopy", "MKL_Somatcopy", "MKL_Simatcopy"};

// A call on the GPU counts under both: it was taken, too.
enum Outcome : size_t { kTaken, kOnGpu, kRefused, kOutcomes };

constinit drop_in::CallCounts<kFunctions, kOutcomes> counts;
constinit drop_in::Devices devices;

std::string line(size_t function) {
  std::string text =
      drop_in::print("mygemm:   %-18s %lld taken, %lld on the GPU", kNames[function],
                     counts.of(function, kTaken).calls, counts.of(function, kOnGpu).calls);
  if (const long long refused = counts.of(function, kRefused).calls; refused > 0) {
    text += drop_in::print(", %lld refused", refused);
  }
  return text + "\n";
}

[[gnu::constructor]] void watch() {
  pthread_atfork(nullptr, nullptr, [] {
    counts.forget();
    devices.forget();
  });
}

[[gnu::destructor]] void report() {
  if (const std::string text = counts.report(devices, line); !text.empty()) drop_in::say(text);
}

}  // namespace

void count_taken(Function function, bool on_gpu) {
  counts.add(static_cast<size_t>(function), kTaken);
  if (!on_gpu) return;
  counts.add(static_cast<size_t>(function), kOnGpu);
  devices.add_set(offload_devices());
}

void count_refused(Function function) { counts.add(static_cast<size_t>(function), kRefused); }

}  // namespace mygemm::blas
