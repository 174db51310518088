// The epilogue: the one way in which a sum of products becomes an element of D. Device only.
//
// A kernel stores sums through one of three types, which say what they make of a sum:
//   PartialSums     the sum itself: it is one of several that are still to be added up
//   ScaleEpilogue   alpha * sum + beta * D, in place: all there is to most calls
//   FusedEpilogue   activation(alpha * sum + beta * C + bias), where C may be another matrix, and
//                   aux may be an operand of the activation
// with_epilogue() chooses between the last two, once for a tile. MaskedEpilogue is either of them
// for the elements of a triangle alone.
//
// Everything up to the result is FP32. T is the C++ type of the elements of C, D and the bias: they
// are converted where they are read, and the result is rounded once, where it is stored.
#pragma once

#include "kernels/element.cuh"
#include "ptx/global.cuh"
#include "ptx/math.cuh"

namespace mygemm {

__device__ __forceinline__ float load_scalar(const Scalar& s) {
  return s.on_device ? *s.address : s.value;
}

// alpha and beta as results are made with them. Where nothing is summed, alpha * 0 must not count:
// alpha may be infinite, and 0 + -0 is not -0. Then it is the zero that makes alpha * 0 + beta * C
// the bits of beta * C, or 0 where C is not read.
struct Scalars {
  float alpha, beta;

  __device__ __forceinline__ explicit Scalars(const GemmProblem& p)
      : alpha(load_scalar(p.epilogue.alpha)), beta(load_scalar(p.epilogue.beta)) {
    if (p.k == 0 || alpha == 0.0f) alpha = beta == 0.0f ? 0.0f : -0.0f;
  }
};

// k as a kernel must treat it: with alpha = 0 nothing of A and B is read.
__device__ __forceinline__ int64_t effective_k(const GemmProblem& p, float alpha) {
  return alpha == 0.0f ? 0 : p.k;
}

// The element of D at which a tile begins.
struct TileOrigin {
  int64_t batch, i, j;
};

struct PartialSums {
  static constexpr bool kLoops = false;  // see MaskedEpilogue
  // Whether the element is stored.
  __device__ __forceinline__ static constexpr bool keeps(int, int) { return true; }
  __device__ __forceinline__ bool reads_d() const { return false; }
  template <class T>
  __device__ __forceinline__ float finish(int, int, float sum, const T*) const {
    return sum;
  }
  __device__ __forceinline__ void skip_columns(int) {}
};

// Results that are finished already, in registers: see FusedEpilogue::scaled().
struct Finished : PartialSums {};

// D is not read where beta = 0, NaN or not.
struct ScaleEpilogue {
  static constexpr bool kLoops = false;
  float alpha, beta;

  __device__ __forceinline__ static constexpr bool keeps(int, int) { return true; }
  __device__ __forceinline__ bool reads_d() const { return beta != 0.0f; }
  // old: the element of D as it was, not read where reads_d() is false.
  template <class T>
  __device__ __forceinline__ float finish(int, int, float sum, const T* old) const {
    return beta == 0.0f ? alpha * sum : fmaf(alpha, sum, beta * to_float(*old));
  }
  __device__ __forceinline__ void skip_columns(int) {}
};

// The tanh form of GELU as t / (1 + exp(-2 u)), u = sqrt(2 / pi) (t + 0.044715 t^3).
__device__ __forceinline__ float gelu(float t) {
  constexpr float kMinusTwoU = -2.3022082f;  // -2 sqrt(2 / pi) log2(e)
  constexpr float kCubic = kMinusTwoU * 0.044715f;
  return __fdividef(t, 1.0f + ptx::exp2_approx(t * fmaf(t * t, kCubic, kMinusTwoU)));
}

__device__ __forceinline__ float relu(float t) { return t <= 0.0f ? 0.0f : t; }  // NaN stays

// The derivative of gelu() at x: s + x s (1 - s) 2u', s = 1 / (1 + e), e = exp(-2 u). 1 - s is e s,
// without the cancellation of 1 - s; x is bounded so that e is finite: farther out, g is 0 or 1.
__device__ __forceinline__ float gelu_derivative(float x) {
  constexpr float kTwoU = 1.5957691216f, kCubic = 0.044715f;  // 2 sqrt(2 / pi)
  constexpr float kLog2E = 1.4426950409f, kMost = 10.0f;
  const float bounded = fminf(fmaxf(x, -kMost), kMost), square = bounded * bounded;
  const float two_u = kTwoU * bounded * fmaf(kCubic, square, 1.0f);
  const float e = ptx::exp2_approx(-kLog2E * two_u);
  const float s = __fdividef(1.0f, 1.0f + e);
  const float derivative = fmaf(bounded * s, e * s * kTwoU * fmaf(3.0f * kCubic, square, 1.0f), s);
  return isnan(x) ? x : derivative;
}

// Rows and columns are those of the tile. kTransposed: the kernel computes D^T, and they are
// columns and rows of D. Pointers are all that takes registers: the rest comes from the kernel's
// parameters.
template <bool kTransposed = false, class T = float>
class FusedEpilogue {
 public:
  static constexpr bool kLoops = false;

