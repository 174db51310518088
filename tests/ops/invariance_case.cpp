// Ops tests: see invariance_case.h.
#include "invariance_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_elements(mygemmDataType_t type, int64_t count, Random* random) {
  const int64_t size = type_bytes(type);
  Bytes bytes(static_cast<size_t>(count * size));
  for (int64_t i = 0; i < count; ++i) {
    encode(type, random->real(-2, 2), &bytes[static_cast<size_t>(i * size)]);
  }
  return bytes;
}

// Column-major matrices of a batch, one behind the other, between whose columns there may be gaps.
struct Matrices {
  int64_t rows, columns, ld, stride, size, batch;
  DeviceBuffer buffer;
  DeviceBuffer pointers;

  // value(matrix, i, j): element (i, j), or nullptr where it stays poisoned.
  Matrices(int64_t rows_in, int64_t columns_in, int64_t element_bytes, const Part& part,
           const std::function<const unsigned char*(int64_t, int64_t, int64_t)>& value)
      : rows(rows_in),
        columns(columns_in),
        ld(rows + part.padding),
        stride(ld * columns),
        size(element_bytes),
        batch(part.batch) {
    Bytes image(static_cast<size_t>(batch * stride * size), kPoison);
    for (int64_t matrix = 0; matrix < batch; ++matrix) {
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t i = 0; i < rows; ++i) {
          const unsigned char* element = value(matrix, i, j);
          if (element) std::memcpy(&image[at(matrix, i, j)], element, static_cast<size_t>(size));
        }
      }
    }
    buffer = DeviceBuffer(image.data(), image.size(), static_cast<size_t>(part.offset * size));
    if (part.form != Form::kPointers) return;
    std::vector<char*> addresses;
    for (int64_t matrix = 0; matrix < batch; ++matrix) {
      addresses.push_back(buffer.as<char>() + at(matrix, 0, 0));
    }
    pointers = DeviceBuffer(addresses.data(), addresses.size() * sizeof(char*), 0);
  }

  size_t at(int64_t matrix, int64_t i, int64_t j) const {
    return static_cast<size_t>((matrix * stride + j * ld + i) * size);
  }
};

// The i-th of some lines, of a matrix of the batch.
int64_t line_of(const std::vector<int64_t>& lines, int64_t matrix, int64_t i) {
  return lines[static_cast<size_t>(i + matrix) % lines.size()];
}

// Stores what is new, and compares what is known.
void expect_known(Bytes* known, const unsigned char* found, int64_t size, int* differences) {
  const auto* end = found + size;
  if (known->empty()) known->assign(found, end);
  *differences += !std::equal(found, end, known->begin());
}

bool fills(mygemmFill_t fill, int64_t i, int64_t j) {
  return fill == MYGEMM_FILL_FULL || (fill == MYGEMM_FILL_LOWER ? i >= j : i <= j);
}

}  // namespace

std::string InvariantCase::text() const {
  std::ostringstream words;
  words << type_name(a) << " by " << type_name(b) << " to " << type_name(out) << ", math " << math
        << ", "
        << "NTC"[transa] << "NTC"[transb] << ", k=" << k << (epilogue ? ", epilogue" : "");
  return words.str();
}

std::string Part::text() const {
  std::ostringstream out;
  out << rows.size() << " x " << columns.size() << " from " << rows[0] << ", " << columns[0]
      << " padding=" << padding << " offset=" << offset << " form=" << static_cast<int>(form)
      << " batch=" << batch << " fill=" << fill << " sums=" << sums_of;
  return out.str();
}

InvariantProduct::InvariantProduct(const InvariantCase& wanted, int64_t m, int64_t n)
    : case_(wanted),
      m_(m),
      n_(n),
      a_bytes_(type_bytes(wanted.a)),
      b_bytes_(type_bytes(wanted.b)),
      out_bytes_(type_bytes(wanted.out)),
      results_(static_cast<size_t>(m * n)),
      sums_of_a_(static_cast<size_t>(m)),
      sums_of_b_(static_cast<size_t>(n)) {
  Random random(1);
  a_ = random_elements(wanted.a, m * wanted.k, &random);
  b_ = random_elements(wanted.b, n * wanted.k, &random);
  c_ = random_elements(wanted.out, m * n, &random);
  bias_ = random_elements(wanted.out, m, &random);
}

