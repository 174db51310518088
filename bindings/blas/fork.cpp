// Watches for fork(). See fork.h.
#include "fork.h"

#include <pthread.h>

namespace mygemm::blas {

constinit LostInFork cuda_context;

void after_fork_in_child() {
  if (cuda_context.used_.load(std::memory_order_relaxed)) {
    cuda_context.lost_.store(true, std::memory_order_relaxed);
  }
}

namespace {
[[gnu::constructor]] void watch() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }
}  // namespace

}  // namespace mygemm::blas