  __device__ __forceinline__ FusedEpilogue(const GemmProblem& p, const Scalars& scalars,
                                           const TileOrigin& at)
      : p_(p), scalars_(scalars) {
    const int64_t i = kTransposed ? at.j : at.i, j = kTransposed ? at.i : at.j;
    c_ = scalars.beta == 0.0f ? nullptr : p.c.matrix<const T>(at.batch) + i + j * p.c.ld;
    bias_ = p.epilogue.bias == nullptr
                ? nullptr
                : static_cast<const T*>(p.epilogue.bias) + at.batch * p.epilogue.stride_bias + i;
    aux_ = at.batch * p.epilogue.stride_aux + i + j * p.epilogue.ldaux;
  }

  __device__ __forceinline__ static constexpr bool keeps(int, int) { return true; }
  __device__ __forceinline__ bool reads_d() const { return false; }
  template <class Old>
  __device__ __forceinline__ float finish(int row, int column, float sum, const Old*) const {
    float t = c_ ? scaled(sum, c(row, column)) : scalars_.alpha * sum;
    if (bias_) t += bias(kTransposed ? column : row);
    switch (p_.epilogue.activation) {
      case MYGEMM_ACTIVATION_NONE: return t;
      case MYGEMM_ACTIVATION_RELU: return relu(t);
      case MYGEMM_ACTIVATION_GELU: break;
      default: return times_derivative(t, aux(row, column));
    }
    if (stores_aux()) store_aux(row, column, t);
    return gelu(t);
  }

  // The same in steps, for kernels that finish several results at once: an element of C, where beta
  // is not 0; alpha * sum + beta * C; the bias of a row of D; the activation.
  __device__ __forceinline__ float c(int row, int column) const {
    const int i = kTransposed ? column : row, j = kTransposed ? row : column;
    return to_float(c_[i + j * p_.c.ld]);
  }
  __device__ __forceinline__ float scaled(float sum, float c) const {
    return fmaf(scalars_.alpha, sum, scalars_.beta * c);
  }
  __device__ __forceinline__ bool has_bias() const { return bias_ != nullptr; }
  __device__ __forceinline__ float bias(int row) const { return to_float(__ldg(bias_ + row)); }
  template <int kCount>
  __device__ __forceinline__ void activate_all(float (&t)[kCount]) const {
    if (p_.epilogue.activation == MYGEMM_ACTIVATION_NONE || is_gradient()) return;
    const bool is_gelu = p_.epilogue.activation == MYGEMM_ACTIVATION_GELU;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (is_gelu) t[i] = gelu(t[i]);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!is_gelu) t[i] = relu(t[i]);
    }
  }
  // GELU keeps t in aux.
  __device__ __forceinline__ bool stores_aux() const {
    return p_.epilogue.aux != nullptr && p_.epilogue.activation == MYGEMM_ACTIVATION_GELU;
  }
  __device__ __forceinline__ void store_aux(int row, int column, float t) const {
    static_cast<float*>(p_.epilogue.aux)[aux_number(row, column)] = t;
  }
  // Gradients: the element of aux, and t times the derivative there.
  __device__ __forceinline__ bool is_gradient() const { return p_.epilogue.is_gradient(); }
  __device__ __forceinline__ float aux(int row, int column) const {
    if (aux_is_bits()) return bit(row, column, aux_word(row, column)) ? 1.0f : 0.0f;
    return static_cast<const float*>(p_.epilogue.aux)[aux_number(row, column)];
  }
  // The word of bits with that of an element, and the element's bit: columns begin at words.
  __device__ __forceinline__ bool aux_is_bits() const { return p_.epilogue.aux_is_bits(); }
  __device__ __forceinline__ unsigned aux_word(int row, int column) const {
    return static_cast<const unsigned*>(p_.epilogue.aux)[aux_number(row, column) >> 5];
  }
  __device__ __forceinline__ bool bit(int row, int column, unsigned word) const {
    return (word >> ((static_cast<int>(aux_) + (kTransposed ? column : row)) & 31) & 1) != 0;
  }
  __device__ __forceinline__ float times_derivative(float t, float aux) const {
    if (aux_is_bits()) return aux != 0.0f ? t : 0.0f;
    return t * gelu_derivative(aux);
  }
  // The tile's first column becomes its n-th.
  __device__ __forceinline__ void skip_columns(int n) {
    static_assert(!kTransposed);
    if (c_) c_ = ptx::advanced(c_, n * p_.c.ld);
    aux_ += n * p_.epilogue.ldaux;
  }

 private:
  __device__ __forceinline__ int64_t aux_number(int row, int column) const {
    const int i = kTransposed ? column : row, j = kTransposed ? row : column;
    return aux_ + i + j * p_.epilogue.ldaux;
  }

  const GemmProblem& p_;
  Scalars scalars_;
  const T* c_;     // the tile's first element; nullptr: C is not read
  const T* bias_;  // of the tile's first row of D; nullptr: none
  int64_t aux_;    // number of the tile's first element in aux
};

