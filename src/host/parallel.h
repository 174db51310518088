// Loops on several threads of the host backend. What a loop computes never depends on the number of
// threads: callers divide work by size alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "host/host.h"
#include "host/thread_pool.h"

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
  if (threads <= 1 || count <= 1) {
    for (int64_t index = 0; index < count; ++index) body(index, 0);
    return;
  }
  // Indices are taken one by one: items at the edges are smaller, cores may be busy with something
  // else, and threads may come late or not at all.
  struct Loop {
    const Body& body;
    const int64_t count;
    std::atomic<int64_t> next{0};
  } loop{body, count};
  const auto task = [](void* context, int slot) {
    Loop& shared = *static_cast<Loop*>(context);
    for (int64_t index;
         (index = shared.next.fetch_add(1, std::memory_order_relaxed)) < shared.count;) {
      shared.body(index, slot);
    }
  };
  run_on_threads(static_cast<int>(std::min<int64_t>(threads, count)), task, &loop);
}

}  // namespace mygemm::host
