// Files that the command reads: regular ones, pipes, devices and standard input. Every failure is
// an Error without the file's name, which the caller knows. Independent of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "progress.h"

namespace mygemm::cli {

// How standard input and standard output are named on the command line.
constexpr const char* kStandardStream = "-";

// The name of a file to read in messages.
std::string input_name(const std::string& path);

class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The size of a regular file; -1 where only reading tells it, and where standard input need not
  // be at a file's beginning.
  int64_t size() const;

  // Reads up to `bytes` bytes; fewer only where the file ends. A progress advances by bytes.
  size_t read(std::byte* into, size_t bytes, Progress* progress = nullptr);
  std::vector<std::byte> read_to_the_end(Progress* progress = nullptr);

 private:
  bool standard_;
  int descriptor_;
};

}  // namespace mygemm::cli
