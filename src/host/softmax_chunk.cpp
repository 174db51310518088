// Chunks of softmax for AVX-512, AVX2 and the baseline: one template, three widths. Host backend;
// see softmax_chunk.h. Operands are converted to FP32 in scratch memory first, so that the types
// of x, y and dy concern only loads and stores.
#include "host/softmax_chunk.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/exp.h"
#include "host/simd.h"
#include "host/stream.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Sums are FP32 within runs of this many columns and FP64 beyond: a lane's sum is rounded 16 times.
template <int kWidth>
constexpr int64_t kSumRun = 16 * kWidth;

template <class Type, int kWidth>
[[gnu::always_inline]] inline void load_run(const TypedMatrix& matrix, const Chunk& chunk,
                                            float factor, float padding, float* to) {
  using Storage = typename Type::Storage;
  typename Simd<kWidth>::Float value;
  const Storage* from =
      static_cast<const Storage*>(matrix.data) + chunk.row * matrix.ld + chunk.col;
  int64_t i = 0;
  for (; i + kWidth <= chunk.count; i += kWidth) {
    load_floats<Type, kWidth>(from + i, value);
    store(to + i, value * factor);
  }
  if (i < chunk.count) {
    load_tail<Type, kWidth>(from + i, chunk.count - i, value);
    store(to + i, value * factor);
    std::fill(to + chunk.count, to + i + kWidth, padding);
  }
}

// factor * the chunk of `matrix` in FP32, filled up with `padding` to whole vectors.
template <int kWidth>
[[gnu::always_inline]] inline void load_chunk(const TypedMatrix& matrix, const Chunk& chunk,
                                              float factor, float padding, float* to) {
  switch (matrix.type) {
    case MYGEMM_R_32F: return load_run<Fp32, kWidth>(matrix, chunk, factor, padding, to);
    case MYGEMM_R_16F: return load_run<Fp16, kWidth>(matrix, chunk, factor, padding, to);
    case MYGEMM_R_16BF: return load_run<Bf16, kWidth>(matrix, chunk, factor, padding, to);
  }
}

template <class Type, int kWidth>
[[gnu::always_inline]] inline void store_run(const float* from, float factor,
                                             const TypedMatrix& matrix, const Chunk& chunk,
                                             void* staging) {
  using Storage = typename Type::Storage;
  typename Simd<kWidth>::Float value;
  Storage* result = static_cast<Storage*>(matrix.data) + chunk.row * matrix.ld + chunk.col;
  Storage* to = chunk.stream ? static_cast<Storage*>(staging) : result;
  int64_t i = 0;
  for (; i + kWidth <= chunk.count; i += kWidth) {
    load(value, from + i);
    value *= factor;
    store_floats<Type, kWidth>(to + i, value);
  }
  if (i < chunk.count) {
    load(value, from + i);
    value *= factor;
    store_tail<Type, kWidth>(to + i, chunk.count - i, value);
  }
  if (chunk.stream) {
    stream_copy(result, staging, chunk.count * static_cast<int64_t>(sizeof(Storage)));
  }
}

// The chunk of `matrix` = factor * scratch.first.
template <int kWidth>
[[gnu::always_inline]] inline void store_chunk(ChunkScratch& scratch, float factor,
                                               const TypedMatrix& matrix, const Chunk& chunk) {
  const float* from = scratch.first;
  void* staging = scratch.second;
  switch (matrix.type) {
    case MYGEMM_R_32F: return store_run<Fp32, kWidth>(from, factor, matrix, chunk, staging);
    case MYGEMM_R_16F: return store_run<Fp16, kWidth>(from, factor, matrix, chunk, staging);
    case MYGEMM_R_16BF: return store_run<Bf16, kWidth>(from, factor, matrix, chunk, staging);
  }
}

template <int kWidth>
[[gnu::always_inline]] inline float largest(const float* values, int64_t count) {
  typename Simd<kWidth>::Float value;
  typename Simd<kWidth>::Float maximum{};
  maximum -= kInfinity;
  for (int64_t i = 0; i < count; i += kWidth) {
    load(value, values + i);
    maximum = value > maximum ? value : maximum;  // passes NaN over; the sum will not
  }
  float result = -kInfinity;
  for (int lane = 0; lane < kWidth; ++lane) result = std::fmax(result, maximum[lane]);
  return result;
}

