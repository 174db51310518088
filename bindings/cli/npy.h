// NumPy's .npy format, versions 1.0 to 3.0: headers parsed and made. Pure: works on bytes in
// memory, touches no file (npy_file.h does), and any bytes are safe input: a libFuzzer target.
// Reads little-endian booleans, integers, floats and complex numbers; refuses everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mygemm::cli::npy {

using Shape = std::vector<int64_t>;

// An element type as descr has it: 'f' and 4 for "<f4".
struct ElementType {
  char kind;  // b, i, u, f or c
  int bytes;  // 1, 2, 4, 8 or 16

  bool operator==(const ElementType&) const = default;
  std::string descr() const;
};

constexpr ElementType kFloat32{'f', 4};
constexpr ElementType kFloat16{'f', 2};

struct Header {
  ElementType type;
  bool fortran_order;    // the first index is the fastest
  Shape shape;           // empty for a scalar
  int64_t elements;      // the product of shape
  uint64_t data_offset;  // where in the file the data starts; it ends with the file
  uint64_t data_bytes;
};

// The most bytes of a file that parse_header() needs. NumPy's own headers are far shorter.
constexpr size_t kMaxHeaderBytes = 12 + 65535;

// Parses the header of a file of `file_bytes` bytes from its first min(file_bytes,
// kMaxHeaderBytes) bytes. On return data_offset + data_bytes == file_bytes. Throws Error.
Header parse_header(std::span<const std::byte> prefix, uint64_t file_bytes);

// The header, format 1.0, padded so that data follows at a multiple of 64 bytes.
std::string make_header(ElementType type, const Shape& shape, bool fortran_order);

// The product of the shape. Throws Error where the array's bytes do not fit 63 bits, counting
// extents of 0 as 1: the limit that NumPy sets itself.
int64_t element_count(const Shape& shape, ElementType type);
// The bytes of such an array.
size_t byte_count(const Shape& shape, ElementType type);

// The shape as Python writes it: "()", "(3,)", "(2, 3)".
std::string to_string(const Shape& shape);

}  // namespace mygemm::cli::npy
