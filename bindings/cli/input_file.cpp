// Reading files and streams, see input_file.h.
#include "input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "error.h"

namespace mygemm::cli {
namespace {

constexpr size_t kMostAtOnce = size_t{8} << 20;

[[noreturn]] void fail(const char* what) { throw Error(what, std::strerror(errno)); }

}  // namespace

std::string input_name(const std::string& path) {
  return path == kStandardStream ? "standard input" : path;
}

InputFile::InputFile(const std::string& path)
    : standard_(path == kStandardStream),
      descriptor_(standard_ ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("cannot be opened: ");
}

InputFile::~InputFile() { ::close(descriptor_); }

int64_t InputFile::size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail("cannot be read: ");
  return S_ISREG(status.st_mode) && !standard_ ? int64_t{status.st_size} : -1;
}

size_t InputFile::read(std::byte* into, size_t bytes, Progress* progress) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, into + done, std::min(bytes - done, kMostAtOnce));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: ");
    if (got == 0) break;
    done += static_cast<size_t>(got);
    if (progress) progress->advance(got);
  }
  return done;
}

std::vector<std::byte> InputFile::read_to_the_end(Progress* progress) {
  std::vector<std::byte> content;
  size_t size = 0;
  do {
    content.resize(std::max(2 * size, kMostAtOnce));
    size += read(content.data() + size, content.size() - size, progress);
  } while (size == content.size());
  content.resize(size);
  return content;
}

}  // namespace mygemm::cli
