// Ops tests: see gemm_16bit_case.h.
#include "gemm_16bit_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

#include "gemm_16bit_operands.h"
#include "gemm_aux_case.h"
#include "support/oracle.h"

namespace mygemm_tests {
namespace {

// A value, and how far FP32 results may be from it. Not finite: exactly that.
struct Expected {
  double value, tolerance;

  bool finite() const { return std::isfinite(value) && std::isfinite(tolerance); }
};

// The results that an expected one may be rounded to, from the least to the largest.
struct Range {
  double least, most;

  Range(mygemmDataType_t type, const Expected& expected) {
    const double tolerance = expected.finite() ? expected.tolerance : 0;
    least = rounded(type, expected.value - tolerance);
    most = rounded(type, expected.value + tolerance);
  }
  bool contains(double x) const {
    return std::isnan(least) ? std::isnan(x) : least <= x && x <= most;
  }
  static double rounded(mygemmDataType_t type, double value) {
    unsigned char element[4];
    encode(type, value, element);
    return decode(type, element);
  }
};

// Sums have no rounding error.
bool is_exact(Values values) { return values == Values::kIntegers || values == Values::kAllBits; }

double element_of_a(const Operands16Bit& call, int64_t matrix, int64_t i, int64_t l) {
  return call.of.transa ? call.a.value(matrix, l, i) : call.a.value(matrix, i, l);
}
double element_of_b(const Operands16Bit& call, int64_t matrix, int64_t l, int64_t j) {
  return call.of.transb ? call.b.value(matrix, j, l) : call.b.value(matrix, l, j);
}

// The error of sums of kernels on tensor cores, which truncate, relative to |A||B|.
double sum_error(int64_t k, bool on_tensor_cores) {
  return on_tensor_cores ? std::max(sum_bound(k), 2 * 0x1p-24 * static_cast<double>(k + 4))
                         : sum_bound(k);
}

// The rows of op(A) and columns of op(B) of a matrix, each in one piece: elements are looked up
// once, and not for every result. Nothing where they do not count.
struct Factors {
  std::vector<double> a, b;

  Factors(const Operands16Bit& call, int64_t matrix) {
    const Gemm16BitCase& of = call.of;
    if (of.alpha == 0) return;
    a.reserve(static_cast<size_t>(of.m * of.k));
    b.reserve(static_cast<size_t>(of.n * of.k));
    for (int64_t i = 0; i < of.m; ++i) {
      for (int64_t l = 0; l < of.k; ++l) a.push_back(element_of_a(call, matrix, i, l));
    }
    for (int64_t j = 0; j < of.n; ++j) {
      for (int64_t l = 0; l < of.k; ++l) b.push_back(element_of_b(call, matrix, l, j));
    }
  }
};

// alpha * sum + beta * C + bias.
Expected before_activation(const Operands16Bit& call, const Factors& factors, int64_t matrix,
                           int64_t i, int64_t j, bool on_tensor_cores) {
  const Gemm16BitCase& of = call.of;
  double sum = 0, magnitude = 0;
  if (of.alpha != 0) {
    sum_products(of.k, factors.a.data() + i * of.k, factors.b.data() + j * of.k, &sum, &magnitude);
  }
  double t = of.scales_only() ? 0.0 : of.alpha * sum;
  double bound = std::fabs(of.alpha) * sum_error(of.k, on_tensor_cores) * magnitude;
  double added = 0;
  if (of.beta != 0) {
    const double scaled = of.beta * call.old().value(matrix, i, j);
    t += scaled;
    added += std::fabs(scaled);
  }
  if (of.bias) {
    t += call.bias.value(matrix, i, 0);
    added += std::fabs(call.bias.value(matrix, i, 0));
  }
  bound += 4 * 0x1p-24 * (added + std::fabs(of.alpha) * magnitude);
  if (of.scales_only() && !of.bias) bound = 0x1p-24 * added;  // one product
  return {t, is_exact(of.values) ? 0 : bound + 0x1p-149 * static_cast<double>(of.k + 1)};
}

// aux: the element that a gradient reads, 0 or 1 where that is a bit.
Expected activated(mygemmActivation_t activation, const Expected& t, double aux) {
  switch (activation) {
    case MYGEMM_ACTIVATION_NONE: break;
    case MYGEMM_ACTIVATION_RELU: return {t.value <= 0 ? 0.0 : t.value, t.tolerance};
    case MYGEMM_ACTIVATION_GELU: {
      const double x = t.value;
      const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
      if (std::isinf(x)) return {x > 0 ? x : std::nan(""), 0};
      const double value = x / (1 + std::exp(-2 * u));
      const double own = std::fabs(value) * (4 + 8 * std::fabs(u)) * 0x1p-23 + 1e-36;
      return {value, own + 1.2 * t.tolerance};  // its slope is at most 1.13
    }
    case MYGEMM_ACTIVATION_RELU_GRADIENT: return aux != 0 ? t : Expected{0, 0};
    case MYGEMM_ACTIVATION_GELU_GRADIENT: {
      const double own = std::fabs(t.value) * (kGeluDerivativeError + 0x1p-23);
      return {t.value * gelu_derivative(aux), own + 1.2 * t.tolerance};
    }
  }
  return t;
}

// Compares elements, of which it prints some.
class Checks {
 public:
  void add(const char* name, int64_t matrix, int64_t i, int64_t j, double got, const Range& range) {
    if (range.contains(got) || ++wrong_ > 3) return;
    ADD_FAILURE() << name << "(" << i << ", " << j << ") of matrix " << matrix << " is " << got
                  << ", not in [" << range.least << ", " << range.most << "]";
  }
  ~Checks() { EXPECT_EQ(wrong_, 0); }

