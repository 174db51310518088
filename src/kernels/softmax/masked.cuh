// The steps of a masked softmax on the elements of one row that a thread holds in registers. Device
// only.
//
// Elements are held as t = s + mask in FP32, -inf where they are masked. The elements of a pack
// that come before the row's first one that is masked by its number are the first `rest`.
#pragma once

#include "kernels/softmax/masked.h"
#include "kernels/softmax/packs.cuh"

namespace mygemm {

// A row, or columns of a wide one, as far as it is not masked.
struct MaskedRow {
  int64_t number, column;  // of the first element
  int64_t mask;            // number of the mask's element for that
  int64_t valid;           // columns that are not masked by their number
  int64_t cols;
  int64_t of_group;  // its number in its group

  __device__ __forceinline__ MaskedRow(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                       const MaskedDivisors& divisors, int64_t r)
      : number(r), column(0), cols(p.cols) {
    const SoftmaxMasking::Place at = divisors.narrow ? divisors.place_of(r) : m.place_of(r);
    valid = m.valid_columns(at, p.cols);
    mask = m.mask_strides.offset(at);
    of_group = at.row;
  }
  // `count` columns from `first` on, or as many as there are.
  __device__ __forceinline__ MaskedRow part(const SoftmaxMasking& m, int64_t first,
                                            int count) const {
    MaskedRow some = *this;
    some.column = first;
    some.mask += first * m.mask_stride_col;
    some.valid = min(int64_t{count}, valid - first);
    some.cols = min(int64_t{count}, cols - first);
    return some;
  }
  template <class Format>
  __device__ __forceinline__ char* address(const TypedMatrix& matrix) const {
    return address_of<Format>(matrix, number, column);
  }
};

// The packs of a thread: number first + k * stride for k = 0 on.
struct MaskedPlace {
  int first, stride;

  __device__ __forceinline__ int pack(int k) const { return first + k * stride; }
};

// The part of a place that lies before element `end` of a row, for load() and store().
template <int kPack>
struct PartOfPlace {
  static constexpr bool kRagged = false;
  MaskedPlace at;
  int end;

  __device__ __forceinline__ PartOfPlace(const MaskedPlace& place, int64_t columns)
      : at(place), end(static_cast<int>(columns)) {}
  __device__ int pack(int k) const { return at.pack(k); }
  __device__ bool whole(int k) const { return at.pack(k) * kPack < end; }
  __device__ bool has(int k, int i) const { return at.pack(k) * kPack + i < end; }
  // Whether pack k is computed on. Single elements all are, for want of branches: those past the
  // end are -inf.
  __device__ bool counts(int k) const { return kPack == 1 || whole(k); }
  // Elements of pack k before the end; 0 or less, and kPack or more, mean none and all.
  __device__ int rest(int k) const { return end - at.pack(k) * kPack; }
};

// The factors of x: s = scale * x, or cap * tanh(inner * x).
struct MaskedScale {
  float scale, cap, inner;

  __device__ __forceinline__ MaskedScale(const SoftmaxProblem& p, const SoftmaxMasking& m)
      : scale(p.scale), cap(m.softcap), inner(m.capped_scale) {}
};

// The exponential of t - reference, which is 0 or less.
template <bool kAccurate>
__device__ __forceinline__ float masked_exp(float difference) {
  if constexpr (kAccurate) {
    constexpr float kBias = kRounder + 127.0f;  // see accurate_exp()
    const float biased = fmaxf(fmaf(difference, kLog2E, kBias), kRounder + 1.0f);
    const float integer = biased - kBias;
    const float rest = fmaf(difference, kLog2ELow, fmaf(difference, kLog2E, -integer));
    return ptx::exp2_approx(rest) * __uint_as_float(__float_as_uint(biased) << 23);
  } else {
    return ptx::exp2_approx(difference * kLog2E);
  }
}

// The exponentials' reference, from the largest t: 0 where nothing is left.
__device__ __forceinline__ float masked_reference(float maximum) {
  return maximum > -INFINITY ? maximum : 0.0f;
}

// The factors of a row's results. A sum of 0 is that of a row with nothing left.
struct MaskedResult {
  float factor;  // of exponentials; log: the logarithm of their sum
  float fill;    // of elements that are masked by their number
  bool log_mode;