template <int kWidth>
[[gnu::always_inline]] inline double add_lanes(const typename Simd<kWidth>::Float& value) {
  double sum = 0.0;
  for (int lane = 0; lane < kWidth; ++lane) sum += value[lane];
  return sum;
}

// size * (values - maximum)
template <int kWidth>
[[gnu::always_inline]] inline void load_differences(const float* values, double size, float maximum,
                                                    typename Simd<kWidth>::Double& difference) {
  typename Simd<kWidth>::Float value;
  load(value, values);
  difference = __builtin_convertvector(value, typename Simd<kWidth>::Double) - maximum;
  difference *= size;
}

// values = exp(size * (values - maximum)); their sum. The differences are taken with half as many
// lanes as the rest: compilers convert vectors of FP64 that fill a register, but no wider ones.
template <int kWidth>
[[gnu::always_inline]] inline double exponentiate_run(float* values, int64_t count, double size,
                                                      float maximum) {
  constexpr int kHalf = kWidth / 2;
  constexpr double kLog2E = 1.4426950408889634;
  float integers[kSumRun<kWidth>], rests[kSumRun<kWidth>];
  double total = 0.0;
  for (int64_t begin = 0; begin < count; begin += kSumRun<kWidth>) {
    const int64_t end = std::min(count, begin + kSumRun<kWidth>);
    const int64_t vectors = (end - begin + kWidth - 1) / kWidth * kWidth;
    for (int64_t i = 0; i < vectors; i += kHalf) {
      typename Simd<kHalf>::Double exponent;
      typename Simd<kHalf>::Float integer, rest;
      load_differences<kHalf>(values + begin + i, size * kLog2E, maximum, exponent);
      split_exponent<kHalf>(exponent, integer, rest);
      store(integers + i, integer);
      store(rests + i, rest);
    }
    typename Simd<kWidth>::Float value, rest;
    typename Simd<kWidth>::Float sum{};
    for (int64_t i = 0; i < vectors; i += kWidth) {
      load(value, integers + i);
      load(rest, rests + i);
      exponentiate_rest<kWidth>(value + kExpRound, rest, value);
      store(values + begin + i, value);
      sum += value;
    }
    total += add_lanes<kWidth>(sum);
  }
  return total;
}

// The sum of a, or of a * b where b is not nullptr.
template <int kWidth>
[[gnu::always_inline]] inline double add_run(const float* a, const float* b, int64_t count) {
  double total = 0.0;
  for (int64_t begin = 0; begin < count; begin += kSumRun<kWidth>) {
    typename Simd<kWidth>::Float left, right;
    typename Simd<kWidth>::Float sum{};
    const int64_t end = std::min(count, begin + kSumRun<kWidth>);
    for (int64_t i = begin; i < end; i += kWidth) {
      load(left, a + i);
      if (b != nullptr) {
        load(right, b + i);
        left *= right;
      }
      sum += left;
    }
    total += add_lanes<kWidth>(sum);
  }
  return total;
}

template <int kWidth>
[[gnu::always_inline]] inline RowSum reduce(const SoftmaxProblem& problem, const Chunk& chunk,
                                            ChunkScratch& scratch) {
  if (!problem.backward) {
    const Scale scale(problem);
    load_chunk<kWidth>(problem.in, chunk, scale.sign, -kInfinity, scratch.first);
    const float maximum = largest<kWidth>(scratch.first, chunk.count);
    // A chunk of nothing but -inf adds 0 to a row that has finite elements elsewhere.
    const float base = maximum == -kInfinity ? 0.0f : maximum;
    return {maximum, exponentiate_run<kWidth>(scratch.first, chunk.count, scale.size, base)};
  }
  load_chunk<kWidth>(problem.dy, chunk, 1.0f, 0.0f, scratch.second);
  if (problem.log_mode()) {
    return {0.0f, add_run<kWidth>(scratch.second, nullptr, chunk.count)};
  }
  load_chunk<kWidth>(problem.in, chunk, 1.0f, 0.0f, scratch.first);
  return {0.0f, add_run<kWidth>(scratch.first, scratch.second, chunk.count)};
}

