// A line of progress, drawn by a thread of its own: the job may be one call that lasts. See
// progress.h.
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

namespace mygemm::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(500);
constexpr auto kBetweenDrawings = std::chrono::milliseconds(200);

}  // namespace

Progress::Progress(std::string job, int64_t steps) : job_(std::move(job)), steps_(steps) {
  if (!::isatty(STDERR_FILENO)) return;
  try {
    drawer_ = std::thread([this] { draw_until_ended(); });
  } catch (const std::system_error&) {  // no thread can be started: the work goes on without it
  }
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  drawer_.join();
  wipe();
}

std::unique_lock<std::mutex> Progress::hidden() {
  std::unique_lock lock(mutex_);
  wipe();
  return lock;
}

void Progress::draw_until_ended() {
  std::unique_lock lock(mutex_);
  auto next = start_ + kPatience;
  while (!end_.wait_until(lock, next, [this] { return ended_; })) {
    draw();
    next = Clock::now() + kBetweenDrawings;
  }
}

void Progress::draw() {
  constexpr int kWidth = 40;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (steps_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(steps_));
    const int filled = static_cast<int>(kWidth * share);
    std::fprintf(stderr, "\r%-12s [%s%s] %3d %%, %.0f s\033[K", job_.c_str(),
                 std::string(static_cast<size_t>(filled), '#').c_str(),
                 std::string(static_cast<size_t>(kWidth - filled), '.').c_str(),
                 static_cast<int>(100 * share), seconds);
  } else {
    std::fprintf(stderr, "\r%-12s %.0f s\033[K", job_.c_str(), seconds);
  }
  visible_ = true;
}

void Progress::wipe() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

}  // namespace mygemm::cli
