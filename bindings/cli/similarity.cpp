// Cosines of the rows of a matrix through the library, timed and checked, see similarity.h.
#include "similarity.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "error.h"
#include "progress.h"
#include "run_call.h"

namespace mygemm::cli {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Error bound of FP32. A cosine is at most 1 and a sum of as many products as the fuller row has
// terms, each of which adds one rounding. A softmax has the rounding errors of its exponents, which
// are at most `scale`, and those of exp and of the sum.
double cosine_tolerance(const TermMatrix& matrix) {
  size_t longest = 0;
  for (const SparseRow& row : matrix.rows) longest = std::max(longest, row.size());
  return 0x1p-24 * static_cast<double>(longest + 2);
}

double softmax_tolerance(double scale) { return 0x1p-22 * (scale + 16); }

// At most this many rows, at even distances, are computed again in FP64.
constexpr int64_t kRowsChecked = 256;

// The median time of one call, from groups of calls that take a millisecond or more, so that clock
// and launch are negligible; fewer groups where one takes seconds.
double median_seconds(const std::string& what, Memory memory, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  const auto time_group = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    synchronize(memory);
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  };
  double estimate = 0;
  {
    const Progress progress(what);
    call();  // the first call loads code and touches memory
    synchronize(memory);
    estimate = time_group(1);
  }
  const int calls = static_cast<int>(std::clamp(1e-3 / estimate, 1.0, 1000.0));
  const int groups = estimate > 0.5 ? 3 : 9;
  Progress progress(what, groups);
  std::vector<double> seconds;
  for (int i = 0; i < groups; ++i) {
    seconds.push_back(time_group(calls));
    progress.advance();
  }
  std::nth_element(seconds.begin(), seconds.begin() + groups / 2, seconds.end());
  return seconds[static_cast<size_t>(groups / 2)];
}

std::span<const float> row_of(const Bytes& matrix, int64_t row, int64_t cols) {
  return matrix.as<float>().subspan(static_cast<size_t>(row * cols), static_cast<size_t>(cols));
}

// The larger of two errors, where NaN is the largest of all.
double worse(double a, double b) { return b <= a ? a : b; }

double require_at_most(double tolerance, double error, const char* operation) {
  if (!(error <= tolerance)) {
    throw Error(operation, " differs by ", error, " from FP64, and at most ", tolerance,
                " is tolerated");
  }
  return error;
}

int64_t check_step(int64_t rows) { return (rows + kRowsChecked - 1) / kRowsChecked; }

double transpose_error(const Bytes& in, const Bytes& out, int64_t rows, int64_t cols) {
  const auto a = in.as<float>(), b = out.as<float>();
  double error = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const double difference = double{a[static_cast<size_t>(r * cols + c)]} -
                                double{b[static_cast<size_t>(c * rows + r)]};
      error = worse(error, std::abs(difference));
    }
  }
  return error;
}

// Sparse rows make the FP64 product of even a large matrix cheap.
double product_error(const TermMatrix& matrix, const Bytes& cosines) {
  const auto rows = static_cast<int64_t>(matrix.rows.size());
  double error = 0;
  for (int64_t i = 0; i < rows; i += check_step(rows)) {
    std::vector<double> row(static_cast<size_t>(matrix.terms), 0.0);
    for (const auto& [column, weight] : matrix.rows[static_cast<size_t>(i)]) {
      row[static_cast<size_t>(column)] = weight;
    }
    const auto computed = row_of(cosines, i, rows);
    for (size_t j = 0; j < matrix.rows.size(); ++j) {
      double exact = 0;
      for (const auto& [column, weight] : matrix.rows[j]) {
        exact += row[static_cast<size_t>(column)] * weight;
      }
      error = worse(error, std::abs(exact - computed[j]));
    }
  }
  return error;
}

double softmax_error(const Bytes& cosines, const Bytes& shares, int64_t rows, double scale) {
  double error = 0;
  for (int64_t i = 0; i < rows; i += check_step(rows)) {
    const auto s = row_of(cosines, i, rows);
    const auto p = row_of(shares, i, rows);
    const double largest = scale * *std::max_element(s.begin(), s.end());
    double sum = 0;
    for (const float value : s) sum += std::exp(scale * value - largest);
    for (size_t j = 0; j < s.size(); ++j) {
      error = worse(error, std::abs(std::exp(scale * s[j] - largest) / sum - p[j]));
    }
  }
  return error;
}

// Copies of host matrices and of results, since a Buffer takes its content over.
Bytes copy_of(const Bytes& bytes) {
  Bytes copy(bytes.size());
  const auto from = bytes.as<std::byte>();
  std::copy(from.begin(), from.end(), copy.as<std::byte>().begin());
  return copy;
}