template <int kWidth>
[[gnu::always_inline]] inline void write_forward(const SoftmaxProblem& problem, const Chunk& chunk,
                                                 const RowSum& row, bool reduced,
                                                 ChunkScratch& scratch) {
  const Scale scale(problem);
  // Nothing but -inf (and NaN), or a largest s that is no number in FP32: every element becomes
  // NaN.
  const double sum = std::fabs(scale.size * row.maximum) < kOverflow
                         ? row.sum
                         : std::numeric_limits<double>::quiet_NaN();
  float factor = 1.0f;
  if (problem.log_mode()) {
    load_chunk<kWidth>(problem.in, chunk, scale.sign, 0.0f, scratch.first);
    const double log_sum = std::log(sum);
    constexpr int kHalf = kWidth / 2;
    for (int64_t i = 0; i < chunk.count; i += kHalf) {
      typename Simd<kHalf>::Double value;
      load_differences<kHalf>(scratch.first + i, scale.size, row.maximum, value);
      value -= log_sum;
      store(scratch.first + i, __builtin_convertvector(value, typename Simd<kHalf>::Float));
    }
  } else {
    if (!reduced) {
      load_chunk<kWidth>(problem.in, chunk, scale.sign, 0.0f, scratch.first);
      exponentiate_run<kWidth>(scratch.first, chunk.count, scale.size, row.maximum);
    }
    factor = static_cast<float>(1.0 / sum);
  }
  store_chunk<kWidth>(scratch, factor, problem.out, chunk);
}

template <int kWidth>
[[gnu::always_inline]] inline void write_backward(const SoftmaxProblem& problem, const Chunk& chunk,
                                                  const RowSum& row, ChunkScratch& scratch) {
  const float sum = static_cast<float>(row.sum);
  typename Simd<kWidth>::Float y, dy;
  load_chunk<kWidth>(problem.in, chunk, 1.0f, 0.0f, scratch.first);
  load_chunk<kWidth>(problem.dy, chunk, 1.0f, 0.0f, scratch.second);
  for (int64_t i = 0; i < chunk.count; i += kWidth) {
    load(y, scratch.first + i);
    load(dy, scratch.second + i);
    if (problem.log_mode()) {
      exponentiate<kWidth>(y);
      store(scratch.first + i, problem.scale * (dy - y * sum));
    } else {
      store(scratch.first + i, problem.scale * y * (dy - sum));
    }
  }
  store_chunk<kWidth>(scratch, 1.0f, problem.out, chunk);
}

template <int kWidth>
[[gnu::always_inline]] inline void write(const SoftmaxProblem& problem, const Chunk& chunk,
                                         const RowSum& row, bool reduced, ChunkScratch& scratch) {
  if (problem.backward) {
    write_backward<kWidth>(problem, chunk, row, scratch);
  } else {
    write_forward<kWidth>(problem, chunk, row, reduced, scratch);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx2,fma")]] RowSum reduce_avx512(const SoftmaxProblem& problem,
                                                         const Chunk& chunk,
                                                         ChunkScratch& scratch) {
  return reduce<16>(problem, chunk, scratch);
}
[[gnu::target("avx512f,avx2,fma")]] void write_avx512(const SoftmaxProblem& problem,
                                                      const Chunk& chunk, const RowSum& row,
                                                      bool reduced, ChunkScratch& scratch) {
  write<16>(problem, chunk, row, reduced, scratch);
}
[[gnu::target("avx2,fma")]] RowSum reduce_avx2(const SoftmaxProblem& problem, const Chunk& chunk,
                                               ChunkScratch& scratch) {
  return reduce<8>(problem, chunk, scratch);
}
[[gnu::target("avx2,fma")]] void write_avx2(const SoftmaxProblem& problem, const Chunk& chunk,
                                            const RowSum& row, bool reduced,
                                            ChunkScratch& scratch) {
  write<8>(problem, chunk, row, reduced, scratch);
}
#endif

}  // namespace

void RowSum::add(const Scale& scale, const RowSum& next) {
  const float top = std::fmax(maximum, next.maximum);
  const auto rebased = [&](const RowSum& part) {
    if (part.maximum == top) return part.sum;
    return part.sum * std::exp(scale.size * (double{part.maximum} - top));
  };
  sum = rebased(*this) + rebased(next);
  maximum = top;
}

const ChunkKernels& chunk_kernels() {
#if defined(__x86_64__)
  static constexpr ChunkKernels kAvx512{reduce_avx512, write_avx512};
  static constexpr ChunkKernels kAvx2{reduce_avx2, write_avx2};
  if (simd_level() == SimdLevel::kAvx512) return kAvx512;
  if (simd_level() == SimdLevel::kAvx2) return kAvx2;
#endif
  static constexpr ChunkKernels kBaseline{reduce<4>, write<4>};
  return kBaseline;
}

}  // namespace mygemm::host
