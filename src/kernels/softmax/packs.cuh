// The steps of a softmax on the packs of one row that a thread holds in registers. Device only.
#pragma once

#include "kernels/reduce.cuh"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"

namespace mygemm {

// x of a row, and -inf, after scaling, for elements that the row does not have.
template <class Format, int kPacks, class Place>
__device__ __forceinline__ void load_x(const SoftmaxProblem& p, const Scale& scale,
                                       Packs<Format, kPacks>& x, const Source& row,
                                       const Place& at) {
  load(x, row, p.in.type, at, scale.missing());
  if (p.scale != 0.0f) return;
    // 0 * x is NaN for an infinite x; what is not there has no x.
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float value[Format::kPack];
    x.get(k, p.in.type, value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) {
      if (at.has(k, i)) value[i] *= 0.0f;
    }
    x.set(k, p.in.type, value);
  }
}

// Pairwise: sums of 2^n terms are n roundings long.
template <int kCount>
__device__ __forceinline__ float sum_of(const float* value) {
  if constexpr (kCount == 1) {
    return value[0];
  } else {
    return sum_of<kCount / 2>(value) + sum_of<kCount - kCount / 2>(value + kCount / 2);
  }
}

// The largest ordered(x).
template <class Format, int kPacks>
__device__ __forceinline__ float largest(const SoftmaxProblem& p, const Scale& scale,
                                         const Packs<Format, kPacks>& x) {
  float maximum = -INFINITY;
  if constexpr (Format::kKeepsFloats) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < Format::kPack; ++i) {
        maximum = fmaxf(maximum, ordered(scale, __uint_as_float(x.word[k][i])));
      }
    }
  } else {
    with_type<Format>(p.in.type, [&](auto zero) {
      using T = decltype(zero);
      const auto of_words = [&](auto larger) {
        unsigned word = x.word[0][0];
#pragma unroll
        for (int k = 0; k < kPacks; ++k) {
#pragma unroll
          for (int i = 0; i < Format::kWords; ++i) word = larger(word, x.word[k][i]);
        }
        return fmaxf(ordered(scale, element_of<T>(&word, 0)),
                     ordered(scale, element_of<T>(&word, 1)));
      };
      maximum = scale.sign > 0.0f
                    ? of_words([](unsigned a, unsigned b) { return larger_elements<T>(a, b); })
                    : of_words([](unsigned a, unsigned b) { return smaller_elements<T>(a, b); });
    });
  }
  return maximum;
}

// The sum of the exponentials. Softmax that keeps floats: they take the place of x.
template <class Format, int kPacks>
__device__ __forceinline__ float exponentials(const SoftmaxProblem& p, const Scale& scale,
                                              Packs<Format, kPacks>& x, const Reference& to) {
  float sum[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float e[Format::kPack];
    x.get(k, p.in.type, e);
    take_exponentials<Format::kAccurate>(scale, e, to);
    sum[k] = sum_of<Format::kPack>(e);
    if (Format::kKeepsFloats && !p.log_mode()) x.set(k, p.in.type, e);
  }
  return sum_of<kPacks>(sum);
}

// What a row's sum leaves for its elements: log: log(sum exp(s - max)), else what exponentials are
// multiplied by. `whole` is the row's maximum and sum; `own` counts exponentials that were taken
// against another reference than the row's.
template <class Format>
__device__ __forceinline__ float factor_of(const SoftmaxProblem& p, const Scale& scale,
                                           const MaxSum& whole, float own = 1.0f) {
  return p.log_mode() ? log_of_sum<Format::kAccurate>(scale, whole) : own / whole.sum;
}

// y in the place of what exponentials() left. Exponentials that were not kept are taken again.
template <class Format, int kPacks>
__device__ __forceinline__ void finish(const SoftmaxProblem& p, const Scale& scale,
                                       Packs<Format, kPacks>& x, float maximum, float factor) {
  const Reference to(scale, maximum);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float value[Format::kPack];
    x.get(k, p.in.type, value);
    if (p.log_mode()) {
#pragma unroll
      for (float& v : value) v = log_softmax_of(scale, v, maximum, factor);
    } else {
      if (!Format::kKeepsFloats) take_exponentials<Format::kAccurate>(scale, value, to);
#pragma unroll
      for (float& v : value) v *= factor;
    }
    x.set(k, p.out.type, value);
  }
}

// What the thread's packs add to the row's sum in the gradient; packs that are not there are 0.
template <class Format, int kPacks>
__device__ __forceinline__ float gradient_sum(const SoftmaxProblem& p,
                                              const Packs<Format, kPacks>& y,
                                              const Packs<Format, kPacks>& dy) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float y_value[Format::kPack], dy_value[Format::kPack];
    y.get(k, p.in.type, y_value);
    dy.get(k, p.dy.type, dy_value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) sum += gradient_term(p, y_value[i], dy_value[i]);
  }
  return sum;
}

// dx in the place of dy.
template <class Format, int kPacks>
__device__ __forceinline__ void gradients(const SoftmaxProblem& p, const Packs<Format, kPacks>& y,
                                          Packs<Format, kPacks>& dy, float sum) {
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float y_value[Format::kPack], value[Format::kPack];
    y.get(k, p.in.type, y_value);
    dy.get(k, p.dy.type, value);
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) {
      value[i] = gradient_of<Format::kAccurate>(p, y_value[i], value[i], sum);
    }
    dy.set(k, p.out.type, value);
  }
}

// The parts of a warp's lanes; every lane gets the result.
__device__ __forceinline__ MaxSum warp_merge(const Scale& scale, MaxSum part) {
  const float maximum = warp_reduce<Max>(part.maximum);
  const float own = part.sum * weight(scale, part.maximum, Reference(scale, maximum));
  return {maximum, warp_reduce<Sum>(own)};
}

}  // namespace mygemm
