// Ops tests: the operands of a product with matrices of 16 bits, here and on the device.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "gemm_16bit_case.h"
#include "support/memory.h"
#include "support/oracle.h"
#include "support/random.h"

namespace mygemm_tests {

// A batch of column-major matrices of any element type in one buffer, which ends with the last
// element of the last one. A matrix of another call's number is matrix number(i).
struct Batch16Bit {
  mygemmDataType_t type;
  int64_t rows, columns, ld, matrices, distance;
  int step;
  int64_t size;  // bytes of an element
  std::vector<unsigned char> image;
  std::vector<double> values;  // of what has been uploaded
  DeviceBuffer buffer;

  Batch16Bit(mygemmDataType_t type_, int64_t rows_, int64_t columns_, const Gemm16BitCase& of,
             int step_ = 1)
      : type(type_),
        rows(rows_),
        columns(columns_),
        ld(std::max<int64_t>(1, of.ld_of(rows_))),
        matrices(step_ == 0 ? 1 : of.batch),
        distance(ld * columns_ +
                 (of.batch > 1 ? (of.aligned ? 8 : 3) : 0)),  // odd: alignments vary
        step(step_),
        size(type_bytes(type_)) {
    const int64_t last = columns == 0 ? 0 : (columns - 1) * ld + rows;
    image.assign(static_cast<size_t>(size * ((matrices - 1) * distance + last)), kPoison);
    buffer =
        DeviceBuffer(image.size(), (of.aligned ? 0 : of.offset) * static_cast<size_t>(size) / 2);
  }

  int64_t number(int64_t i) const { return step == 0 ? 0 : step > 0 ? i : matrices - 1 - i; }
  int64_t place(int64_t i, int64_t row, int64_t column) const {
    return size * (number(i) * distance + row + column * ld);
  }
  unsigned char* at(int64_t i, int64_t row, int64_t column) {
    return image.data() + place(i, row, column);
  }
  double value(int64_t i, int64_t row, int64_t column) const {
    return values[static_cast<size_t>(place(i, row, column) / size)];
  }
  template <class Next>
  void fill(Next next) {
    fill_places([&](int64_t, int64_t) { return next(); });
  }
  // next: the element of a row and a column.
  template <class Next>
  void fill_places(Next next) {
    for (int64_t i = 0; i < matrices; ++i) {
      for (int64_t column = 0; column < columns; ++column) {
        for (int64_t row = 0; row < rows; ++row) {
          encode(type, next(row, column), at(i, row, column));
        }
      }
    }
  }
  void upload() {
    buffer.upload(image.data());
    values.resize(image.size() / static_cast<size_t>(size));
    for (size_t e = 0; e < values.size(); ++e) {
      values[e] = decode(type, image.data() + e * static_cast<size_t>(size));
    }
  }
  unsigned char* base() const {
    return buffer.as<unsigned char>() + (image.empty() ? 0 : place(0, 0, 0));
  }
  int64_t stride() const { return step * distance; }
  DeviceBuffer pointers(int64_t batch) const {
    std::vector<void*> list;
    for (int64_t i = 0; i < batch; ++i) list.push_back(buffer.as<unsigned char>() + place(i, 0, 0));
    return DeviceBuffer(list.data(), list.size() * sizeof(void*), 0);
  }
  std::vector<unsigned char> now() const {
    std::vector<unsigned char> contents(image.size());
    buffer.download(contents.data());
    return contents;
  }
  void expect_unchanged(const char* name) const {
    EXPECT_TRUE(now() == image) << name << " was written";
    EXPECT_TRUE(buffer.bands_intact()) << "written outside " << name;
  }
};

inline double smallest(mygemmDataType_t type) {
  return type == MYGEMM_R_32F ? 0x1p-149 : type == MYGEMM_R_16BF ? 0x1p-133 : 0x1p-24;
}
inline double largest(mygemmDataType_t type) {
  return type == MYGEMM_R_32F ? 0x1.fffffep127 : type == MYGEMM_R_16BF ? 0x1.fep127 : 65504.0;
}
inline std::array<double, 8> special_values(mygemmDataType_t type) {
  const double tiny = smallest(type), huge = largest(type);
  return {HUGE_VAL, -HUGE_VAL, std::nan(""), tiny, huge, 3 * tiny, -huge, -0.0};
}

// An element of an FP32 operand beside a BF16 one, of a line along k.
inline double wide_element(int64_t line, Random* random) {
  if (line % 2 != 0)
    return std::ldexp(random->real(-1, 1), static_cast<int>(line * 37 % 247 - 147));
  return std::ldexp(random->real(-1, 1), static_cast<int>(random->integer(-149, 100)));
}
inline double all_bits_element(Random* random) {
  const auto bits = static_cast<double>(random->integer(1 << 23, (1 << 24) - 1));
  const double sign = random->integer(0, 1) != 0 ? 1 : -1;
  return std::ldexp(sign * bits, static_cast<int>(random->integer(-60, 20)));
}

// The operands of a call. aux has floats, or words of bits as if they were floats.
struct Operands16Bit {
  const Gemm16BitCase& of;
  Batch16Bit a, b, c, d, bias, aux, sums;
  DeviceBuffer scalars, lists[4];

