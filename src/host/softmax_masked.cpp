// Masked softmax on the host, row by row in FP64. Host backend.
#include <cmath>
#include <limits>

#include "host/parallel.h"
#include "host/softmax.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kElementsPerTask = 16 * 1024;
// A sum that rounds to an infinity in FP32 begins here.
constexpr double kOverflow = 0x1.ffffffp127;

float get(const void* data, mygemmDataType_t type, int64_t i) {
  float value = 0.0f;
  with_type(type, [&](auto tag) {
    using Type = decltype(tag);
    value = load_float<Type>(static_cast<const typename Type::Storage*>(data) + i);
  });
  return value;
}

float get(const TypedMatrix& matrix, int64_t r, int64_t c) {
  return get(matrix.data, matrix.type, r * matrix.ld + c);
}

void set(const TypedMatrix& matrix, int64_t r, int64_t c, double value) {
  with_type(matrix.type, [&](auto tag) {
    using Type = decltype(tag);
    store_float<Type>(static_cast<typename Type::Storage*>(matrix.data) + r * matrix.ld + c,
                      static_cast<float>(value));
  });
}

void forward_row(const SoftmaxProblem& p, int64_t r) {
  const SoftmaxMasking& m = *p.masking;
  const SoftmaxMasking::Place at = m.place_of(r);
  const int64_t valid = m.valid_columns(at, p.cols);
  const int64_t mask_row = m.mask_strides.offset(at);
  const auto score = [&](int64_t c) {
    const double mask = m.mask ? get(m.mask, m.mask_type, mask_row + c * m.mask_stride_col) : 0.0;
    if (mask == -kInfinity) return -kInfinity;
    double s = double{p.scale} * get(p.in, r, c);
    if (m.softcap != 0.0f) s = m.softcap * std::tanh(s / m.softcap);
    return s + mask;
  };
  double maximum = -kInfinity;
  bool has_nan = false;
  for (int64_t c = 0; c < valid; ++c) {
    const double t = score(c);
    has_nan = has_nan || std::isnan(t);
    maximum = std::fmax(maximum, t);
  }
  const bool empty = !has_nan && maximum <= -kOverflow;
  const bool undefined = has_nan || (!empty && !(std::fabs(maximum) < kOverflow));
  double sum = 0.0;
  for (int64_t c = 0; c < valid && !empty && !undefined; ++c) sum += std::exp(score(c) - maximum);
  const double masked = p.log_mode() ? -kInfinity : 0.0;
  for (int64_t c = 0; c < p.cols; ++c) {
    double y = masked;
    if (empty) {
      if (!m.empty_rows_are_zero) y = kNaN;
    } else if (c < valid) {
      const double d = score(c) - maximum;
      y = undefined ? kNaN : p.log_mode() ? d - std::log(sum) : std::exp(d) / sum;
    }
    set(p.out, r, c, y);
  }
}

void backward_row(const SoftmaxProblem& p, int64_t r) {
  const SoftmaxMasking& m = *p.masking;
  const int64_t valid = m.valid_columns(m.place_of(r), p.cols);
  const double masked = p.log_mode() ? -kInfinity : 0.0;
  double sum = 0.0;
  for (int64_t c = 0; c < valid; ++c) {
    const double y = get(p.in, r, c);
    if (y != masked) sum += p.log_mode() ? get(p.dy, r, c) : y * get(p.dy, r, c);
  }
  for (int64_t c = 0; c < p.cols; ++c) {
    const double y = c < valid ? get(p.in, r, c) : masked;
    double dx = 0.0;
    if (y != masked) {
      const double dy = get(p.dy, r, c);
      dx = p.scale * (p.log_mode() ? dy - std::exp(y) * sum : y * (dy - sum));
      if (m.softcap != 0.0f) {
        const double cosine = std::cosh(double{p.scale} * get(m.x, r, c) / m.softcap);
        dx /= cosine * cosine;
      }
    }
    set(p.out, r, c, dx);
  }
}

}  // namespace

Status launch_softmax_masked(const SoftmaxProblem& problem, const SoftmaxConfig&,
                             const LaunchContext&) {
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  const int threads = threads_for(elements * sizeof(float), kBytesPerThread);
  const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / problem.cols);
  parallel_for(ceil_div(problem.rows, rows_per_task), threads, [&](int64_t task, int) {
    const int64_t end = std::min(problem.rows, (task + 1) * rows_per_task);
    for (int64_t row = task * rows_per_task; row < end; ++row) {
      problem.backward ? backward_row(problem, row) : forward_row(problem, row);
    }
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
