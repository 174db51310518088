// Transposes of narrow and of small matrices that lie in memory without gaps (tiles.h: NarrowGrid):
// their rows are too short to be read or written one by one. A block keeps a run of them in shared
// memory as it lies in global memory, where neighbours in a column are a row apart: only even
// widths have bank conflicts.
#include <bit>

#include "kernels/launch.h"
#include "kernels/rows.h"
#include "kernels/transpose/pack.cuh"
#include "kernels/transpose/with_element.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = kNarrowThreads;

// a / b for 0 <= a < 2^16 by a multiplication; exact for 1 <= b < 2^16.
struct Divisor {
  unsigned value, reciprocal;

  explicit Divisor(int64_t b)
      : value(static_cast<unsigned>(b)),
        reciprocal(static_cast<unsigned>((uint64_t{1} << 32) / static_cast<uint64_t>(b)) +
                   (b > 1 ? 1u : 0u)) {}
  __device__ __forceinline__ unsigned quotient(unsigned a) const {
    return value == 1 ? a : __umulhi(a, reciprocal);
  }
};

// A run to or from shared memory, in packs where it begins at a multiple of 16 bytes.
template <int kBytes>
__device__ __forceinline__ void copy_run(Element<kBytes>* to, const Element<kBytes>* from,
                                         int elements) {
  constexpr int kInFlight = 4;
  const bool in_packs =
      (reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % 16 == 0;
  const int packs = in_packs ? elements / kPackElements<kBytes> : 0;
  for (int k = static_cast<int>(threadIdx.x); k < packs; k += kInFlight * kThreads) {
    Pack pack[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (k + i * kThreads < packs) pack[i] = reinterpret_cast<const Pack*>(from)[k + i * kThreads];
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (k + i * kThreads < packs) reinterpret_cast<Pack*>(to)[k + i * kThreads] = pack[i];
    }
  }
#pragma unroll 4
  for (int e = packs * kPackElements<kBytes> + static_cast<int>(threadIdx.x); e < elements;
       e += kThreads) {
    to[e] = from[e];
  }
}

// The long side is accessed kAccess bytes at a time: an element, or of smaller ones a word.

// ---- few rows: the output is one run -----------------------------------------------------------

// Elements x, x + 1 ... of a line of `length` as one access; those past its end are not read.
template <int kBytes, int kAccess>
__device__ __forceinline__ Element<kAccess> load_access(const Element<kBytes>* line, int x,
                                                        int length) {
  constexpr int kElements = kAccess / kBytes;
  if constexpr (kElements == 1) {
    return line[x];
  } else {
    if (x + kElements <= length) return *reinterpret_cast<const Element<kAccess>*>(line + x);
    Element<kAccess> word = 0;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (x + e < length) word |= static_cast<Element<kAccess>>(line[x + e]) << 8 * kBytes * e;
    }
    return word;
  }
}

// The first elements of an access, to places `width` apart.
template <int kBytes, int kAccess>
__device__ __forceinline__ void scatter_access(const Element<kAccess>& access, Element<kBytes>* to,
                                               int width, int elements) {
  if constexpr (kAccess == kBytes) {
    *to = access;
  } else {
#pragma unroll
    for (int e = 0; e < kAccess / kBytes; ++e) {
      if (e < elements) to[e * width] = static_cast<Element<kBytes>>(access >> 8 * kBytes * e);
    }
  }
}

// H200: all loads of a thread are in flight at once, 64 bytes; half as many draw 0.86 of a copy,
// these 0.97 (3 x 16777216 fp32).
template <int kAccess>
inline constexpr int kLoads = kAccess <= 4 ? 16 : 64 / kAccess;

template <int kBytes, int kAccess>
__global__ void __launch_bounds__(kThreads)
    transpose_output_runs(const TransposeProblem p, const NarrowGrid grid, const int64_t runs,
                          const int log2_line) {
  using T = Element<kBytes>;
  constexpr int kElements = kAccess / kBytes;
  T* run = &shared_storage<T>();
  const int64_t matrix = blockIdx.x / runs, c = blockIdx.x % runs * grid.length;
  const int rows = static_cast<int>(p.rows);
  const int length = static_cast<int>(min(int64_t{grid.length}, p.cols - c));
  const T* in = static_cast<const T*>(p.in) + matrix * p.stride_in + c;
  const unsigned accesses = static_cast<unsigned>(rows) << log2_line;
  for (unsigned first = threadIdx.x; first < accesses; first += kThreads * kLoads<kAccess>) {
    Element<kAccess> loaded[kLoads<kAccess>];
#pragma unroll
    for (int i = 0; i < kLoads<kAccess>; ++i) {
      const unsigned access = first + static_cast<unsigned>(i) * kThreads;
      const unsigned r = access >> log2_line;
      const int x = static_cast<int>(access & ((1u << log2_line) - 1)) * kElements;
      if (access >= accesses || x >= length) continue;
      loaded[i] = load_access<kBytes, kAccess>(in + r * p.ldin, x, length);
    }
#pragma unroll
    for (int i = 0; i < kLoads<kAccess>; ++i) {
      const unsigned access = first + static_cast<unsigned>(i) * kThreads;
      const unsigned r = access >> log2_line;
      const int x = static_cast<int>(access & ((1u << log2_line) - 1)) * kElements;
      if (access >= accesses || x >= length) continue;
      scatter_access<kBytes, kAccess>(loaded[i], run + x * rows + static_cast<int>(r), rows,
                                      length - x);
    }
  }
  __syncthreads();
  copy_run<kBytes>(static_cast<T*>(p.out) + matrix * p.stride_out + c * rows, run, length * rows);
}