  explicit Operands16Bit(const Gemm16BitCase& gemm)
      : of(gemm),
        a(gemm.a, gemm.transa ? gemm.k : gemm.m, gemm.transa ? gemm.m : gemm.k, gemm, gemm.a_step),
        b(gemm.b, gemm.transb ? gemm.n : gemm.k, gemm.transb ? gemm.k : gemm.n, gemm, gemm.b_step),
        c(gemm.out, gemm.m, gemm.n, gemm),
        d(gemm.out, gemm.m, gemm.n, gemm, gemm.d_step),
        bias(gemm.out, gemm.m, 1, gemm),
        aux(MYGEMM_R_32F, gemm.aux_is_bits() ? (gemm.m + 31) / 32 : gemm.m, gemm.n, gemm),
        sums(MYGEMM_R_32F, gemm.sums_of == MYGEMM_SUMS_OF_B ? gemm.n : gemm.m, 1, gemm) {
    Random random(gemm.seed);
    const auto next = [&] { return next_value(&random); };
    if (gemm.alpha != 0) {
      fill_factor(&a, gemm.transa != MYGEMM_OP_N, &random);
      fill_factor(&b, gemm.transb == MYGEMM_OP_N, &random);
    }
    if (gemm.beta != 0) c.fill(next), d.fill(next);
    bias.fill(next);
    if (gemm.is_gradient()) aux.fill([&] { return random.real(-3, 3); });
    if (of.values == Values::kSpecial) add_special_values();
    keep_triangle(&c);
    keep_triangle(&d);
    if (gemm.own_c) std::fill(d.image.begin(), d.image.end(), kPoison);
    for (Batch16Bit* x : {&a, &b, &c, &d, &bias, &aux, &sums}) x->upload();
    const float both[2] = {gemm.alpha, gemm.beta};
    scalars = DeviceBuffer(both, sizeof both, 4);
    const Batch16Bit* operands[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i) lists[i] = operands[i]->pointers(gemm.batch);
  }

  const Batch16Bit& old() const { return of.own_c ? c : d; }

  double next_value(Random* random) const {
    if (of.values == Values::kIntegers) return static_cast<double>(random->integer(-8, 8));
    return random->real(-1, 1);
  }
  // A or B, whose lines along k are its columns, or its rows.
  void fill_factor(Batch16Bit* x, bool by_columns, Random* random) const {
    const bool wide = of.values == Values::kWide, all_bits = of.values == Values::kAllBits;
    const bool fp32 = x->type == MYGEMM_R_32F;
    x->fill_places([&](int64_t row, int64_t column) -> double {
      const int64_t line = by_columns ? column : row, l = by_columns ? row : column;
      if (wide && fp32) return wide_element(line, random);
      if (all_bits && fp32) return all_bits_element(random);
      if (all_bits)
        return l == line * 53 % of.k ? std::ldexp(1.0, static_cast<int>(line % 9) - 4) : 0;
      // More bits than a part has.
      const bool of_parts = fp32 && of.values == Values::kIntegers;
      return next_value(random) * (of_parts ? static_cast<double>(random->integer(1, 128)) : 1);
    });
  }

