// A compute call as the command makes it: to its end, with its progress and, where that is asked
// for, a line about its kernel and its speed on standard error.
#pragma once

#include <functional>
#include <string>

#include "session.h"

namespace mygemm::cli {

struct Work {
  std::string operation;  // "sgemm"
  double amount;          // floating-point operations, or bytes read and written
  bool counts_flops;      // what amount counts
};

// "12.3 GFLOP/s".
std::string rate(const Work& work, double seconds);
// "1.50 ms"
std::string duration(double seconds);

// The name behind "chosen: " in an explanation.
std::string chosen_kernel(const std::string& explanation);

// explain: the mygemm_explain function of the call, as for explanation(); called where
// `verbose` asks for the line. Throws Error where the call is refused.
void run_call(const Session& session, bool verbose, const Work& work,
              const std::function<mygemmStatus_t()>& call,
              const std::function<mygemmStatus_t(char*, size_t, size_t*)>& explain);

// Out of place: the row-major cols x rows transpose of a row-major rows x cols matrix.
Buffer transposed(const Session& session, size_t element_size, int64_t rows, int64_t cols,
                  const Buffer& in, bool verbose = false);

}  // namespace mygemm::cli
