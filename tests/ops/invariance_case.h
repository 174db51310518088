// Ops tests: one product whose elements are computed again and again, in other company.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gemm_case.h"
#include "support/memory.h"
#include "support/oracle.h"

namespace mygemm_tests {

struct InvariantCase {
  mygemmDataType_t a, b, out;
  mygemmMathMode_t math;
  mygemmOperation_t transa, transb;
  int64_t k;
  bool epilogue = false;  // C, a bias and GELU

  std::string text() const;
};

// Some rows and columns of it, in any order, as a call of their own.
struct Part {
  std::vector<int64_t> rows, columns;
  int64_t padding = 0;  // elements between columns of matrices
  int64_t offset = 0;   // elements by which base addresses are off a multiple of 16 bytes
  Form form = Form::kSingle;
  int64_t batch = 1;  // the i-th matrix has rows and columns rotated by i
  mygemmFill_t fill = MYGEMM_FILL_FULL;
  mygemmSums_t sums_of = MYGEMM_SUMS_NONE;
  bool by_handle = false;  // the handle says that it is invariant; else the call does

  std::string text() const;
};

class InvariantProduct {
 public:
  // All m rows and n columns have random elements between -2 and 2.
  InvariantProduct(const InvariantCase& wanted, int64_t m, int64_t n);

  int64_t m() const { return m_; }
  int64_t n() const { return n_; }
  const InvariantCase& wanted() const { return case_; }
  // Sets a row of op(A).
  void fill_row(int64_t i, double value);
  // Multiplies a row of op(A), or a column of op(B), by a power of two.
  void scale_row(int64_t i, int exponent);
  void scale_column(int64_t j, int exponent);

  // Computes a part, and compares its elements, and its sums, with those of the parts before. False
  // where the call is not supported.
  bool compute(mygemmHandle_t handle, const Part& part);
  // The kernel that the plan chooses for a part.
  std::string kernel_of(mygemmHandle_t handle, const Part& part) const;

 private:
  using Bytes = std::vector<unsigned char>;

  void scale(mygemmDataType_t type, Bytes* lines, int64_t line, int exponent);
  const unsigned char* value_of_a(int64_t i, int64_t l) const;
  const unsigned char* value_of_b(int64_t j, int64_t l) const;

  InvariantCase case_;
  int64_t m_, n_, a_bytes_, b_bytes_, out_bytes_;
  Bytes a_, b_;     // by rows of op(A), and by columns of op(B)
  Bytes c_, bias_;  // by columns of D
  // What has been computed so far; empty where nothing has.
  std::vector<Bytes> results_, sums_of_a_, sums_of_b_;
};

}  // namespace mygemm_tests
