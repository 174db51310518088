// Watches for fork(). See fork.h.
#include "fork.h"

#include <initializer_list>

#include <omp.h>
#include <pthread.h>

namespace mygemm::blas {

constinit LostInFork cuda_context;

namespace {
constinit LostInFork thread_pool;
}  // namespace

void after_fork_in_child() {
  for (LostInFork* each : {&cuda_context, &thread_pool}) {
    if (each->used_.load(std::memory_order_relaxed)) {
      each->lost_.store(true, std::memory_order_relaxed);
    }
  }
}

namespace {
[[gnu::constructor]] void watch() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }
}  // namespace

UseOfThreads::UseOfThreads() {
  thread_pool.mark_used();
  if (!thread_pool.lost()) return;
  threads_before_ = omp_get_max_threads();
  omp_set_num_threads(1);
}

UseOfThreads::~UseOfThreads() {
  if (threads_before_ > 0) omp_set_num_threads(threads_before_);
}

}  // namespace mygemm::blas
