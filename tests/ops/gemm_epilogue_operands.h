// Ops tests: the operands of a general product, as the host and the device hold them, and the calls
// that take them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_epilogue_case.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {

// Matrices of a batch in one buffer, with an odd number of elements more from one to the next.
struct Matrices {
  int64_t rows, cols, ld, batch, stride;
  int64_t given_ld;  // in calls
  std::vector<float> image;
  DeviceBuffer buffer;

  Matrices(int64_t rows_in, int64_t cols_in, int64_t padding, const EpilogueCase& c)
      : rows(rows_in),
        cols(cols_in),
        ld(std::max<int64_t>(1, rows + padding)),
        batch(c.batch),
        stride(ld * cols + 3),
        given_ld(cols <= 1 && c.vector_ld > 0 ? c.vector_ld : ld) {
    const int64_t last = cols == 0 ? 0 : (cols - 1) * ld + rows;
    image.resize(static_cast<size_t>((batch - 1) * stride + last));
    if (!image.empty()) std::memset(image.data(), kPoison, image.size() * sizeof(float));
    buffer = DeviceBuffer(image.size() * sizeof(float), c.offset);
  }

  float& at(int64_t matrix, int64_t i, int64_t j) { return image[place(matrix, i, j)]; }
  template <class F>
  void each(F visit) {
    for (int64_t matrix = 0; matrix < batch; ++matrix) {
      for (int64_t j = 0; j < cols; ++j) {
        for (int64_t i = 0; i < rows; ++i) visit(matrix, i, j);
      }
    }
  }
  void fill(Random& random) {
    each([&](int64_t matrix, int64_t i, int64_t j) {
      at(matrix, i, j) = static_cast<float>(random.real(-1, 1));
    });
    buffer.upload(image.data());
  }
  size_t place(int64_t matrix, int64_t i, int64_t j) const {
    return static_cast<size_t>(matrix * stride + i + j * ld);
  }
  // Distance of matrices, and the first one's number, where they lie forward, backward or are one.
  int64_t stepped(int step) const { return step * stride; }
  int64_t first(int step) const { return step < 0 ? (batch - 1) * stride : 0; }
  // The number of a call's matrix in this buffer.
  int64_t number(int64_t matrix, int step) const {
    return step == 0 ? 0 : step > 0 ? matrix : batch - 1 - matrix;
  }
  DeviceBuffer pointers() const {
    std::vector<float*> list;
    for (int64_t i = 0; i < batch; ++i) list.push_back(buffer.as<float>() + i * stride);
    return DeviceBuffer(list.data(), list.size() * sizeof(float*), 0);
  }
  std::vector<float> now() const {
    std::vector<float> contents(image.size());
    buffer.download(contents.data());
    return contents;
  }
  void expect_unchanged(const char* name) const {
    const std::vector<float> contents = now();
    EXPECT_TRUE(image.empty() ||
                std::memcmp(contents.data(), image.data(), image.size() * sizeof(float)) == 0)
        << name << " was written";
    EXPECT_TRUE(buffer.bands_intact()) << "written outside " << name;
  }
};

// The operands of a call. C has D's layout where it is D. aux has floats, or words of bits; sums
// are a column for each product.
struct Operands {
  const EpilogueCase& gemm;
  Matrices a, b, c, d, bias, aux, sums;
  DeviceBuffer scalars, a_list, b_list, c_list, d_list;

  explicit Operands(const EpilogueCase& g);

  const float* alpha() const { return host() ? &gemm.alpha : scalars.as<float>(); }
  const float* beta() const { return host() ? &gemm.beta : scalars.as<float>() + 1; }
  bool host() const { return gemm.pointer_mode == MYGEMM_POINTER_MODE_HOST; }

  // Sets D before the call: C's values where C is D, else poison. Results of earlier calls go.
  void prepare_d(bool with_c);
  mygemmGemm_t descriptor() const;
  // The plain product in the same form, C in D.
  mygemmStatus_t plain(mygemmHandle_t handle) const;

  // The byte of column j of aux that has the bit of row i, on the host.
  uint8_t* aux_byte(std::vector<float>* from, int64_t matrix, int64_t i, int64_t j) const {
    return reinterpret_cast<uint8_t*>(&(*from)[aux.place(matrix, 0, j)]) + i / 8;
  }
  bool aux_bit(std::vector<float>* from, int64_t matrix, int64_t i, int64_t j) const {
    return (*aux_byte(from, matrix, i, j) >> i % 8 & 1) != 0;
  }

 private:
  void fill_special();
  void fill_aux();
};

}  // namespace mygemm_tests
