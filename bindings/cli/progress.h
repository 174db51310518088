// A progress bar on standard error, where that is a terminal and the job takes longer than half a
// second. Knows nothing of the library.
#pragma once

#include <chrono>
#include <string>

namespace mygemm::cli {

class Progress {
 public:
  Progress(std::string what, int steps);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  int steps_;
  int done_ = 0;
  bool visible_ = false;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mygemm::cli
