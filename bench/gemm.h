// General products: the operands of one case, and their descriptor. gemm.cpp compares their speed,
// grouped.cpp that of groups of them.
#pragma once

#include <cstdint>

#include "cases.h"
#include "machine.h"
#include "sgemm.h"

namespace bench {

// A, B and D are those of the plain product. Refers to the case it is made from.
class FusedProduct {
 public:
  FusedProduct(const Machine& machine, const GemmCase& c, int64_t sets);

  static int64_t bytes_of_a_set(const GemmCase& c);

  const SgemmCase& plain_case_of() const { return plain_case_; }
  const Product& plain() const { return plain_; }

  // The descriptor of call number i.
  mygemmGemm_t call(int64_t i) const;
  // The same matrices found by strides, whatever the form.
  mygemmGemm_t strided_call(int64_t i) const;
  // Copy 0 of D becomes zeros where D is C and read, else NaN.
  void prepare(const Machine& machine) const;

 private:
  const GemmCase& case_;
  SgemmCase plain_case_;
  Product plain_;
  RotatedOperand c_, bias_, aux_, sums_;
  PointerArrays c_pointers_;
  float beta_;
};

}  // namespace bench
