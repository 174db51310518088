// Threads of the host backend: the only file of it that knows OpenMP. Without OpenMP everything
// here still works, on one thread. What a loop computes never depends on the number of threads:
// callers divide work by size alone.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "host/host.h"

namespace mygemm::host {

// Waking a thread takes 2 to 5 us, as long as moving about 64 KiB or 0.3 MFLOP; a thread is worth
// it for a few times as much.
inline constexpr int64_t kBytesPerThread = 256 * 1024;
inline constexpr int64_t kFlopsPerThread = 2'000'000;

// Threads for `work` when each should get at least `work_per_thread`.
inline int threads_for(double work, int64_t work_per_thread) {
  const double worth = work / static_cast<double>(work_per_thread);
  return worth < 2 ? 1 : static_cast<int>(std::min<double>(worth, num_threads()));
}

// Calls body(index, slot) once for every index in [0, count). Calls that run at the same time have
// different slots in [0, threads), so that a slot can own scratch memory. body must not throw.
template <class Body>
void parallel_for(int64_t count, int threads, const Body& body) {
#ifdef _OPENMP
  // Dynamic: items at the edges are smaller, and cores may be busy with something else.
  if (threads > 1 && count > 1) {
#pragma omp parallel num_threads(threads)
    {
      const int slot = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
      for (int64_t index = 0; index < count; ++index) body(index, slot);
    }
    return;
  }
#endif
  static_cast<void>(threads);
  for (int64_t index = 0; index < count; ++index) body(index, 0);
}

}  // namespace mygemm::host
