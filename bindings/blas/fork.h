// Restrictions after fork(): neither CUDA nor a pool of threads survives it.
#pragma once

#include <atomic>

namespace mygemm::blas {

// A resource that a child must not use when its parent has used it.
class LostInFork {
 public:
  // Stores only once, so that threads that call small products do not contend for the cache line.
  void mark_used() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  // True in a child whose parent had used it.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  friend void after_fork_in_child();
  std::atomic<bool> used_{false};
  std::atomic<bool> lost_{false};
};

extern LostInFork cuda_context;  // used from the first call of the CUDA runtime on

// For the duration of a call that runs OpenMP loops: in a child whose parent had run some they get
// one thread, since GNU's OpenMP waits for ever for those that did not survive.
class UseOfThreads {
 public:
  UseOfThreads();
  ~UseOfThreads();
  UseOfThreads(const UseOfThreads&) = delete;
  UseOfThreads& operator=(const UseOfThreads&) = delete;

 private:
  int threads_before_ = 0;  // 0: not changed
};

}  // namespace mygemm::blas
