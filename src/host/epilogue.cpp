// Bias and activation of the host's products for AVX-512, AVX2 and the baseline. Host backend; see
// epilogue.h. In a file of its own so that no compiler fuses the bias with a product before it:
// each step is rounded by itself, as in a program that makes the steps one after another.
#include "host/epilogue.h"

#include <algorithm>

#include "host/exp.h"
#include "host/parallel.h"
#include "host/simd.h"

namespace mygemm::host {
namespace {

// t / (1 + exp(-2 u)), -2 u = t * (kLinear + kCubic * t^2). The error grows with |2 u|, as that
// of an exponent does; where |2 u| is large and t negative, the result is next to 0.
template <int kWidth>
[[gnu::always_inline]] inline void gelu(typename Simd<kWidth>::Float& t) {
  constexpr float kLinear = -1.5957691216f;   // -2 sqrt(2 / pi)
  constexpr float kCubic = -0.071354816272f;  // the same times 0.044715
  typename Simd<kWidth>::Float exponential = t * (kLinear + kCubic * (t * t));
  exponentiate<kWidth>(exponential);
  t = t / (1.0f + exponential);
}

template <int kWidth, mygemmActivation_t kActivation>
[[gnu::always_inline]] inline void finish_vector(float* d, const float* bias) {
  using Float = typename Simd<kWidth>::Float;
  Float t;
  load(t, d);
  if (bias) {
    Float addend;
    load(addend, bias);
    t += addend;
  }
  const Float zero{};
  if constexpr (kActivation == MYGEMM_ACTIVATION_RELU) t = t <= zero ? zero : t;  // NaN stays
  if constexpr (kActivation == MYGEMM_ACTIVATION_GELU) gelu<kWidth>(t);
  store(d, t);
}

// The last rows of a column are computed in a copy as wide as a vector: the same instructions, so
// the same bits, as for any other row.
template <int kWidth, mygemmActivation_t kActivation>
[[gnu::always_inline]] inline void finish_columns(float* d, int64_t ld, const float* bias,
                                                  int64_t rows, int64_t columns) {
  const int64_t whole = rows / kWidth * kWidth, rest = rows - whole;
  float last_bias[kWidth] = {};
  if (bias) std::copy_n(bias + whole, rest, last_bias);
  for (int64_t j = 0; j < columns; ++j, d += ld) {
    for (int64_t i = 0; i < whole; i += kWidth) {
      finish_vector<kWidth, kActivation>(d + i, bias ? bias + i : nullptr);
    }
    if (rest == 0) continue;
    float last[kWidth] = {};
    std::copy_n(d + whole, rest, last);
    finish_vector<kWidth, kActivation>(last, bias ? last_bias : nullptr);
    std::copy_n(last, rest, d + whole);
  }
}

#if defined(__x86_64__)
template <mygemmActivation_t kActivation>
[[gnu::target("avx512f,avx2,fma")]] void finish_avx512(float* d, int64_t ld, const float* bias,
                                                       int64_t rows, int64_t columns) {
  finish_columns<16, kActivation>(d, ld, bias, rows, columns);
}
template <mygemmActivation_t kActivation>
[[gnu::target("avx2,fma")]] void finish_avx2(float* d, int64_t ld, const float* bias, int64_t rows,
                                             int64_t columns) {
  finish_columns<8, kActivation>(d, ld, bias, rows, columns);
}
#endif
template <mygemmActivation_t kActivation>
void finish_baseline(float* d, int64_t ld, const float* bias, int64_t rows, int64_t columns) {
  finish_columns<4, kActivation>(d, ld, bias, rows, columns);
}

// The fastest variant for this processor.
template <mygemmActivation_t kActivation>
constexpr auto fastest() {
#if defined(__x86_64__)
  if (simd_level() == SimdLevel::kAvx512) return finish_avx512<kActivation>;
  if (simd_level() == SimdLevel::kAvx2) return finish_avx2<kActivation>;
#endif
  return finish_baseline<kActivation>;
}

// Elements of D in one task: enough to amortise the scheduling of tasks.
constexpr int64_t kElementsAtATime = 16384;

}  // namespace

Epilogue::Epilogue(const GemmProblem& problem) : problem_(problem), finish_columns_(nullptr) {
  switch (problem.epilogue.activation) {
    case MYGEMM_ACTIVATION_NONE:
      if (problem.epilogue.bias) finish_columns_ = fastest<MYGEMM_ACTIVATION_NONE>();
      break;
    case MYGEMM_ACTIVATION_RELU: finish_columns_ = fastest<MYGEMM_ACTIVATION_RELU>(); break;
    case MYGEMM_ACTIVATION_GELU: finish_columns_ = fastest<MYGEMM_ACTIVATION_GELU>(); break;
  }
}

void Epilogue::finish_some(int64_t matrix, int64_t row, int64_t column, int64_t rows,
                           int64_t columns) const {
  const Operand& d = problem_.d;
  const float* bias = static_cast<const float*>(problem_.epilogue.bias);
  if (bias) bias += matrix * problem_.epilogue.stride_bias + row;
  finish_columns_(d.matrix<float>(matrix) + row + column * d.ld, d.ld, bias, rows, columns);
}

// Calls body(matrix, column, columns) for all columns of all matrices, on several threads.
template <class Body>
void Epilogue::for_columns(const Body& body) const {
  const int64_t at_a_time = std::max<int64_t>(1, kElementsAtATime / problem_.m);
  const int64_t groups = ceil_div(problem_.n, at_a_time);
  const double bytes = 8.0 * static_cast<double>(problem_.m) * static_cast<double>(problem_.n) *
                       static_cast<double>(problem_.batch_count);
  parallel_for(groups * problem_.batch_count, threads_for(bytes, kBytesPerThread),
               [&](int64_t task, int) {
                 const int64_t column = task % groups * at_a_time;
                 body(task / groups, column, std::min(at_a_time, problem_.n - column));
               });
}

void Epilogue::finish_all() const {
  if (!finish_columns_) return;
  for_columns([&](int64_t matrix, int64_t column, int64_t columns) {
    finish_some(matrix, 0, column, problem_.m, columns);
  });
}

void Epilogue::scale(int64_t matrix, int64_t column, int64_t columns) const {
  const float beta = problem_.epilogue.beta.value;
  for (int64_t j = column; j < column + columns; ++j) {
    float* d = problem_.d.matrix<float>(matrix) + j * problem_.d.ld;
    if (beta == 0.0f) {
      std::fill_n(d, problem_.m, 0.0f);
      continue;
    }
    const float* c = problem_.c.matrix<const float>(matrix) + j * problem_.c.ld;
    for (int64_t i = 0; i < problem_.m; ++i) d[i] = beta * c[i];
  }
}

void Epilogue::finish_without_sums() const {
  const bool scales = !problem_.epilogue.beta.is(1.0f) || !problem_.in_place();
  if (!scales && !finish_columns_) return;
  for_columns([&](int64_t matrix, int64_t column, int64_t columns) {
    if (scales) scale(matrix, column, columns);
    finish(matrix, 0, column, problem_.m, columns);
  });
}

void Epilogue::copy_c_to_d() const {
  if (problem_.in_place() || problem_.epilogue.beta.is(0.0f)) return;
  for_columns([&](int64_t matrix, int64_t column, int64_t columns) {
    for (int64_t j = column; j < column + columns; ++j) {
      std::copy_n(problem_.c.matrix<const float>(matrix) + j * problem_.c.ld, problem_.m,
                  problem_.d.matrix<float>(matrix) + j * problem_.d.ld);
    }
  });
}

}  // namespace mygemm::host