  // In rows and columns of their own, so that most results are ordinary.
  void add_special_values() {
    const std::array<double, 8> in_a = special_values(of.a), in_b = special_values(of.b);
    for (int64_t i = 0; i < 8 && 3 * i < of.m; ++i) {
      const int64_t l = i % of.k;
      encode(of.a, in_a[static_cast<size_t>(i)], of.transa ? a.at(0, l, 3 * i) : a.at(0, 3 * i, l));
    }
    for (int64_t j = 0; j < 8 && 2 * j + 1 < of.n; ++j) {
      const int64_t l = j * 5 % of.k;
      encode(of.b, in_b[static_cast<size_t>(7 - j)],
             of.transb ? b.at(0, 2 * j + 1, l) : b.at(0, l, 2 * j + 1));
    }
    // Results that are subnormal in D: a row of small elements beside small ones of C.
    for (int64_t l = 0; l < of.k; ++l) {
      const double small = (1 + static_cast<double>(l % 7)) * 37 * smallest(of.a);
      encode(of.a, small, of.transa ? a.at(0, l, 1) : a.at(0, 1, l));
    }
    Batch16Bit& added = of.own_c ? c : d;
    for (int64_t j = 0; j < of.n; ++j) {
      encode(of.out, of.out == MYGEMM_R_16F ? 0x1p-24 * 5 : 0x1p-130, added.at(0, 1, j));
    }
  }
  // The other triangle is poison.
  void keep_triangle(Batch16Bit* x) const {
    if (of.fill == MYGEMM_FILL_FULL) return;
    for (int64_t i = 0; i < x->matrices; ++i) {
      for (int64_t column = 0; column < x->columns; ++column) {
        for (int64_t row = 0; row < x->rows; ++row) {
          if (!of.fills(row, column)) {
            std::memset(x->image.data() + x->size * (i * x->distance + row + column * x->ld),
                        kPoison, static_cast<size_t>(x->size));
          }
        }
      }
    }
  }

  mygemmGemm_t descriptor() const {
    mygemmGemm_t call = MYGEMM_GEMM_INIT;
    call.transa = of.transa, call.transb = of.transb;
    call.m = of.m, call.n = of.n, call.k = of.k;
    call.batch_count = of.batch;
    call.atype = of.a, call.btype = of.b;
    call.ctype = call.dtype = of.out;
    call.math = of.math;
    call.activation = of.activation;
    const bool host = of.pointer_mode == MYGEMM_POINTER_MODE_HOST;
    call.alpha = host ? &of.alpha : scalars.as<float>();
    call.beta = host ? &of.beta : scalars.as<float>() + 1;
    call.lda = a.ld, call.ldb = b.ld, call.ldc = c.ld, call.ldd = d.ld;
    if (of.bias) call.bias = bias.base(), call.stride_bias = bias.stride();
    if (of.has_aux()) {
      const int64_t in_word = of.aux_is_bits() ? 32 : 1;
      call.aux = aux.base(), call.ldaux = aux.ld * in_word;
      call.stride_aux = aux.stride() * in_word;
    }
    call.sums_of = of.sums_of;
    if (of.sums_of != MYGEMM_SUMS_NONE) call.sums = sums.base(), call.stride_sums = sums.stride();
    call.fill = of.fill;
    if (of.form == Form::kPointers) {
      call.A_array = lists[0].as<const void* const>();
      call.B_array = lists[1].as<const void* const>();
      if (of.own_c) call.C_array = lists[2].as<const void* const>();
      call.D_array = lists[3].as<void* const>();
      return call;
    }
    call.A = a.base(), call.B = b.base(), call.D = d.base();
    if (of.own_c) call.C = c.base();
    call.stride_a = a.stride(), call.stride_b = b.stride();
    call.stride_c = c.stride(), call.stride_d = d.stride();
    return call;
  }
};

}  // namespace mygemm_tests