  __device__ __forceinline__ MaskedResult(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                          float sum)
      : log_mode(p.log_mode()) {
    const bool empty = sum == 0.0f;
    const float of_empty = m.empty_rows_are_zero ? 0.0f : NAN;
    // 1 / sum to the last bit or the next; exactly 1 for a sum of 1.
    const float inverse = ptx::reciprocal_approx(sum);
    const float closer = fmaf(fmaf(-sum, inverse, 1.0f), inverse, inverse);
    factor = empty ? of_empty : log_mode ? logf(sum) : closer;
    fill = empty && !m.empty_rows_are_zero ? NAN : log_mode ? -INFINITY : 0.0f;
  }
};

// Adds the mask to x * factor, by packs, or by single elements wherever its columns lie.
// kSelects: an element that the mask masks is -inf even where x is NaN or infinite.
template <class Format, bool kSelects, int kPacks, class T>
__device__ __forceinline__ void add_mask_of(const SoftmaxMasking& m, int64_t row,
                                            const PartOfPlace<Format::kPack>& at, float factor,
                                            float (&t)[kPacks][Format::kPack]) {
  constexpr int kPack = Format::kPack;
  using Bits = PackBits<T, kPack>;
  const int64_t stride = kPack == 1 ? m.mask_stride_col : 1;
  Bits bits[kPacks];
  const auto* first = reinterpret_cast<const Bits*>(static_cast<const T*>(m.mask) + row);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (kPack == 1) bits[k] = {};
    if (at.whole(k)) bits[k] = first[at.pack(k) * stride];
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (!at.counts(k)) continue;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      const float mask = bits[k].value(i);
      t[k][i] = fmaf(t[k][i], factor, mask);
      if (kSelects) t[k][i] = mask == -INFINITY ? -INFINITY : t[k][i];
    }
  }
}
template <class Format, bool kSelects, int kPacks>
__device__ __forceinline__ void add_mask(const SoftmaxMasking& m, const MaskedRow& row,
                                         const PartOfPlace<Format::kPack>& at, float factor,
                                         float (&t)[kPacks][Format::kPack]) {
  if (m.mask_type == MYGEMM_R_32F) {
    add_mask_of<Format, kSelects, kPacks, float>(m, row.mask, at, factor, t);
  } else if (m.mask_type == MYGEMM_R_16F) {
    add_mask_of<Format, kSelects, kPacks, __half>(m, row.mask, at, factor, t);
  } else {
    add_mask_of<Format, kSelects, kPacks, __nv_bfloat16>(m, row.mask, at, factor, t);
  }
}

// Loads x and makes t of it. kExtras: there may be a mask or a cap. Packs of nothing but elements
// that are masked by their number, which neighbouring threads mostly have together, are passed over
// here and in what follows.
template <class Format, bool kExtras, bool kSelects, int kPacks>
__device__ __forceinline__ void load_scores_as(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                               const MaskedRow& row,
                                               const PartOfPlace<Format::kPack>& at,
                                               float (&t)[kPacks][Format::kPack]) {
  const MaskedScale scale(p, m);
  Packs<Format, kPacks> x;
  load(x, row.address<Format>(p.in), p.in.type, at, 0.0f);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) x.get(k, p.in.type, t[k]);
  const bool caps = kExtras && scale.cap != 0.0f, masks = kExtras && m.mask;
  if (caps) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (!at.counts(k)) continue;
