// Reading and writing .npy files, see npy_file.h.
#include "npy_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "error.h"

namespace mygemm::cli::npy {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

void read_exactly(std::ifstream& file, void* into, uint64_t bytes) {
  file.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
  if (!file) throw Error("cannot be read: ", reason());
}

Array load_unnamed(const std::string& path) {
  // Asked before opening, which waits where the path is a pipe.
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) throw Error("is not a regular file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot be opened: ", reason());
  const uint64_t file_bytes = fs::file_size(path);

  std::vector<std::byte> prefix(std::min<uint64_t>(file_bytes, kMaxHeaderBytes));
  read_exactly(file, prefix.data(), prefix.size());
  Header header = parse_header(prefix, file_bytes);

  Bytes data(header.data_bytes);
  file.seekg(static_cast<std::streamoff>(header.data_offset));
  read_exactly(file, data.data(), header.data_bytes);
  return {path, header.type, header.fortran_order, std::move(header.shape), std::move(data)};
}

void write(const fs::path& path, const Array& array) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw Error(array.path, ": cannot be created: ", reason());
  const std::string header = make_header(array.type, array.shape, array.fortran_order);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(static_cast<const char*>(array.data.data()),
             static_cast<std::streamsize>(array.data.size()));
  file.close();
  if (!file) throw Error(array.path, ": cannot be written: ", reason());
}

}  // namespace

Array load(const std::string& path) {
  try {
    return load_unnamed(path);
  } catch (const Error& error) {
    throw Error(path, ": ", error.what());
  } catch (const std::bad_alloc&) {
    throw Error(path, ": does not fit in memory");
  }
}

void save(const Array& array) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(array.path, ignored);  // the end of a chain of links
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    write(path, array);  // a pipe or a device cannot be replaced by renaming
    return;
  }
  fs::path partial = path;
  partial += concat(".", ::getpid(), ".partial");
  try {
    write(partial, array);
    fs::rename(partial, path);
  } catch (...) {
    fs::remove(partial, ignored);
    throw;
  }
}

}  // namespace mygemm::cli::npy
