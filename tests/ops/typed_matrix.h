// Ops tests: a row-major matrix of any element type in device memory, with what was in it before a
// call.
#pragma once

#include <vector>

#include "support/memory.h"
#include "support/oracle.h"

namespace mygemm_tests {

// A matrix, or a vector as one of one column, in a buffer that ends with its last element and
// begins `offset` elements into its allocation. `type` is that of its first contents: a result in
// place may have another one.
struct TypedMatrix {
  mygemmDataType_t type;
  int64_t rows, cols, ld;
  std::vector<unsigned char> image;  // what the buffer held before the call
  std::vector<double> values;        // dense, exactly those of the image
  DeviceBuffer buffer;

  TypedMatrix(mygemmDataType_t type_in, int64_t rows_in, int64_t cols_in, int64_t ld_in,
              size_t offset)
      : type(type_in),
        rows(rows_in),
        cols(cols_in),
        ld(ld_in),
        image(static_cast<size_t>(((rows - 1) * ld + cols) * type_bytes(type)), kPoison),
        values(static_cast<size_t>(rows * cols)),
        buffer(image.size(), offset * static_cast<size_t>(type_bytes(type))) {}

  unsigned char* at(std::vector<unsigned char>& bytes, int64_t r, int64_t c) const {
    return &bytes[static_cast<size_t>((r * ld + c) * type_bytes(type))];
  }
  void set(int64_t r, int64_t c, double value) {
    encode(type, value, at(image, r, c));
    values[static_cast<size_t>(r * cols + c)] = decode(type, at(image, r, c));
  }
  void upload() { buffer.upload(image.data()); }
  bool unchanged() const {
    std::vector<unsigned char> now(image.size());
    buffer.download(now.data());
    return now == image && buffer.bands_intact();
  }
};

}  // namespace mygemm_tests
