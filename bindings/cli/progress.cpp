// A progress bar, see progress.h.
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace mygemm::cli {

Progress::Progress(std::string what, int steps)
    : what_(std::move(what)), steps_(std::max(steps, 1)), terminal_(::isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void Progress::advance() {
  constexpr int kWidth = 40;
  constexpr auto kPatience = std::chrono::milliseconds(500);
  done_ = std::min(done_ + 1, steps_);
  if (!terminal_ || Clock::now() - start_ < kPatience) return;
  const int filled = kWidth * done_ / steps_;
  std::fprintf(stderr, "\r%-12s [%s%s] %3d %%", what_.c_str(), std::string(filled, '#').c_str(),
               std::string(kWidth - filled, '.').c_str(), 100 * done_ / steps_);
  visible_ = true;
}

}  // namespace mygemm::cli