// An epilogue that keeps the elements of the problem's triangle alone.
template <class Epilogue>
struct MaskedEpilogue : Epilogue {
  // Quads of which a part is stored go through it in a loop: unrolled, they were a quarter of the
  // instructions of kernels with masked and fused epilogues.
  static constexpr bool kLoops = true;
  bool lower;
  int below;  // rows from D's diagonal down to the tile's first element

  __device__ __forceinline__ MaskedEpilogue(const GemmProblem& p, const TileOrigin& at,
                                            const Epilogue& epilogue)
      : Epilogue(epilogue),
        lower(p.fill == MYGEMM_FILL_LOWER),
        below(static_cast<int>(max(-(int64_t{1} << 30), min(int64_t{1} << 30, at.i - at.j)))) {}

  // Keeps all elements of a tile, as if they lay far below the diagonal.
  __device__ __forceinline__ void keep_all() {
    lower = true;
    below = 1 << 30;
  }
  __device__ __forceinline__ bool keeps(int row, int column) const {
    const int rows = below + row - column;
    return lower ? rows >= 0 : rows <= 0;
  }
  __device__ __forceinline__ void skip_columns(int n) {
    Epilogue::skip_columns(n);
    below -= n;
  }
};

// Calls store(epilogue) with the epilogue of the problem for the tile there.
template <class T = float, class Store>
__device__ __forceinline__ void with_epilogue(const GemmProblem& p, const Scalars& scalars,
                                              const TileOrigin& at, Store store) {
  if (p.fused) {
    store(FusedEpilogue<false, T>(p, scalars, at));
  } else {
    store(ScaleEpilogue{scalars.alpha, scalars.beta});
  }
}

// The same in a kernel that computes triangles too, whose epilogues are code and registers more.
template <class T = float, class Store>
__device__ __forceinline__ void with_masked_epilogue(const GemmProblem& p, const Scalars& scalars,
                                                     const TileOrigin& at, Store store) {
  if (p.fill == MYGEMM_FILL_FULL) {
    with_epilogue<T>(p, scalars, at, store);
  } else if (p.in_place()) {
    store(MaskedEpilogue(p, at, ScaleEpilogue{scalars.alpha, scalars.beta}));
  } else {
    store(MaskedEpilogue(p, at, FusedEpilogue<false, T>(p, scalars, at)));
  }
}

// The same in a kernel with instances for each of the two, whose main loop would get other
// registers if they were one. They compute no triangles.
template <bool kFused, class T = float, class Store>
__device__ __forceinline__ void with_instance_epilogue(const GemmProblem& p, const Scalars& scalars,
                                                       const TileOrigin& at, Store store) {
  if constexpr (kFused) {
    store(FusedEpilogue<false, T>(p, scalars, at));
  } else {
    store(ScaleEpilogue{scalars.alpha, scalars.beta});
  }
}

// Stores the result of the tile's element (row, column), which lies at d.
template <class T, class Epilogue>
__device__ __forceinline__ void store_result(T* d, int row, int column, float sum,
                                             const Epilogue& epilogue) {
  if (epilogue.keeps(row, column)) *d = from_float<T>(epilogue.finish(row, column, sum, d));
}

