// Restrictions after fork(): CUDA does not survive it.
#pragma once

#include <atomic>

namespace mygemm::blas {

// A resource that a child must not use when its parent has used it.
class LostInFork {
 public:
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

}  // namespace mygemm::blas
