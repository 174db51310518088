// See accuracy.h. Data and comparisons are computed on the host, on every machine: that takes about
// a second, and depends on no kernel.
#include "accuracy.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "parallel.h"
#include "sgemm.h"

namespace bench {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;

// A dense column-major operand. `contiguous`: a column holds a line of op(A) or op(B).
std::vector<float> operand(const Distribution& kind, uint32_t seed, Side side, int64_t lines,
                           int64_t k, bool contiguous) {
  std::vector<float> values(static_cast<size_t>(lines * k));
  fill_matrix(kind, seed, side, {lines, k, contiguous, contiguous ? k : lines}, 0, values.data());
  return values;
}

std::vector<double> widened(const std::vector<float>& values) {
  return std::vector<double>(values.begin(), values.end());
}

void make_magnitudes(std::vector<double>* values) {
  for (double& value : *values) {
    value = std::fabs(value);
  }
}

// op(A) op(B) in FP64.
using Product64 =
    std::function<std::vector<double>(const std::vector<double>& a, const std::vector<double>& b)>;

template <class Dgemm>
Product64 product_by_library(const Machine& machine, const BlasGemm& gemm, const Dgemm& dgemm) {
  return [&machine, gemm, dgemm](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> c(static_cast<size_t>(gemm.m) * static_cast<size_t>(gemm.n));
    const Buffer a_buffer(machine, a.size() * sizeof(double));
    const Buffer b_buffer(machine, b.size() * sizeof(double));
    const Buffer c_buffer(machine, c.size() * sizeof(double));
    machine.copy_from_host(a_buffer.data(), a.data(), a_buffer.bytes());
    machine.copy_from_host(b_buffer.data(), b.data(), b_buffer.bytes());
    dgemm(gemm, reinterpret_cast<const double*>(a_buffer.data()),
          reinterpret_cast<const double*>(b_buffer.data()),
          reinterpret_cast<double*>(c_buffer.data()));
    machine.wait();
    machine.copy_to_host(c.data(), c_buffer.data(), c_buffer.bytes());
    return c;
  };
}

// The FP64 product where no library is found: slow, for small products.
Product64 product_by_loops(const BlasGemm& gemm) {
  return [gemm](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> c(static_cast<size_t>(gemm.m) * static_cast<size_t>(gemm.n));
    in_parallel(gemm.n, [&](int64_t j) {
      double* column = &c[static_cast<size_t>(j * gemm.m)];
      for (int64_t l = 0; l < gemm.k; ++l) {
        const double factor =
            b[static_cast<size_t>(gemm.transb ? j + l * gemm.ldb : l + j * gemm.ldb)];
        for (int64_t i = 0; i < gemm.m; ++i) {
          column[i] +=
              factor * a[static_cast<size_t>(gemm.transa ? l + i * gemm.lda : i + l * gemm.lda)];
        }
      }
    });
    return c;
  };
}

// A way to compute a product in FP64, and its name.
Product64 reference_product(Session* session, const BlasGemm& gemm, std::string* name) {
  const Machine& machine = session->machine;
  if (Cublas* cublas = session->cublas.get()) {
    *name = "cublasDgemm";
    return product_by_library(machine, gemm,
                              [cublas](const auto&... arguments) { cublas->dgemm(arguments...); });
  }
  if (const Cblas* cblas = session->cblas.get()) {
    *name = "cblas_dgemm of " + cblas->name();
    return product_by_library(machine, gemm,
                              [cblas](const auto&... arguments) { cblas->dgemm(arguments...); });
  }
  *name = "loops";
  return product_by_loops(gemm);
}

// `magnitude` is |A| |B|.
Errors errors_of(const std::vector<float>& c, const std::vector<double>& reference,
                 const std::vector<double>& magnitude) {
  Errors errors;
  double sum_of_errors = 0, sum_of_references = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const double error = std::fabs(static_cast<double>(c[i]) - reference[i]);
    if (std::isnan(error)) {
      return {error, error};
    }
    errors.largest = std::max(errors.largest, error == 0 ? 0 : error / magnitude[i]);
    sum_of_errors += error * error;
    sum_of_references += reference[i] * reference[i];
  }
  errors.frobenius = sum_of_errors == 0 ? 0 : std::sqrt(sum_of_errors / sum_of_references);
  return errors;
}

// The error of a sum of k products in the worst order, each operation rounded.
double worst_error(int64_t k) {
  const double rounding = static_cast<double>(k) * kUnitRoundoff;
  return rounding < 1 ? rounding / (1 - rounding) : std::numeric_limits<double>::infinity();
}

}  // namespace

const Contender* Accuracy::peer() const {
  const auto found =
      std::find_if(contenders.begin(), contenders.end(),
                   [](const Contender& contender) { return !contender.author.kernel; });
  return found == contenders.end() ? nullptr : &*found;
}

bool Accuracy::wrong(const Contender& contender) const {
  return !(contender.errors.largest <= tolerance);  // NaN is wrong
}

bool Accuracy::wrong() const {
  return std::any_of(contenders.begin(), contenders.end(), [this](const Contender& contender) {
    return contender.author.kernel && wrong(contender);
  });
}

Accuracy measure_accuracy(Session* session, const SgemmCase& problem, const std::string& data,
                          uint32_t seed, const std::vector<std::string>& also) {
  if (std::max({problem.m, problem.n, problem.k}) > INT_MAX) {
    throw std::length_error("BLAS libraries take no sizes of more than 31 bits");
  }
  const Machine& machine = session->machine;
  const Distribution& kind = distribution(data);
  const std::vector<float> a =
      operand(kind, seed, Side::kA, problem.m, problem.k, problem.transa != "N");
  const std::vector<float> b =
      operand(kind, seed, Side::kB, problem.n, problem.k, problem.transb == "N");

  Accuracy result;
  result.data = data;
  result.problem = problem;
  result.tolerance = kind.errors == Errors32::kNone ? 0 : worst_error(problem.k);
  const Product64 product64 = reference_product(session, blas_gemm(problem), &result.reference);
  std::vector<double> a64 = widened(a), b64 = widened(b);
  const std::vector<double> reference = product64(a64, b64);
  make_magnitudes(&a64);
  make_magnitudes(&b64);
  const std::vector<double> magnitude = product64(a64, b64);

  const Product product(machine, problem, 1);
  machine.copy_from_host(product.a_operand().first(), a.data(), product.a_operand().bytes());
  machine.copy_from_host(product.b_operand().first(), b.data(), product.b_operand().bytes());
  std::vector<float> c(reference.size());
  compute_in_turn(session, product_contest(session, problem, product, 1), also,
                  [&](const Author& author) {
                    machine.copy_to_host(c.data(), product.output().first(), c.size() * 4);
                    result.contenders.push_back({author, errors_of(c, reference, magnitude)});
                  });
  return result;
}

}  // namespace bench