const float* floats(const Buffer& buffer) { return static_cast<const float*>(buffer.data()); }

// ---- the three operations: each fills its output and returns a measurement without the error ----

Measurement transpose(const Session& session, int64_t rows, int64_t terms, const Buffer& x,
                      Buffer* xt) {
  const double seconds = median_seconds("transpose", session.memory(), [&] {
    check(mygemm_transpose(session.handle(), sizeof(float), rows, terms, x.data(), terms,
                           xt->data(), rows));
  });
  const std::string plan = explanation([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_transpose(session.handle(), nullptr, sizeof(float), rows, terms, x.data(),
                                    terms, 0, xt->data(), rows, 0, 1, text, capacity, length);
  });
  const double elements = static_cast<double>(rows) * static_cast<double>(terms);
  return {"transpose",
          concat(rows, " x ", terms),
          chosen_kernel(plan),
          seconds,
          2 * sizeof(float) * elements,
          false,
          0};
}

// To column-major sgemm, row-major X (rows x terms) is X' and row-major X' is X.
Measurement sgemm(const Session& session, int64_t rows, int64_t terms, const Buffer& x,
                  const Buffer& xt, Buffer* s) {
  const float one = 1, zero = 0;
  const double seconds = median_seconds("sgemm", session.memory(), [&] {
    check(mygemm_sgemm(session.handle(), MYGEMM_OP_N, MYGEMM_OP_N, rows, rows, terms, &one,
                       floats(xt), rows, floats(x), terms, &zero, static_cast<float*>(s->data()),
                       rows));
  });
  const std::string plan = explanation([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_sgemm(session.handle(), nullptr, MYGEMM_OP_N, MYGEMM_OP_N, rows, rows,
                                terms, floats(xt), rows, 0, floats(x), terms, 0, floats(*s), rows,
                                0, 1, text, capacity, length);
  });
  const double n = static_cast<double>(rows);
  return {"sgemm", concat(rows, " x ", rows, " x ", terms), chosen_kernel(plan),
          seconds, 2 * n * n * static_cast<double>(terms),  true,
          0};
}

Measurement softmax(const Session& session, int64_t rows, float scale, const Buffer& s, Buffer* p) {
  const double seconds = median_seconds("softmax", session.memory(), [&] {
    check(mygemm_softmax(session.handle(), MYGEMM_SOFTMAX, rows, rows, scale, s.data(),
                         MYGEMM_R_32F, rows, p->data(), MYGEMM_R_32F, rows));
  });
  const std::string plan = explanation([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_softmax(session.handle(), nullptr, MYGEMM_SOFTMAX, rows, rows, s.data(),
                                  MYGEMM_R_32F, rows, p->data(), MYGEMM_R_32F, rows, text, capacity,
                                  length);
  });
  const double n = static_cast<double>(rows);
  return {"softmax", concat(rows, " x ", rows), chosen_kernel(plan),
          seconds,   2 * sizeof(float) * n * n, false,
          0};
}

}  // namespace

Similarity compare_rows(const Session& session, const TermMatrix& matrix, double temperature) {
  const Memory memory = session.memory();
  const auto rows = static_cast<int64_t>(matrix.rows.size());
  const auto square_bytes = matrix.rows.size() * matrix.rows.size() * sizeof(float);
  Similarity result;

  const Bytes dense = matrix.dense();
  const Buffer x(memory, copy_of(dense));
  Buffer xt(memory, dense.size());
  Buffer s(memory, square_bytes);
  Measurement transposing = transpose(session, rows, matrix.terms, x, &xt);
  Measurement multiplying = sgemm(session, rows, matrix.terms, x, xt, &s);
  result.cosines = s.take();
  {
    const Progress progress("checking");
    transposing.max_error =
        require_at_most(0, transpose_error(dense, xt.take(), rows, matrix.terms), "transpose");
    multiplying.max_error =
        require_at_most(cosine_tolerance(matrix), product_error(matrix, result.cosines), "sgemm");
  }

  const auto cosines = result.cosines.as<float>();
  for (size_t i = 0; i < matrix.rows.size(); ++i) cosines[i * matrix.rows.size() + i] = -kInfinity;
  const auto scale = static_cast<float>(1 / temperature);
  const Buffer masked(memory, copy_of(result.cosines));
  Buffer p(memory, square_bytes);
  Measurement normalizing = softmax(session, rows, scale, masked, &p);
  result.shares = p.take();
  const Progress progress("checking");
  normalizing.max_error =
      require_at_most(softmax_tolerance(scale),
                      softmax_error(result.cosines, result.shares, rows, scale), "softmax");
  result.measurements = {transposing, multiplying, normalizing};
  return result;
}

}  // namespace mygemm::cli