const unsigned char* InvariantProduct::value_of_a(int64_t i, int64_t l) const {
  return &a_[static_cast<size_t>((i * case_.k + l) * a_bytes_)];
}
const unsigned char* InvariantProduct::value_of_b(int64_t j, int64_t l) const {
  return &b_[static_cast<size_t>((j * case_.k + l) * b_bytes_)];
}

void InvariantProduct::fill_row(int64_t i, double value) {
  for (int64_t l = 0; l < case_.k; ++l) {
    encode(case_.a, value, &a_[static_cast<size_t>((i * case_.k + l) * a_bytes_)]);
  }
}

void InvariantProduct::scale_row(int64_t i, int exponent) { scale(case_.a, &a_, i, exponent); }
void InvariantProduct::scale_column(int64_t j, int exponent) { scale(case_.b, &b_, j, exponent); }

void InvariantProduct::scale(mygemmDataType_t type, Bytes* lines, int64_t line, int exponent) {
  for (int64_t l = 0; l < case_.k; ++l) {
    unsigned char* at = &(*lines)[static_cast<size_t>((line * case_.k + l) * type_bytes(type))];
    encode(type, std::ldexp(decode(type, at), exponent), at);
  }
}

bool InvariantProduct::compute(mygemmHandle_t handle, const Part& part) {
  SCOPED_TRACE(case_.text() + ": " + part.text());
  const auto rows = static_cast<int64_t>(part.rows.size());
  const auto columns = static_cast<int64_t>(part.columns.size());
  const bool ta = case_.transa != MYGEMM_OP_N, tb = case_.transb != MYGEMM_OP_N;
  const auto row = [&](int64_t matrix, int64_t i) { return line_of(part.rows, matrix, i); };
  const auto column = [&](int64_t matrix, int64_t j) { return line_of(part.columns, matrix, j); };
  const Matrices a(ta ? case_.k : rows, ta ? rows : case_.k, a_bytes_, part,
                   [&](int64_t matrix, int64_t i, int64_t j) {
                     return value_of_a(row(matrix, ta ? j : i), ta ? i : j);
                   });
  const Matrices b(tb ? columns : case_.k, tb ? case_.k : columns, b_bytes_, part,
                   [&](int64_t matrix, int64_t i, int64_t j) {
                     return value_of_b(column(matrix, tb ? i : j), tb ? j : i);
                   });
  const auto value_of_c = [&](int64_t matrix, int64_t i, int64_t j) {
    return &c_[static_cast<size_t>((row(matrix, i) + column(matrix, j) * m_) * out_bytes_)];
  };
  const Matrices c(rows, columns, out_bytes_, part, value_of_c);
  const Matrices d(rows, columns, out_bytes_, part,
                   [](int64_t, int64_t, int64_t) -> const unsigned char* { return nullptr; });
  Part vector = part;
  vector.padding = vector.offset = 0;
  const Matrices bias(rows, 1, out_bytes_, vector, [&](int64_t matrix, int64_t i, int64_t) {
    return &bias_[static_cast<size_t>(row(matrix, i) * out_bytes_)];
  });
  const int64_t count_of_sums = part.sums_of == MYGEMM_SUMS_OF_B ? columns : rows;
  const DeviceBuffer sums(static_cast<size_t>(count_of_sums * part.batch) * sizeof(float));

  const float alpha = 1.25f, beta = case_.epilogue ? -0.5f : 0.0f;
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = case_.transa, call.transb = case_.transb;
  call.m = rows, call.n = columns, call.k = case_.k, call.batch_count = part.batch;
  call.atype = case_.a, call.btype = case_.b;
  call.ctype = call.dtype = case_.out;
  call.math = case_.math;
  call.alpha = &alpha, call.beta = &beta;
  call.lda = a.ld, call.ldb = b.ld, call.ldc = c.ld, call.ldd = d.ld;
  if (part.form == Form::kPointers) {
    call.A_array = a.pointers.as<const void*>();
    call.B_array = b.pointers.as<const void*>();
    if (case_.epilogue) call.C_array = c.pointers.as<const void*>();
    call.D_array = d.pointers.as<void*>();
  } else {
    call.A = a.buffer.data(), call.B = b.buffer.data(), call.D = d.buffer.data();
    if (case_.epilogue) call.C = c.buffer.data();
    call.stride_a = a.stride, call.stride_b = b.stride;
    call.stride_c = c.stride, call.stride_d = d.stride;
  }
  if (case_.epilogue) {
    call.bias = bias.buffer.data();
    call.stride_bias = rows;
    call.activation = MYGEMM_ACTIVATION_GELU;
  }
  call.fill = part.fill;
  call.sums_of = part.sums_of;
  if (part.sums_of != MYGEMM_SUMS_NONE) call.sums = sums.data();
  call.stride_sums = count_of_sums;
  if (!part.by_handle) call.invariance = MYGEMM_INVARIANCE_BATCH;
  EXPECT_EQ(mygemm_set_invariance(
                handle, part.by_handle ? MYGEMM_INVARIANCE_BATCH : MYGEMM_INVARIANCE_NONE),
            MYGEMM_STATUS_SUCCESS);
  const mygemmStatus_t status = mygemm_gemm(handle, &call);
  synchronize();
  if (status == MYGEMM_STATUS_NOT_SUPPORTED) return false;
  EXPECT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  if (status != MYGEMM_STATUS_SUCCESS) return true;

  Bytes found(d.buffer.bytes());
  d.buffer.download(found.data());
  int differences = 0;
  for (int64_t matrix = 0; matrix < part.batch; ++matrix) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        if (!fills(part.fill, i, j)) continue;
        expect_known(&results_[static_cast<size_t>(row(matrix, i) + column(matrix, j) * m_)],
                     &found[d.at(matrix, i, j)], out_bytes_, &differences);
      }
    }
  }
  EXPECT_EQ(differences, 0) << "of " << rows * columns * part.batch << " elements";
  if (part.sums_of == MYGEMM_SUMS_NONE) return true;
  Bytes sums_found(sums.bytes());
  sums.download(sums_found.data());
  differences = 0;
  const bool of_a = part.sums_of == MYGEMM_SUMS_OF_A;
  for (int64_t i = 0; i < count_of_sums * part.batch; ++i) {
    const int64_t matrix = i / count_of_sums, within = i % count_of_sums;
    const auto line = static_cast<size_t>(of_a ? row(matrix, within) : column(matrix, within));
    expect_known(&(of_a ? sums_of_a_ : sums_of_b_)[line],
                 &sums_found[static_cast<size_t>(i) * sizeof(float)], sizeof(float), &differences);
  }
  EXPECT_EQ(differences, 0) << "of " << count_of_sums * part.batch << " sums";
  return true;
}

std::string InvariantProduct::kernel_of(mygemmHandle_t handle, const Part& part) const {
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = case_.transa, call.transb = case_.transb;
  call.m = static_cast<int64_t>(part.rows.size());
  call.n = static_cast<int64_t>(part.columns.size());
  call.k = case_.k, call.batch_count = part.batch;
  call.atype = case_.a, call.btype = case_.b;
  call.ctype = call.dtype = case_.out;
  call.math = case_.math;
  call.invariance = MYGEMM_INVARIANCE_BATCH;
  char text[64] = "";
  EXPECT_EQ(mygemm_explain_gemm(handle, nullptr, &call, text, sizeof text, nullptr),
            MYGEMM_STATUS_SUCCESS)
      << mygemm_last_error();
  const std::string start = text;  // "chosen: NAME (..."
  const size_t name = start.find(' ') + 1;
  return start.substr(name, start.find(' ', name) - name);
}

}  // namespace mygemm_tests