// Two neighbours in memory, aligned to both: a row's columns `column` and the next.
template <class T, class Epilogue>
__device__ __forceinline__ void store_pair(T* d, int row, int column, float first, float second,
                                           const Epilogue& epilogue) {
  float2 results = make_float2(0.0f, 0.0f);
  if (epilogue.reads_d()) results = load_two(d);
  store_result(&results.x, row, column, first, epilogue);
  store_result(&results.y, row, column + 1, second, epilogue);
  store_two(d, results);
}

// Four neighbours in a column of D, aligned to all of them, of which the first `valid` are inside.
template <class T, class Epilogue>
__device__ __forceinline__ void store_quad(T* d, int row, int column, const float (&sum)[4],
                                           int valid, const Epilogue& epilogue) {
  // The part of a column in a triangle has no gaps.
  if (valid >= 4 && epilogue.keeps(row, column) && epilogue.keeps(row + 3, column)) {
    float4 old = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (epilogue.reads_d()) old = load_four(d);
    float results[4] = {old.x, old.y, old.z, old.w};
    for (int i = 0; i < 4; ++i) store_result(&results[i], row + i, column, sum[i], epilogue);
    store_four(d, make_float4(results[0], results[1], results[2], results[3]));
    return;
  }
#pragma unroll(Epilogue::kLoops ? 1 : 4)
  for (int i = 0; i < 4; ++i) {
    const float element = i == 0 ? sum[0] : i == 1 ? sum[1] : i == 2 ? sum[2] : sum[3];
    if (i < valid) store_result(d + i, row + i, column, element, epilogue);
  }
}

// A tile of D, or the columns of one from some column on: where it lies, how much from there is
// inside the matrix, and the epilogue through which sums are stored to it.
template <class Epilogue, class T = float>
struct OutputTile {
  static constexpr int kSize = static_cast<int>(sizeof(T));
  static constexpr bool has_quads(int64_t alignment) {
    return kSize == 4 ? alignment == 16 : alignment >= 4 * kSize;
  }

  T* first;
  int64_t ld;
  int rows, columns;
  bool in_quads;  // columns are aligned to four elements
  Epilogue epilogue;

  __device__ __forceinline__ OutputTile(T* first_, int64_t ld_, int64_t rows_, int64_t columns_,
                                        const Epilogue& epilogue_)
      : first(first_),
        ld(ld_),
        rows(static_cast<int>(min(rows_, int64_t{1} << 30))),
        columns(static_cast<int>(min(columns_, int64_t{1} << 30))),
        in_quads(has_quads(common_alignment(reinterpret_cast<uintptr_t>(first_), ld_ * kSize))),
        epilogue(epilogue_) {}
  // The tile of D there.
  __device__ __forceinline__ OutputTile(const GemmProblem& p, const TileOrigin& at,
                                        const Epilogue& epilogue_)
      : OutputTile(p.d.matrix<T>(at.batch) + at.i + at.j * p.d.ld, p.d.ld, p.m - at.i, p.n - at.j,
                   epilogue_) {}

  __device__ __forceinline__ void skip_columns(int n) {
    first = ptx::advanced(first, n * ld);
    columns -= n;
    epilogue.skip_columns(n);
  }
};

// Stores a quad of each lane of a warp: kLanesM lanes have quads one under the other, from `row` of
// the tile's first column on, and the next kLanesM lanes kColumnStep columns further on. Where D is
// not aligned, lanes would store every fourth element, and each sector of memory would be written
// four times: then quads are exchanged, so that neighbours in a column go to neighbouring lanes.
// `exchange` is the warp's own, and free. All lanes call this together.
template <int kLanesM, int kColumnStep, class Epilogue, class T>
__device__ __forceinline__ void store_quads(float (&exchange)[32][4],
                                            const OutputTile<Epilogue, T>& d, int row,
                                            const float (&quad)[4]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (d.in_quads) {
    const int i = row + lane % kLanesM * 4, j = lane / kLanesM * kColumnStep;
    if (j < d.columns) store_quad(d.first + i + j * d.ld, i, j, quad, d.rows - i, d.epilogue);
    return;
  }
  if (row >= d.rows || d.columns <= 0) return;
  __syncwarp();  // what was exchanged before has been read
  *reinterpret_cast<float4*>(exchange[lane]) = make_float4(quad[0], quad[1], quad[2], quad[3]);
  __syncwarp();
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int element = 32 * e + lane;
    const int i = row + element % (4 * kLanesM);
    const int j = element / (4 * kLanesM) * kColumnStep;
    if (i >= d.rows || j >= d.columns) continue;
    store_result(d.first + i + j * d.ld, i, j, exchange[element / 4][element % 4], d.epilogue);
  }
}

}  // namespace mygemm
