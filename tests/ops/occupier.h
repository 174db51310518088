// Ops tests for a GPU only: a kernel that holds multiprocessors, so that the kernels under test
// find a few of them free.
#pragma once

#include <cstddef>

namespace mygemm_tests {

int multiprocessors();

// Holds all but `free` multiprocessors of the current device during its lifetime: one block on each
// takes all shared memory, and waits. The constructor returns when all these blocks run. During its
// lifetime no call may wait for the whole device, as cudaFree() does. Throws on a CUDA error.
class Occupier {
 public:
  explicit Occupier(int free);
  ~Occupier();
  Occupier(const Occupier&) = delete;
  Occupier& operator=(const Occupier&) = delete;

  // Ends the blocks, so that other kernels can run on their multiprocessors.
  void release();

 private:
  void launch();

  int blocks_;
  // In host memory that the device reads and writes: a flag that ends the blocks, then one of each
  // block that says that it runs.
  volatile unsigned* flags_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace mygemm_tests
