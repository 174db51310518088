// Ops tests: see gemm_aux_case.h.
#include "gemm_aux_case.h"

#include <bit>
#include <cmath>

namespace mygemm_tests {
namespace {

bool same(float x, float y) {
  return (std::isnan(x) && std::isnan(y)) ||
         std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

// Compares what GELU leaves with t, and puts back what was there before.
void check_values(Operands* operands, const std::vector<float>& t, std::vector<float>* now) {
  const EpilogueCase& gemm = operands->gemm;
  Matrices& aux = operands->aux;
  int64_t wrong = 0;
  operands->d.each([&](int64_t matrix, int64_t i, int64_t j) {
    const float expected = t[operands->d.place(matrix, i, j)];
    float& got = (*now)[aux.place(aux.number(matrix, gemm.aux_step), i, j)];
    if (!same(got, expected) && ++wrong < 4) {
      ADD_FAILURE() << "aux(" << i << ", " << j << ") of matrix " << matrix << " is " << got
                    << " instead of " << expected;
    }
    got = aux.at(aux.number(matrix, gemm.aux_step), i, j);
  });
  EXPECT_EQ(wrong, 0) << "elements of aux";
}

// The same with the bits that RELU leaves. Those of the last byte past the last row are 0.
void check_bits(Operands* operands, const std::vector<float>& t, std::vector<float>* now) {
  const EpilogueCase& gemm = operands->gemm;
  int64_t wrong = 0;
  for (int64_t matrix = 0; matrix < gemm.batch; ++matrix) {
    const int64_t number = operands->aux.number(matrix, gemm.aux_step);
    for (int64_t j = 0; j < gemm.n; ++j) {
      for (int64_t i = 0; i < (gemm.m + 7) / 8 * 8; ++i) {
        const bool expected = i < gemm.m && !(t[operands->d.place(matrix, i, j)] < 0);
        if (operands->aux_bit(now, number, i, j) == expected || ++wrong >= 4) continue;
        ADD_FAILURE() << "the bit of (" << i << ", " << j << ") of matrix " << matrix << " is not "
                      << expected;
      }
      for (int64_t i = 0; i < gemm.m; i += 8) {
        *operands->aux_byte(now, number, i, j) =
            *operands->aux_byte(&operands->aux.image, number, i, j);
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "bits of aux";
}

// The matrix that is summed, as sums see it: x(i, l) is element l of sum i of a product.
struct Summed {
  Matrices* matrices;
  const std::vector<float>* now;
  bool columns;  // an element's sum is that of its column
  int64_t count, length;

  float at(int64_t matrix, int64_t i, int64_t l) const {
    return (*now)[matrices->place(matrix, columns ? l : i, columns ? i : l)];
  }
};

Summed summed(Operands* operands, const std::vector<float>& d) {
  const EpilogueCase& gemm = operands->gemm;
  switch (gemm.sums_of) {
    case MYGEMM_SUMS_OF_A:
      return {&operands->a, &operands->a.image, gemm.transa != MYGEMM_OP_N, gemm.m, gemm.k};
    case MYGEMM_SUMS_OF_B:
      return {&operands->b, &operands->b.image, gemm.transb == MYGEMM_OP_N, gemm.n, gemm.k};
    default: return {&operands->d, &d, false, gemm.m, gemm.n};
  }
}

bool right(float got, double sum, double magnitude, int64_t length) {
  const float expected = static_cast<float>(sum);
  if (!std::isfinite(expected)) return same(got, expected);
  return std::fabs(got - sum) <= static_cast<double>(length) * 0x1p-24 * magnitude;
}

}  // namespace

double gelu_derivative(double x) {
  if (std::fabs(x) > 100) return x > 0 ? 1 : 0;
  const double factor = std::sqrt(2 / std::acos(-1.0)), square = x * x;
  const double s = 1 / (1 + std::exp(-2 * factor * x * (1 + 0.044715 * square)));
  return s + 2 * x * s * (1 - s) * factor * (1 + 3 * 0.044715 * square);
}

void check_aux(Operands* operands, const std::vector<float>& t) {
  const Matrices& aux = operands->aux;
  if (!operands->gemm.leaves_aux) {
    aux.expect_unchanged("aux");
    return;
  }
  std::vector<float> now = aux.now();
  (operands->gemm.aux_is_bits() ? check_bits : check_values)(operands, t, &now);
  EXPECT_EQ(std::memcmp(now.data(), aux.image.data(), now.size() * sizeof(float)), 0)
      << "written between the columns of aux";
  EXPECT_TRUE(aux.buffer.bands_intact()) << "written outside aux";
}

void check_sums(Operands* operands, const std::vector<float>& d) {
  const EpilogueCase& gemm = operands->gemm;
  Matrices& sums = operands->sums;
  if (gemm.sums_of == MYGEMM_SUMS_NONE) {
    sums.expect_unchanged("sums");
    return;
  }
  const Summed x = summed(operands, d);
  std::vector<float> now = sums.now();
  int64_t wrong = 0;
  sums.each([&](int64_t place, int64_t i, int64_t) {
    const int64_t matrix = sums.number(place, gemm.sums_step);
    double sum = 0, magnitude = 0;
    for (int64_t l = 0; l < x.length; ++l) {
      const double element = x.at(matrix, i, l);
      sum += element;
      magnitude += std::fabs(element);
    }
    float& got = now[sums.place(place, i, 0)];
    if (!right(got, sum, magnitude, x.length) && ++wrong < 4) {
      ADD_FAILURE() << "sum " << i << " of matrix " << matrix << " is " << got << " instead of "
                    << sum;
    }
    got = sums.at(place, i, 0);
  });
  EXPECT_EQ(wrong, 0) << "sums";
  EXPECT_EQ(std::memcmp(now.data(), sums.image.data(), now.size() * sizeof(float)), 0)
      << "written between the matrices' sums";
  EXPECT_TRUE(sums.buffer.bands_intact()) << "written outside sums";
}

}  // namespace mygemm_tests