// ---- few columns, or small: the input is one run -----------------------------------------------

// Elements `width` apart as one access.
template <int kBytes, int kAccess>
__device__ __forceinline__ Element<kAccess> gather_access(const Element<kBytes>* from, int width) {
  if constexpr (kAccess == kBytes) {
    return *from;
  } else {
    Element<kAccess> word = 0;
#pragma unroll
    for (int e = 0; e < kAccess / kBytes; ++e) {
      word |= static_cast<Element<kAccess>>(from[e * width]) << 8 * kBytes * e;
    }
    return word;
  }
}

// kSmall: a run is grid.matrices matrices; lines are of any length. Else they are of 2^log2_line.
template <int kBytes, int kAccess, bool kSmall>
__global__ void __launch_bounds__(kThreads)
    transpose_input_runs(const TransposeProblem p, const NarrowGrid grid, const int64_t runs,
                         const int log2_line, const Divisor line, const Divisor per_matrix) {
  using T = Element<kBytes>;
  constexpr int kElements = kAccess / kBytes;
  T* run = &shared_storage<T>();
  const int64_t matrix = blockIdx.x / runs * grid.matrices, r = blockIdx.x % runs * grid.length;
  const int cols = static_cast<int>(p.cols);
  const int length = static_cast<int>(min(int64_t{grid.length}, p.rows - r));
  const int matrices = static_cast<int>(min(int64_t{grid.matrices}, p.batch_count - matrix));
  copy_run<kBytes>(run, static_cast<const T*>(p.in) + matrix * p.stride_in + r * cols,
                   length * cols * matrices);
  __syncthreads();
  const unsigned accesses = per_matrix.value * static_cast<unsigned>(matrices);
#pragma unroll 4
  for (unsigned access = threadIdx.x; access < accesses; access += kThreads) {
    const unsigned m = kSmall ? per_matrix.quotient(access) : 0;
    const unsigned in_matrix = access - m * per_matrix.value;
    const unsigned c = kSmall ? line.quotient(in_matrix) : in_matrix >> log2_line;
    const int x = static_cast<int>(in_matrix - c * line.value) * kElements;
    if (x >= length) continue;
    const T* from = run + (static_cast<int>(m) * length + x) * cols + static_cast<int>(c);
    T* to = static_cast<T*>(p.out) + (matrix + m) * p.stride_out + c * p.ldout + r + x;
    if (x + kElements <= length) {
      *reinterpret_cast<Element<kAccess>*>(to) = gather_access<kBytes, kAccess>(from, cols);
    } else {
      for (int e = 0; x + e < length; ++e) to[e] = from[e * cols];
    }
  }
}

// Whether lines of the long side begin at multiples of 4 bytes.
bool in_words(const void* first, int64_t ld, int64_t stride, const TransposeProblem& p) {
  const int64_t size = p.element_size;
  return common_alignment(reinterpret_cast<uintptr_t>(first), ld * size) >= 4 &&
         (p.batch_count == 1 || common_alignment(0, stride * size) >= 4);
}

template <int kBytes, int kAccess>
Status launch_narrow(const TransposeProblem& p, const NarrowGrid& grid,
                     const LaunchContext& context) {
  using Side = NarrowGrid::Side;
  const Divisor line(ceil_div(grid.length, kAccess / kBytes));
  const int log2_line = std::bit_width(line.value) - 1;
  if (grid.side == Side::kOutputRuns) {
    return launch(context, transpose_output_runs<kBytes, kAccess>, grid_size(grid.blocks), kThreads,
                  grid.shared_bytes, p, grid, ceil_div(p.cols, grid.length), log2_line);
  }
  const auto kernel = grid.side == Side::kSmall ? transpose_input_runs<kBytes, kAccess, true>
                                                : transpose_input_runs<kBytes, kAccess, false>;
  return launch(context, kernel, grid_size(grid.blocks), kThreads, grid.shared_bytes, p, grid,
                ceil_div(p.rows, grid.length), log2_line, line, Divisor(line.value * p.cols));
}

}  // namespace

Status cuda::launch_transpose_narrow(const TransposeRow&, const TransposeProblem& p,
                                     const LaunchContext& context) {
  const NarrowGrid grid = narrow_grid(p);
  const bool words = grid.side == NarrowGrid::Side::kOutputRuns
                         ? in_words(p.in, p.ldin, p.stride_in, p)
                         : in_words(p.out, p.ldout, p.stride_out, p);
  return with_element(p.element_size, [&](auto bytes) {
    constexpr int kWord = bytes < 4 ? 4 : bytes;
    return words ? launch_narrow<bytes, kWord>(p, grid, context)
                 : launch_narrow<bytes, bytes>(p, grid, context);
  });
}

}  // namespace mygemm
