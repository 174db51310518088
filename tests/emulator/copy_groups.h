// Emulator of the CUDA runtime: the asynchronous copies of one thread (cp.async), see execution.h.
#pragma once

#include <cstddef>
#include <vector>

namespace emulator {

class CopyGroups {
 public:
  // A thread begins; the last one that was here has waited for all its copies.
  void begin() { committed_ = 0; }
  void start(void* to, const void* from, size_t bytes);
  void commit() { ++committed_; }
  void wait(int pending_groups) {
    if (!pending_.empty()) finish(pending_groups);
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    size_t bytes;
    int group;
  };
  void finish(int pending_groups);
  static void perform(const Copy& copy);

  std::vector<Copy> pending_;  // not yet made, oldest first
  int committed_ = 0;
};

}  // namespace emulator
