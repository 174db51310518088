// Bias and activation of the host's products for AVX-512, AVX2 and the baseline. Host backend; see
// epilogue.h. In a file of its own so that no compiler fuses the bias with a product before it:
// each step is rounded by itself, as in a program that makes the steps one after another.
#include "host/epilogue.h"

#include <algorithm>

#include "host/exp.h"
#include "host/parallel.h"
#include "host/simd.h"
#include "host/typed_array.h"

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

// t times the derivative of gelu() at x: s + x s (1 - s) 2u', s = 1 / (1 + e), e = exp(-2 u). 1 - s
// is e s; x is bounded so that e is finite.
template <int kWidth>
[[gnu::always_inline]] inline void times_gelu_derivative(typename Simd<kWidth>::Float& t,
                                                         typename Simd<kWidth>::Float x) {
  using Float = typename Simd<kWidth>::Float;
  constexpr float kTwoU = 1.5957691216f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  const Float most = Float{} + 10.0f;
  x = x > most ? most : x < -most ? -most : x;  // NaN stays
  const Float square = x * x;
  Float e = x * (1.0f + kCubic * square) * -kTwoU;
  exponentiate<kWidth>(e);
  const Float s = 1.0f / (1.0f + e);
  t *= s + x * s * (e * s * kTwoU * (1.0f + 3.0f * kCubic * square));
}

// A vector of results; aux has as many floats, which GELU writes and gradients read.
template <int kWidth, mygemmActivation_t kActivation>
[[gnu::always_inline]] inline void finish_vector(float* d, const float* bias, float* aux) {
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
  if constexpr (kActivation == MYGEMM_ACTIVATION_GELU) {
    store(aux, t);
    gelu<kWidth>(t);
  }
  if constexpr (kActivation == MYGEMM_ACTIVATION_RELU_GRADIENT) {
    Float bits;
    load(bits, aux);
    t = bits != zero ? t : zero;
  }
  if constexpr (kActivation == MYGEMM_ACTIVATION_GELU_GRADIENT) {
    Float x;
    load(x, aux);
    times_gelu_derivative<kWidth>(t, x);
  }
  store(d, t);
}

// The elements of aux of `count` rows of a column; bits as 0 and 1. Numbers may be negative.
inline void load_aux(const void* aux, bool is_bits, int64_t number, int64_t count, float* to) {
  if (!is_bits) {
    std::copy_n(static_cast<const float*>(aux) + number, count, to);
    return;
  }
  const auto* bytes = static_cast<const uint8_t*>(aux);
  for (int64_t i = number; i < number + count; ++i) {
    *to++ = static_cast<float>(bytes[i >> 3] >> (i & 7) & 1);
  }
}

// The last rows of a column are computed in a copy as wide as a vector: the same instructions, so
// the same bits, as for any other row.
template <int kWidth, mygemmActivation_t kActivation, class Block>
[[gnu::always_inline]] inline void finish_columns(const Block& block, int64_t rows,
                                                  int64_t columns) {
  constexpr bool kBits = kActivation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  constexpr bool kReadsAux = kBits || kActivation == MYGEMM_ACTIVATION_GELU_GRADIENT;
  const bool stores_aux = kActivation == MYGEMM_ACTIVATION_GELU && block.aux;
  const float* bias = block.bias;
  for (int64_t j = 0; j < columns; ++j) {
    float* const d = block.d + j * block.ld;
    const int64_t number = block.aux_number + j * block.ldaux;
    for (int64_t i = 0; i < rows; i += kWidth) {
      const int64_t count = std::min<int64_t>(kWidth, rows - i);
      float aux[kWidth] = {};
      if constexpr (kReadsAux) load_aux(block.aux, kBits, number + i, count, aux);
      if (count == kWidth) {
        finish_vector<kWidth, kActivation>(d + i, bias ? bias + i : nullptr, aux);
      } else {
        float last[kWidth] = {}, last_bias[kWidth] = {};
        std::copy_n(d + i, count, last);
        if (bias) std::copy_n(bias + i, count, last_bias);
        finish_vector<kWidth, kActivation>(last, bias ? last_bias : nullptr, aux);
        std::copy_n(last, count, d + i);
      }
      if (stores_aux) std::copy_n(aux, count, static_cast<float*>(block.aux) + number + i);
    }
  }
}

#if defined(__x86_64__)
template <mygemmActivation_t kActivation, class Block>
[[gnu::target("avx512f,avx2,fma")]] void finish_avx512(const Block& block, int64_t rows,
                                                       int64_t columns) {
  finish_columns<16, kActivation>(block, rows, columns);
}
template <mygemmActivation_t kActivation, class Block>
[[gnu::target("avx2,fma")]] void finish_avx2(const Block& block, int64_t rows, int64_t columns) {
  finish_columns<8, kActivation>(block, rows, columns);
}
#endif
template <mygemmActivation_t kActivation, class Block>
void finish_baseline(const Block& block, int64_t rows, int64_t columns) {
  finish_columns<4, kActivation>(block, rows, columns);
}

// The fastest variant for this processor.
template <mygemmActivation_t kActivation, class Block>
constexpr auto fastest() {
#if defined(__x86_64__)
  if (simd_level() == SimdLevel::kAvx512) return finish_avx512<kActivation, Block>;
  if (simd_level() == SimdLevel::kAvx2) return finish_avx2<kActivation, Block>;
#endif
  return finish_baseline<kActivation, Block>;
}

