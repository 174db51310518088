// Calls with their progress, times and rates, see run_call.h.
#include "run_call.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "progress.h"

namespace mygemm::cli {

std::string rate(const Work& work, double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", work.amount / seconds * 1e-9,
                work.counts_flops ? "GFLOP/s" : "GB/s");
  return text;
}

std::string duration(double seconds) {
  char text[32];
  const bool long_one = seconds >= 1e-3;
  std::snprintf(text, sizeof text, "%.2f %s", seconds * (long_one ? 1e3 : 1e6),
                long_one ? "ms" : "us");
  return text;
}

std::string chosen_kernel(const std::string& explanation) {
  const std::string chosen = line_of(explanation, "chosen: ");
  return chosen.substr(0, chosen.find(' '));
}

void run_call(const Session& session, bool verbose, const Work& work,
              const std::function<mygemmStatus_t()>& call,
              const std::function<mygemmStatus_t(char*, size_t, size_t*)>& explain) {
  using Clock = std::chrono::steady_clock;
  double seconds = 0;
  {
    const Progress progress(work.operation);
    const auto start = Clock::now();
    check(call());
    synchronize(session.memory());
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  if (!verbose) return;
  std::fprintf(stderr, "%s: %s, %s, %s\n", work.operation.c_str(),
               chosen_kernel(explanation(explain)).c_str(), duration(seconds).c_str(),
               rate(work, seconds).c_str());
}

Buffer transposed(const Session& session, size_t element_size, int64_t rows, int64_t cols,
                  const Buffer& in, bool verbose) {
  Buffer out(session.memory(), in.size());
  const int64_t ldin = std::max<int64_t>(1, cols), ldout = std::max<int64_t>(1, rows);
  run_call(
      session, verbose, {"transpose", 2.0 * static_cast<double>(in.size()), false},
      [&] {
        return mygemm_transpose(session.handle(), element_size, rows, cols, in.data(), ldin,
                                out.data(), ldout);
      },
      [&](char* text, size_t capacity, size_t* length) {
        return mygemm_explain_transpose(session.handle(), nullptr, element_size, rows, cols,
                                        in.data(), ldin, 0, out.data(), ldout, 0, 1, text, capacity,
                                        length);
      });
  return out;
}

}  // namespace mygemm::cli