 private:
  int64_t wrong_ = 0;
};

void check_d(Operands16Bit* call, bool on_tensor_cores) {
  const Gemm16BitCase& of = call->of;
  std::vector<unsigned char> results = call->d.now(), aux = call->aux.now();
  Checks checks;
  for (int64_t matrix = 0; matrix < of.batch; ++matrix) {
    const Factors factors(*call, matrix);
    for (int64_t j = 0; j < of.n; ++j) {
      for (int64_t i = 0; i < of.m; ++i) {
        if (!of.fills(i, j)) continue;
        const Expected t = before_activation(*call, factors, matrix, i, j, on_tensor_cores);
        unsigned char* const d = results.data() + call->d.place(matrix, i, j);
        const double got = decode(of.out, d);
        const int64_t word = call->aux.place(matrix, of.aux_is_bits() ? i / 32 : i, j);
        const int64_t byte = word + i % 32 / 8;
        double read = 0;
        if (of.is_gradient()) {
          read = of.aux_is_bits() ? call->aux.image[static_cast<size_t>(byte)] >> i % 8 & 1
                                  : decode(MYGEMM_R_32F, call->aux.image.data() + word);
        }
        checks.add("D", matrix, i, j, got, Range(of.out, activated(of.activation, t, read)));
        std::memcpy(d, call->d.image.data() + call->d.place(matrix, i, j),
                    static_cast<size_t>(call->d.size));  // the rest must be unchanged
        if (!of.leaves_aux) continue;
        if (!of.aux_is_bits()) {
          checks.add("aux", matrix, i, j, decode(MYGEMM_R_32F, aux.data() + word),
                     Range(MYGEMM_R_32F, t));
          std::memcpy(aux.data() + word, call->aux.image.data() + word, 4);
          continue;
        }
        // The bit is that of the rounded t; -0 counts as 0.
        const Range before(of.out, t);
        const bool bit = (aux[static_cast<size_t>(byte)] >> i % 8 & 1) != 0;
        const bool may_be_set = !(before.most < 0), may_be_clear = before.least < 0;
        EXPECT_TRUE(bit ? may_be_set : may_be_clear) << "the bit of (" << i << ", " << j << ")";
        EXPECT_TRUE(bit || got == 0) << "the bit of (" << i << ", " << j << ") is not D's";
        if (i % 8 == 7 || i + 1 == of.m) {
          aux[static_cast<size_t>(byte)] = call->aux.image[static_cast<size_t>(byte)];
        }
      }
    }
  }
  EXPECT_TRUE(results == call->d.image) << "written between the columns of D";
  EXPECT_TRUE(aux == call->aux.image) << "written between the columns of aux";
  EXPECT_TRUE(call->d.buffer.bands_intact()) << "written outside D";
  EXPECT_TRUE(call->aux.buffer.bands_intact()) << "written outside aux";
}

// Sums of A, of B, or of D as it is now.
void check_sums(Operands16Bit* call) {
  const Gemm16BitCase& of = call->of;
  if (of.sums_of == MYGEMM_SUMS_NONE) return;
  const std::vector<unsigned char> results = call->d.now(), sums = call->sums.now();
  Checks checks;
  for (int64_t matrix = 0; matrix < of.batch; ++matrix) {
    for (int64_t i = 0; i < call->sums.rows; ++i) {
      const int64_t length = of.sums_of == MYGEMM_SUMS_OF_D ? of.n : of.k;
      double sum = 0, magnitude = 0;
      for (int64_t l = 0; l < length; ++l) {
        const double x = of.sums_of == MYGEMM_SUMS_OF_A ? element_of_a(*call, matrix, i, l)
                         : of.sums_of == MYGEMM_SUMS_OF_B
                             ? element_of_b(*call, matrix, l, i)
                             : decode(of.out, results.data() + call->d.place(matrix, i, l));
        sum += x;
        magnitude += std::fabs(x);
      }
      const Expected expected{sum, 0x1p-24 * static_cast<double>(length) * magnitude};
      checks.add("sum", matrix, i, 0,
                 decode(MYGEMM_R_32F, &sums[static_cast<size_t>(call->sums.place(matrix, i, 0))]),
                 Range(MYGEMM_R_32F, expected));
    }
  }
  EXPECT_TRUE(call->sums.buffer.bands_intact()) << "written outside the sums";
}

}  // namespace

std::string Gemm16BitCase::text() const {
  std::ostringstream out_text;
  out_text << type_name(a) << " by " << type_name(b) << " to " << type_name(out) << " "
           << (transa ? "T" : "N") << (transb ? "T" : "N") << " m=" << m << " n=" << n << " k=" << k
           << " alpha=" << alpha << " beta=" << beta << " values=" << static_cast<int>(values)
           << " math=" << math << " pointer mode=" << pointer_mode << " bias=" << bias
           << (own_c ? " C and D" : " D") << " activation=" << activation << " aux=" << leaves_aux
           << " sums of=" << sums_of << " fill=" << fill << " padding=" << padding
           << (aligned ? " aligned" : "") << " offset=" << offset
           << " form=" << static_cast<int>(form) << " batch=" << batch << " steps=" << a_step << ","
           << b_step << "," << d_step << " seed=" << seed;
  return out_text.str();
}

void run_16bit(mygemmHandle_t handle, const Gemm16BitCase& gemm, RowTally* tally) {
  SCOPED_TRACE(gemm.text());
  Operands16Bit call(gemm);
  ASSERT_EQ(mygemm_set_pointer_mode(handle, gemm.pointer_mode), MYGEMM_STATUS_SUCCESS);
  const mygemmGemm_t descriptor = call.descriptor();
  const mygemmStatus_t status = mygemm_gemm(handle, &descriptor);
  synchronize();
  // Explain calls know neither alpha nor beta: see run_gemm().
  const bool unexplained =
      gemm.scales_only() && (status == MYGEMM_STATUS_NOT_SUPPORTED || gemm.beta == 1);
  if (tally != nullptr && unexplained && status == MYGEMM_STATUS_NOT_SUPPORTED) {
    call.d.expect_unchanged("D of a call that was refused");
    return;
  }
  if (tally == nullptr || unexplained) {
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  } else {
    const auto explained = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_gemm(handle, nullptr, &descriptor, text, capacity, length);
    });
    if (!tally->ran(status, explained)) {
      call.d.expect_unchanged("D of a call that was refused");
      call.aux.expect_unchanged("aux of a call that was refused");
      return;
    }
  }
  const bool on_tensor_cores =
      kBuild != Build::kHost && (tally == nullptr || tally->row() != "naive");
  check_sums(&call);
  check_d(&call, on_tensor_cores);
  call.a.expect_unchanged("A");
  call.b.expect_unchanged("B");
  if (gemm.own_c) call.c.expect_unchanged("C");
  call.bias.expect_unchanged("bias");
}

}  // namespace mygemm_tests
