// Arrays in .npy files: the file side of npy.h. Every failure is an Error that names the file.
// Independent of the library.
#pragma once

#include <string>

#include "bytes.h"
#include "npy.h"

namespace mygemm::cli::npy {

// An array in host memory, in the order in which its file had it.
struct Array {
  std::string path;  // for messages
  ElementType type;
  bool fortran_order;
  Shape shape;
  Bytes data;
};

// Reads a file, a pipe, a device, or standard input where the path is "-".
Array load(const std::string& path);

// Writes the array to array.path as an OutputFile.
void save(const Array& array);

}  // namespace mygemm::cli::npy
