// Reading and writing .npy files, see npy_file.h.
#include "npy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "error.h"
#include "output_file.h"
#include "progress.h"

namespace mygemm::cli::npy {
namespace {

constexpr size_t kMostAtOnce = size_t{8} << 20;

std::string reason() { return std::strerror(errno); }

// A file to read from, or standard input.
class Input {
 public:
  explicit Input(const std::string& path)
      : descriptor_(path == kStandardStream ? ::dup(STDIN_FILENO)
                                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error("cannot be opened: ", reason());
  }
  ~Input() { ::close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // The size of a regular file; -1 where only reading tells it, and where standard input need not
  // be at a file's beginning.
  int64_t size(const std::string& path) const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) throw Error("cannot be read: ", reason());
    return S_ISREG(status.st_mode) && path != kStandardStream ? int64_t{status.st_size} : -1;
  }

  // Reads up to `bytes` bytes; fewer only where the file ends.
  size_t read(std::byte* into, size_t bytes, Progress* progress) {
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::read(descriptor_, into + done, std::min(bytes - done, kMostAtOnce));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error("cannot be read: ", reason());
      if (got == 0) break;
      done += static_cast<size_t>(got);
      progress->advance(got);
    }
    return done;
  }

 private:
  int descriptor_;
};

std::vector<std::byte> read_to_the_end(Input* input) {
  Progress progress("reading");
  std::vector<std::byte> content;
  size_t size = 0, got = 0;
  do {
    content.resize(std::max(2 * size, kMostAtOnce));
    got = input->read(content.data() + size, content.size() - size, &progress);
    size += got;
  } while (size == content.size());
  content.resize(size);
  return content;
}

Array parsed(const std::string& path, std::span<const std::byte> content) {
  Header header =
      parse_header(content.first(std::min(content.size(), kMaxHeaderBytes)), content.size());
  Bytes data(header.data_bytes);
  std::memcpy(data.data(), content.data() + header.data_offset, header.data_bytes);
  return {path, header.type, header.fortran_order, std::move(header.shape), std::move(data)};
}

Array load_unnamed(const std::string& path) {
  Input input(path);
  const int64_t size = input.size(path);
  if (size < 0) return parsed(path, read_to_the_end(&input));

  Progress progress("reading", size);
  const auto file_bytes = static_cast<uint64_t>(size);
  std::vector<std::byte> start(std::min<uint64_t>(file_bytes, kMaxHeaderBytes));
  const auto read_exactly = [&](std::byte* into, size_t bytes) {
    if (input.read(into, bytes, &progress) < bytes) throw Error("became shorter while it was read");
  };
  read_exactly(start.data(), start.size());
  Header header = parse_header(start, file_bytes);

  // Data that came with the header is the first of the array.
  Bytes data(header.data_bytes);
  const auto into = data.as<std::byte>();
  const size_t begun = start.size() - header.data_offset;
  std::copy(start.end() - static_cast<std::ptrdiff_t>(begun), start.end(), into.begin());
  read_exactly(into.data() + begun, into.size() - begun);
  return {path, header.type, header.fortran_order, std::move(header.shape), std::move(data)};
}

}  // namespace

Array load(const std::string& path) {
  const std::string name = path == kStandardStream ? "standard input" : path;
  try {
    Array array = load_unnamed(path);
    array.path = name;
    return array;
  } catch (const Error& error) {
    throw Error(name, ": ", error.what());
  } catch (const std::bad_alloc&) {
    throw Error(name, ": does not fit in memory");
  }
}

void save(const Array& array) {
  OutputFile file(array.path);
  const std::string header = make_header(array.type, array.shape, array.fortran_order);
  file.write(header.data(), header.size());
  file.write(array.data.data(), array.data.size());
  file.finish();
}

}  // namespace mygemm::cli::npy