#pragma unroll
      for (float& v : t[k]) v = scale.cap * tanhf(v * scale.inner);
    }
  } else if (!masks) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (float& v : t[k]) v *= scale.scale;
    }
  }
  if (masks) add_mask<Format, kSelects>(m, row, at, caps ? 1.0f : scale.scale, t);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int rest = at.rest(k);
    if (Format::kPack > 1 && (rest <= 0 || rest >= Format::kPack)) continue;
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) t[k][i] = i < rest ? t[k][i] : -INFINITY;
  }
}

// The largest t, or a NaN where one is.
template <class Format, int kPacks>
__device__ __forceinline__ float largest_score(const PartOfPlace<Format::kPack>& at,
                                               const float (&t)[kPacks][Format::kPack]) {
  float maximum = -INFINITY;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (!at.counts(k)) continue;
    maximum = ptx::max_with_nan(maximum, combine_pairs<Format::kPack>(t[k], [](float a, float b) {
                                  return ptx::max_with_nan(a, b);
                                }));
  }
  return maximum;
}

// The same, and the largest t that is no NaN. A NaN may come of an element that the mask masks.
template <class Format, bool kExtras, int kPacks>
__device__ __forceinline__ float load_scores(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                             const MaskedRow& row, const MaskedPlace& place,
                                             float (&t)[kPacks][Format::kPack]) {
  const PartOfPlace<Format::kPack> at(place, row.valid);
  constexpr bool kSingle = Format::kPack == 1;  // to load twice takes registers
  load_scores_as<Format, kExtras, kSingle>(p, m, row, at, t);
  float maximum = largest_score<Format>(at, t);
  if (maximum != maximum) [[unlikely]] {
    if (kExtras && !kSingle && m.mask) load_scores_as<Format, kExtras, true>(p, m, row, at, t);
    maximum = -INFINITY;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (!at.counts(k)) continue;
#pragma unroll
      for (int i = 0; i < Format::kPack; ++i) maximum = fmaxf(maximum, t[k][i]);
    }
  }
  return maximum;
}

// The sum of the exponentials, which replace t unless logarithms are wanted.
template <class Format, int kPacks>
__device__ __forceinline__ float masked_exponentials(bool log_mode,
                                                     const PartOfPlace<Format::kPack>& at,
                                                     float reference,
                                                     float (&t)[kPacks][Format::kPack]) {
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (!at.counts(k)) continue;
    float e[Format::kPack];
#pragma unroll
    for (int i = 0; i < Format::kPack; ++i) {
      e[i] = masked_exp<Format::kAccurate>(t[k][i] - reference);
      if (!log_mode) t[k][i] = e[i];
    }
    sum += sum_of<Format::kPack>(e);
  }
  return sum;
}

// Stores y made of the exponentials, or of t for logarithms.
template <class Format, int kPacks>
__device__ __forceinline__ void store_results(const SoftmaxProblem& p, const MaskedRow& row,
                                              const MaskedPlace& place, const MaskedResult& result,
                                              float reference,
                                              const float (&t)[kPacks][Format::kPack]) {
  constexpr int kPack = Format::kPack;
  const PartOfPlace<kPack> at(place, row.valid);
  Packs<Format, kPacks> y;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    float value[kPack];
#pragma unroll
    for (float& v : value) v = result.fill;
    if (at.counts(k)) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        value[i] =
            result.log_mode ? (t[k][i] - reference) - result.factor : t[k][i] * result.factor;
      }
      const int rest = at.rest(k);
      if (kPack == 1 || rest < kPack) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) value[i] = i < rest ? value[i] : result.fill;
      }
    }
    y.set(k, p.out.type, value);
  }
  store(y, row.address<Format>(p.out), p.out.type, PartOfPlace<kPack>(place, row.cols));
}

// The row of which a team of threads holds all elements, in one pass.
template <class Format, int kPacks, bool kExtras, class Team>
__device__ __forceinline__ void masked_forward(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                               const MaskedRow& row, const MaskedPlace& place,
                                               Team& team) {
  float t[kPacks][Format::kPack];
  const float reference = masked_reference(
      team.template reduce<Max>(load_scores<Format, kExtras>(p, m, row, place, t)));
  const float sum = team.template reduce<Sum>(
      masked_exponentials<Format>(p.log_mode(), {place, row.valid}, reference, t));
  store_results<Format>(p, row, place, MaskedResult(p, m, sum), reference, t);
}

