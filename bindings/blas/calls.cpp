// The counts of calls and the report. See calls.h.
#include "calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>

#include "settings.h"

namespace mygemm::blas {
namespace {

struct Count {
  const char* name;
  std::atomic<long long> taken{0};
  std::atomic<long long> on_gpu{0};
  std::atomic<long long> refused{0};
};

// In the order of Function.
constinit std::array<Count, static_cast<size_t>(Function::kCount)> counts{{{"sgemm_"},
                                                                           {"cblas_sgemm"},
                                                                           {"somatcopy_"},
                                                                           {"simatcopy_"},
                                                                           {"cblas_somatcopy"},
                                                                           {"cblas_simatcopy"},
                                                                           {"MKL_Somatcopy"},
                                                                           {"MKL_Simatcopy"}}};

// Where nobody will read them, threads need not share the counts.
bool counting() {
  static const bool wanted = report_is_wanted();
  return wanted;
}

Count& count_of(Function function) { return counts[static_cast<size_t>(function)]; }

bool is_used(const Count& count) { return count.taken > 0 || count.refused > 0; }

void print(const Count& count) {
  if (!is_used(count)) return;
  std::fprintf(stderr, "mygemm:   %-18s %lld taken, %lld on the GPU", count.name,
               count.taken.load(), count.on_gpu.load());
  if (count.refused > 0) std::fprintf(stderr, ", %lld refused", count.refused.load());
  std::fputc('\n', stderr);
}

// Processes that call nothing of ours print nothing: a preloaded library is in every child.
[[gnu::destructor]] void report() {
  if (!counting() || std::none_of(counts.begin(), counts.end(), is_used)) return;
  std::fputs("mygemm: calls of this process\n", stderr);
  for (const Count& count : counts) print(count);
}

}  // namespace

void count_taken(Function function, bool on_gpu) {
  if (!counting()) return;
  count_of(function).taken.fetch_add(1, std::memory_order_relaxed);
  if (on_gpu) count_of(function).on_gpu.fetch_add(1, std::memory_order_relaxed);
}

void count_refused(Function function) {
  if (!counting()) return;
  count_of(function).refused.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mygemm::blas