// Elements of D in one task: enough to amortise the scheduling of tasks.
constexpr int64_t kElementsAtATime = 16384;
// Rows of a column whose sums are not in D.
constexpr int64_t kRowsAtATime = 1024;

}  // namespace

Epilogue::Epilogue(const GemmProblem& problem) : problem_(problem), finish_columns_(nullptr) {
  bias_ = static_cast<const float*>(problem.epilogue.bias);
  stride_bias_ = problem.epilogue.stride_bias;
  if (bias_ && problem.d.type != MYGEMM_R_32F) {
    const int64_t matrices = stride_bias_ == 0 ? 1 : problem.batch_count;
    converted_bias_.resize(static_cast<size_t>(matrices * problem.m));
    for (int64_t i = 0; i < matrices; ++i) {
      load_elements(problem.d.type, problem.epilogue.bias, i * stride_bias_, problem.m,
                    converted_bias_.data() + i * problem.m);
    }
    bias_ = converted_bias_.data();
    if (stride_bias_ != 0) stride_bias_ = problem.m;
  }
  switch (problem.epilogue.activation) {
    case MYGEMM_ACTIVATION_NONE:
      if (problem.epilogue.bias) finish_columns_ = fastest<MYGEMM_ACTIVATION_NONE, Block>();
      break;
    case MYGEMM_ACTIVATION_RELU: finish_columns_ = fastest<MYGEMM_ACTIVATION_RELU, Block>(); break;
    case MYGEMM_ACTIVATION_GELU: finish_columns_ = fastest<MYGEMM_ACTIVATION_GELU, Block>(); break;
    case MYGEMM_ACTIVATION_RELU_GRADIENT:
      finish_columns_ = fastest<MYGEMM_ACTIVATION_RELU_GRADIENT, Block>();
      break;
    case MYGEMM_ACTIVATION_GELU_GRADIENT:
      finish_columns_ = fastest<MYGEMM_ACTIVATION_GELU_GRADIENT, Block>();
      break;
  }
}

void Epilogue::finish(int64_t matrix, int64_t row, int64_t column, int64_t rows, int64_t columns,
                      float* sums, int64_t ld) const {
  const Operand& d = problem_.d;
  const mygemm::Epilogue& epilogue = problem_.epilogue;
  if (finish_columns_) {
    const float* bias = bias_ ? bias_ + matrix * stride_bias_ + row : nullptr;
    finish_columns_({sums, ld, bias, epilogue.aux,
                     matrix * epilogue.stride_aux + row + column * epilogue.ldaux, epilogue.ldaux},
                    rows, columns);
  }
  with_type(d.type, [&](auto type) {
    using Type = decltype(type);
    using Element = typename Type::Storage;
    Element* to = d.matrix<Element>(matrix) + row + column * d.ld;
    if (static_cast<void*>(to) == sums) return;
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) store_float<Type>(to + i + j * d.ld, sums[i + j * ld]);
    }
  });
}

void Epilogue::finish_in_place(int64_t matrix, int64_t row, int64_t column, int64_t rows,
                               int64_t columns) const {
  const Operand& d = problem_.d;
  finish(matrix, row, column, rows, columns, d.matrix<float>(matrix) + row + column * d.ld, d.ld);
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
    finish_in_place(matrix, 0, column, problem_.m, columns);
  });
}

void Epilogue::scale(int64_t matrix, int64_t column, int64_t columns) const {
  const float beta = problem_.epilogue.beta.value;
  for (int64_t j = column; j < column + columns; ++j) {
    float* d = problem_.d.matrix<float>(matrix) + j * problem_.d.ld;
    const auto [begin, end] = problem_.filled_rows(j);
    if (beta == 0.0f) {
      std::fill(d + begin, d + end, 0.0f);
      continue;
    }
    const float* c = problem_.c.matrix<const float>(matrix) + j * problem_.c.ld;
    for (int64_t i = begin; i < end; ++i) d[i] = beta * c[i];
  }
}

void Epilogue::finish_without_sums() const {
  const bool scales = !problem_.epilogue.beta.is(1.0f) || !problem_.in_place();
  if (!scales && !finish_columns_) return;
  for_columns([&](int64_t matrix, int64_t column, int64_t columns) {
    if (problem_.d.type != MYGEMM_R_32F) {
      for (int64_t j = 0; j < columns; ++j) finish_scaled_column(matrix, column + j);
      return;
    }
    if (scales) scale(matrix, column, columns);
    finish_in_place(matrix, 0, column, problem_.m, columns);
  });
}

// beta * C is not in D before it is finished.
void Epilogue::finish_scaled_column(int64_t matrix, int64_t column) const {
  const float beta = problem_.epilogue.beta.value;
  const auto [begin, end] = problem_.filled_rows(column);
  for (int64_t row = begin; row < end; row += kRowsAtATime) {
    const int64_t rows = std::min(kRowsAtATime, end - row);
    float sums[kRowsAtATime] = {};
    if (beta != 0.0f) {
      const Operand& c = problem_.c;
      load_elements(c.type, c.address(matrix), row + column * c.ld, rows, sums);
      for (int64_t i = 0; i < rows; ++i) sums[i] *= beta;
    }
    finish(matrix, row, column, rows, 1, sums, rows);
  }
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
