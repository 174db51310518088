// Counts the calls of a process. With MYGEMM_REPORT=1 in the environment they are printed to stderr
// when it exits.
#pragma once

namespace mygemm::blas {

enum class Function {
  kSgemm,
  kCblasSgemm,
  kSomatcopy,
  kSimatcopy,
  kCblasSomatcopy,
  kCblasSimatcopy,
  kMklSomatcopy,
  kMklSimatcopy,
  kCount
};

// A legal call. Calls that the host backend's CBLAS makes of this library are not counted.
void count_taken(Function function, bool on_gpu);
// A call that was reported to XERBLA; not counted as taken.
void count_refused(Function function);

}  // namespace mygemm::blas
