// Files that the command writes. A regular file appears whole or not at all: until the new one is
// complete, one that was there before stays, and so does its mode. Independent of the library.
#pragma once

#include <cstddef>
#include <string>

namespace mygemm::cli {

// Every failure is an Error that names the file. Only one OutputFile exists at a time.
class OutputFile {
 public:
  // Opens the file, or standard output. Pipes and devices are written where they are.
  explicit OutputFile(const std::string& path);
  // Removes what is not finished; so does a signal that ends the process.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, size_t bytes);
  // All is written: the file takes its place.
  void finish();

 private:
  std::string name_;     // for messages
  std::string target_;   // the end of a chain of links
  std::string partial_;  // beside the target; empty where nothing is to be replaced
  int descriptor_ = -1;
};

}  // namespace mygemm::cli
