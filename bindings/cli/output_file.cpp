// Files written beside their place and moved there, see output_file.h.
#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "error.h"
#include "input_file.h"
#include "progress.h"

namespace mygemm::cli {
namespace {

namespace fs = std::filesystem;

// Signals that end a process on its user's wish.
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};

// The file that the handler removes; empty while there is none.
char partial_path[PATH_MAX] = "";
struct sigaction former_actions[std::size(kSignals)];

// Calls nothing but what is safe in a handler. The action is the default one again by now, and the
// signal is delivered when the handler returns: the process dies by it.
void remove_partial(int signal) {
  ::unlink(partial_path);
  ::raise(signal);
}

void remove_at_signals(const std::string& path) {
  if (path.size() >= sizeof partial_path) return;  // no file can have the name
  std::memcpy(partial_path, path.c_str(), path.size() + 1);
  struct sigaction action = {};
  action.sa_handler = remove_partial;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], nullptr, &former_actions[i]);
    const bool ignored = former_actions[i].sa_handler == SIG_IGN;  // as nohup does
    if (!ignored) ::sigaction(kSignals[i], &action, nullptr);
  }
}

void leave_at_signals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &former_actions[i], nullptr);
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : name_(path) {
  if (path == kStandardStream || path == "/dev/stdout") {
    name_ = "standard output";
    descriptor_ = ::dup(STDOUT_FILENO);
    if (descriptor_ < 0) throw Error(name_, ": cannot be written: ", std::strerror(errno));
    return;
  }
  struct stat existing;
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  const bool replace = !exists || S_ISREG(existing.st_mode);
  if (replace) {
    std::error_code ignored;
    target_ = fs::weakly_canonical(path, ignored).string();
    partial_ = concat(target_, ".", ::getpid(), ".partial");
    remove_at_signals(partial_);
  }
  const std::string& opened = replace ? partial_ : path;
  descriptor_ = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int reason = errno;
    if (replace) leave_at_signals();
    throw Error(name_, ": cannot be created: ", std::strerror(reason));
  }
  if (replace && exists) ::fchmod(descriptor_, existing.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (partial_.empty()) return;
  ::unlink(partial_.c_str());
  leave_at_signals();
}

void OutputFile::write(const void* data, size_t bytes) {
  constexpr size_t kMostAtOnce = size_t{8} << 20;
  Progress progress("writing", static_cast<int64_t>(bytes));
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, std::min(bytes, kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(name_, ": cannot be written: ", std::strerror(errno));
    next += written;
    bytes -= static_cast<size_t>(written);
    progress.advance(written);
  }
}

void OutputFile::finish() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) throw Error(name_, ": cannot be written: ", std::strerror(errno));
  if (partial_.empty()) return;
  if (std::rename(partial_.c_str(), target_.c_str()) != 0) {
    throw Error(name_, ": cannot be replaced: ", std::strerror(errno));
  }
}

}  // namespace mygemm::cli
