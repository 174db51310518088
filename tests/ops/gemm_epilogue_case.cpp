// Ops tests: see gemm_epilogue_case.h.
#include "gemm_epilogue_case.h"

#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

#include "gemm_aux_case.h"
#include "gemm_epilogue_operands.h"

namespace mygemm_tests {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The result of an element whose alpha op(A) op(B) + beta C + bias is t, and its error bound.
struct Expected {
  double value, tolerance;
};

Expected gelu(double x) {
  const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
  if (std::isinf(x)) return {x > 0 ? x : std::nan(""), 0};
  const double value = x / (1 + std::exp(-2 * u));
  return {value, std::fabs(value) * (4 + 8 * std::fabs(u)) * 0x1p-23 + 1e-36};
}

// aux: what a gradient reads of the element, 0 or 1 where that is a bit.
Expected activated(mygemmActivation_t activation, float t, double aux) {
  switch (activation) {
    case MYGEMM_ACTIVATION_NONE: break;
    case MYGEMM_ACTIVATION_RELU: return {t > 0 || std::isnan(t) ? t : 0.0, 0};
    case MYGEMM_ACTIVATION_GELU: return gelu(t);
    case MYGEMM_ACTIVATION_RELU_GRADIENT: return {aux != 0 ? t : 0.0, 0};
    case MYGEMM_ACTIVATION_GELU_GRADIENT: {
      const double x = t;
      // The result of a product that is rounded once.
      return {x * gelu_derivative(aux), std::fabs(x) * (kGeluDerivativeError + 0x1p-23)};
    }
  }
  return {t, 0};
}

bool right(float got, const Expected& expected) {
  if (std::isnan(expected.value)) return std::isnan(got);
  return got == expected.value || std::fabs(got - expected.value) <= expected.tolerance;
}

// alpha op(A) op(B) + beta C in D's layout, by the same kernel.
std::vector<float> unfused(mygemmHandle_t handle, Operands* operands) {
  const EpilogueCase& gemm = operands->gemm;
  if (!gemm.sums()) {
    std::vector<float> scaled = operands->d.image;
    operands->d.each([&](int64_t matrix, int64_t i, int64_t j) {
      scaled[operands->d.place(matrix, i, j)] =
          gemm.beta == 0 ? 0 : gemm.beta * operands->c.at(matrix, i, j);
    });
    return scaled;
  }
  operands->prepare_d(true);
  const mygemmStatus_t status = operands->plain(handle);
  synchronize();
  EXPECT_TRUE(status == MYGEMM_STATUS_SUCCESS || status == MYGEMM_STATUS_NOT_SUPPORTED)
      << mygemm_last_error();
  return operands->d.now();
}

// The elements that the activation is applied to.
std::vector<float> with_bias(Operands* operands, std::vector<float> t) {
  const EpilogueCase& gemm = operands->gemm;
  operands->d.each([&](int64_t matrix, int64_t i, int64_t j) {
    const int64_t of_bias = operands->bias.number(matrix, gemm.bias_step);
    if (gemm.bias) t[operands->d.place(matrix, i, j)] += operands->bias.at(of_bias, i, 0);
  });
  return t;
}

double gradients_operand(Operands* operands, int64_t matrix, int64_t i, int64_t j) {
  if (!operands->gemm.is_gradient()) return 0;
  Matrices& aux = operands->aux;
  const int64_t number = aux.number(matrix, operands->gemm.aux_step);
  if (!operands->gemm.aux_is_bits()) return aux.at(number, i, j);
  return operands->aux_bit(&aux.image, number, i, j) ? 1 : 0;
}

void check(Operands* operands, const std::vector<float>& t) {
  const EpilogueCase& gemm = operands->gemm;
  Matrices& d = operands->d;
  std::vector<float> results = d.now();
  check_aux(operands, t);
  check_sums(operands, results);
  int64_t wrong = 0;
  d.each([&](int64_t matrix, int64_t i, int64_t j) {
    const size_t at = d.place(matrix, i, j);
    const double aux = gradients_operand(operands, matrix, i, j);
    const Expected expected = activated(gemm.activation, t[at], aux);
    if (!right(results[at], expected) && ++wrong < 4) {
      ADD_FAILURE() << "D(" << i << ", " << j << ") of matrix " << matrix << " is " << results[at]
                    << " instead of " << expected.value << " (+- " << expected.tolerance
                    << "), from " << t[at] << " and " << aux;
    }
    results[at] = d.at(matrix, i, j);  // the rest must be unchanged
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::memcmp(results.data(), d.image.data(), results.size() * sizeof(float)), 0)
      << "written between the columns of D";
  EXPECT_TRUE(d.buffer.bands_intact()) << "written outside D";
  operands->a.expect_unchanged("A");
  operands->b.expect_unchanged("B");
  operands->c.expect_unchanged("C");
  operands->bias.expect_unchanged("bias");
}

// All that a call writes.
struct Results {
  std::vector<float> d, aux, sums;

  explicit Results(const Operands& operands)
      : d(operands.d.now()), aux(operands.aux.now()), sums(operands.sums.now()) {}
  bool operator==(const Results& other) const {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    return same(d, other.d) && same(aux, other.aux) && same(sums, other.sums);
  }
};

}  // namespace

std::string EpilogueCase::text() const {
  std::ostringstream out;
  out << (transa ? "T" : "N") << (transb ? "T" : "N") << " m=" << m << " n=" << n << " k=" << k
      << " activation=" << activation << " bias=" << bias << " alpha=" << alpha << " beta=" << beta
      << (own_c ? " C and D" : " D") << " padding=" << padding << " offset=" << offset
      << " pointer mode=" << pointer_mode << " form=" << static_cast<int>(form)
      << " batch=" << batch << " bias step=" << bias_step << " aux=" << leaves_aux
      << " aux padding=" << aux_padding << " aux step=" << aux_step << " sums of=" << sums_of
      << " sums step=" << sums_step;
  return out.str();
}

void run_epilogue(mygemmHandle_t handle, const EpilogueCase& gemm, RowTally* tally) {
  SCOPED_TRACE(gemm.text());
  Operands operands(gemm);
  ASSERT_EQ(mygemm_set_pointer_mode(handle, gemm.pointer_mode), MYGEMM_STATUS_SUCCESS);
  const std::vector<float> t = with_bias(&operands, unfused(handle, &operands));

  operands.prepare_d(!gemm.own_c);
  const mygemmGemm_t call = operands.descriptor();
  const mygemmStatus_t status = mygemm_gemm(handle, &call);
  synchronize();
  const auto explained = explained_rows([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_gemm(handle, nullptr, &call, text, capacity, length);
  });
  if (tally == nullptr) {
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  } else if (!tally->ran(status, explained)) {
    operands.d.expect_unchanged("D of a call that was refused");
    operands.aux.expect_unchanged("aux of a call that was refused");
    operands.sums.expect_unchanged("sums of a call that was refused");
    return;
  }
  check(&operands, t);
  const Results first(operands);
  for (int i = 1; i < gemm.calls; ++i) {
    operands.prepare_d(!gemm.own_c);
    ASSERT_EQ(mygemm_gemm(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
    EXPECT_TRUE(Results(operands) == first) << "call " << i + 1 << " left other bits";
  }
}

}  // namespace mygemm_tests
