// The progress of a job on standard error, where that is a terminal and the job takes longer than
// half a second: a bar, or the seconds that have passed where nobody knows how many are to come.
// Knows nothing of the library.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace mygemm::cli {

class Progress {
 public:
  // steps = 0: their number is not known.
  explicit Progress(std::string job, int64_t steps = 0);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(int64_t steps = 1) { done_ += steps; }

  // Wipes the line, and keeps it away while the result lives: for output to the same terminal.
  std::unique_lock<std::mutex> hidden();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until_ended();
  void draw();
  void wipe();

  const std::string job_;
  const int64_t steps_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<int64_t> done_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable end_;
  bool ended_ = false;
  bool visible_ = false;
  std::thread drawer_;  // none where standard error is no terminal
};

}  // namespace mygemm::cli