// ---- gradients ----------------------------------------------------------------------------------

// The root of the derivative of s with respect to scale * x: 1 / cosh, whose square is 1 - tanh^2
// without its cancellation.
__device__ __forceinline__ float softcap_slope_root(const MaskedScale& scale, float x) {
  const float e = ptx::exp2_approx(-kLog2E * fabsf(x * scale.inner));
  return 2.0f * e * ptx::reciprocal_approx(fmaf(e, e, 1.0f));
}

// y and dy of a row, as a thread holds them.
template <class Format, int kPacks>
struct MaskedGradient {
  static constexpr int kPack = Format::kPack;
  Packs<Format, kPacks> y, dy;

  // Single elements past the end are loaded as masked ones.
  static __device__ __forceinline__ bool is_left(int i, int rest) { return kPack == 1 || i < rest; }

  __device__ __forceinline__ void load_row(const SoftmaxProblem& p, const MaskedRow& row,
                                           const PartOfPlace<kPack>& at) {
    load(y, row.address<Format>(p.in), p.in.type, at,
         kPack == 1 && p.log_mode() ? -INFINITY : 0.0f);
    load(dy, row.address<Format>(p.dy), p.dy.type, at, 0.0f);
  }
  // The thread's part of the row's sum.
  __device__ __forceinline__ float sum(const SoftmaxProblem& p,
                                       const PartOfPlace<kPack>& at) const {
    const float masked = p.log_mode() ? -INFINITY : 0.0f;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (!at.counts(k)) continue;
      float y_value[kPack], dy_value[kPack];
      y.get(k, p.in.type, y_value);
      dy.get(k, p.dy.type, dy_value);
      const int rest = at.rest(k);
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        if (is_left(i, rest) && y_value[i] != masked)
          add_gradient_term(p, sum, y_value[i], dy_value[i]);
      }
    }
    return sum;
  }
  // dx from the row's sum, in the place of dy.
  __device__ __forceinline__ void finish(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                         const MaskedRow& row, const PartOfPlace<kPack>& at,
                                         float sum) {
    const float masked = p.log_mode() ? -INFINITY : 0.0f;
    const MaskedScale scale(p, m);
    const bool caps = scale.cap != 0.0f;
    Packs<Format, kPacks> x;
    if (caps) load(x, row.address<Format>(m.x), m.x.type, at, 0.0f);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      float y_value[kPack], value[kPack];
      y.get(k, p.in.type, y_value);
      dy.get(k, p.dy.type, value);
      const int rest = at.rest(k);
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const bool counts = is_left(i, rest) && y_value[i] != masked;
        value[i] = counts ? gradient_of<Format::kAccurate>(p, y_value[i], value[i], sum) : 0.0f;
      }
      if (caps) {
        float x_value[kPack];
        x.get(k, m.x.type, x_value);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          const float root = softcap_slope_root(scale, x_value[i]);
          const bool counts = is_left(i, rest) && y_value[i] != masked;
          value[i] = counts ? value[i] * root * root : 0.0f;
        }
      }
      dy.set(k, p.out.type, value);
    }
  }
};

template <class Format, int kPacks, class Team>
__device__ __forceinline__ void masked_backward(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                                const MaskedRow& row, const MaskedPlace& place,
                                                Team& team) {
  const PartOfPlace<Format::kPack> at(place, row.valid);
  MaskedGradient<Format, kPacks> gradient;
  gradient.load_row(p, row, at);
  const float sum = team.template reduce<Sum>(gradient.sum(p, at));
  gradient.finish(p, m, row, at, sum);
  store(gradient.dy, row.address<Format>(p.out), p.out.type,
        PartOfPlace<Format::kPack>(place, row.cols));
}

}  // namespace mygemm
