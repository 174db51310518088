// Transposes of narrow and of small matrices without gaps between rows (NarrowGrid in tiles.h),
// whose rows are too short for coalesced access one by one. A block copies a run of rows to shared
// memory unchanged. Neighbours in a column are a row apart there: only even widths have bank
// conflicts.
#include <bit>

#include "kernels/divisor.h"
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/pack.cuh"
#include "kernels/transpose/with_element.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = kNarrowThreads;

// Copies a run to or from shared memory, in packs where both begin at multiples of 16 bytes.
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

// Bytes of an access of the long side: an element, or more where its lines are aligned (kWide).
template <int kBytes>
inline constexpr int kWideAccess = narrow_access_bytes(kBytes);
template <int kBytes, bool kWide>
inline constexpr int kAccess = kWide ? kWideAccess<kBytes> : kBytes;

template <int kBytes, bool kWide>
struct Access {
  static constexpr int kElements = kAccess<kBytes, kWide> / kBytes;
  Element<kBytes> element[kElements];
};

// The operand of a single wide load or store.
template <int kBytes>
struct alignas(kWideAccess<kBytes>) Words {
  uint32_t word[kWideAccess<kBytes> / 4];
};

template <int kBytes>
__device__ __forceinline__ Access<kBytes, true> unpack(const Words<kBytes>& words) {
  Access<kBytes, true> access;
#pragma unroll
  for (int e = 0; e < access.kElements; ++e) {
    const uint32_t* word = words.word + e * kBytes / 4;
    if constexpr (kBytes == 16) {
      access.element[e] = {uint64_t{word[1]} << 32 | word[0], uint64_t{word[3]} << 32 | word[2]};
    } else if constexpr (kBytes == 8) {
      access.element[e] = uint64_t{word[1]} << 32 | word[0];
    } else {
      access.element[e] = static_cast<Element<kBytes>>(*word >> e * kBytes % 4 * 8);
    }
  }
  return access;
}

template <int kBytes>
__device__ __forceinline__ Words<kBytes> packed(const Access<kBytes, true>& access) {
  Words<kBytes> words = {};
#pragma unroll
  for (int e = 0; e < access.kElements; ++e) {
    uint32_t* word = words.word + e * kBytes / 4;
    const auto put = [](uint32_t* two, uint64_t bits) {
      two[0] = static_cast<uint32_t>(bits);
      two[1] = static_cast<uint32_t>(bits >> 32);
    };
    if constexpr (kBytes == 16) {
      put(word, access.element[e].low);
      put(word + 2, access.element[e].high);
    } else if constexpr (kBytes == 8) {
      put(word, access.element[e]);
    } else {
      *word |= uint32_t{access.element[e]} << e * kBytes % 4 * 8;
    }
  }
  return words;
}

// Loads, or stores, the first `elements` of an access to a line in global memory.
template <int kBytes, bool kWide>
__device__ __forceinline__ Access<kBytes, kWide> load_access(const Element<kBytes>* line,
                                                             int elements) {
  Access<kBytes, kWide> access = {};
  if constexpr (kWide) {
    if (elements >= access.kElements) {
      return unpack<kBytes>(*reinterpret_cast<const Words<kBytes>*>(line));
    }
  }
#pragma unroll
  for (int e = 0; e < access.kElements; ++e) {
    if (e < elements) access.element[e] = line[e];
  }
  return access;
}

template <int kBytes, bool kWide>
__device__ __forceinline__ void store_access(Element<kBytes>* line, int elements,
                                             const Access<kBytes, kWide>& access) {
  if constexpr (kWide) {
    if (elements >= access.kElements) {
      *reinterpret_cast<Words<kBytes>*>(line) = packed<kBytes>(access);
      return;
    }
  }
#pragma unroll
  for (int e = 0; e < access.kElements; ++e) {
    if (e < elements) line[e] = access.element[e];
  }
}

// ---- few rows: a run of the output -----------------------------------------------------------

// 64 bytes a thread in flight at once.
template <int kBytes, bool kWide>
inline constexpr int kLoads = 64 / (kAccess<kBytes, kWide> < 4 ? 4 : kAccess<kBytes, kWide>);

template <int kBytes, bool kWide>
__global__ void __launch_bounds__(kThreads)
    transpose_output_runs(const TransposeProblem p, const NarrowGrid grid, const unsigned runs,
                          const int log2_line) {
  using T = Element<kBytes>;
  constexpr int kElements = Access<kBytes, kWide>::kElements;
  T* run = &shared_storage<T>();
  const int64_t matrix = blockIdx.x / runs, c = int64_t{blockIdx.x % runs} * grid.length;
  const int rows = static_cast<int>(p.rows);
  const int length = static_cast<int>(min(int64_t{grid.length}, p.cols - c));
  const T* in = static_cast<const T*>(p.in) + matrix * p.stride_in + c;
  const unsigned accesses = static_cast<unsigned>(rows) << log2_line;
  for (unsigned first = threadIdx.x; first < accesses; first += kThreads * kLoads<kBytes, kWide>) {
    Access<kBytes, kWide> loaded[kLoads<kBytes, kWide>];
#pragma unroll
    for (int i = 0; i < kLoads<kBytes, kWide>; ++i) {
      const unsigned access = first + static_cast<unsigned>(i) * kThreads;
      const int64_t r = access >> log2_line;
      const int x = static_cast<int>(access & ((1u << log2_line) - 1)) * kElements;
      if (access >= accesses || x >= length) continue;
      loaded[i] = load_access<kBytes, kWide>(in + r * p.ldin + x, length - x);
    }
#pragma unroll
    for (int i = 0; i < kLoads<kBytes, kWide>; ++i) {
      const unsigned access = first + static_cast<unsigned>(i) * kThreads;
      const int r = static_cast<int>(access >> log2_line);
      const int x = static_cast<int>(access & ((1u << log2_line) - 1)) * kElements;
      if (access >= accesses) continue;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        if (x + e < length) run[(x + e) * rows + r] = loaded[i].element[e];
      }
    }
  }
  __syncthreads();
  copy_run<kBytes>(static_cast<T*>(p.out) + matrix * p.stride_out + c * rows, run, length * rows);
}

// ---- few columns, or small: a run of the input -----------------------------------------------

// kSmall: a run is grid.matrices matrices, whose lines have any length. Otherwise a line is
// 2^log2_line accesses.
template <int kBytes, bool kWide, bool kSmall>
__global__ void __launch_bounds__(kThreads)
    transpose_input_runs(const TransposeProblem p, const NarrowGrid grid, const unsigned runs,
                         const int log2_line, const Divisor line, const Divisor per_matrix) {
  using T = Element<kBytes>;
  constexpr int kElements = Access<kBytes, kWide>::kElements;
  T* run = &shared_storage<T>();
  const int64_t matrix = int64_t{blockIdx.x / runs} * grid.matrices;
  const int64_t r = int64_t{blockIdx.x % runs} * grid.length;
  const int cols = static_cast<int>(p.cols);
  const int length = static_cast<int>(min(int64_t{grid.length}, p.rows - r));
  const int matrices = static_cast<int>(min(int64_t{grid.matrices}, p.batch_count - matrix));
  copy_run<kBytes>(run, static_cast<const T*>(p.in) + matrix * p.stride_in + r * cols,
                   length * cols * matrices);
  __syncthreads();
  T* out = static_cast<T*>(p.out) + matrix * p.stride_out + r;
  const unsigned accesses = per_matrix.value() * static_cast<unsigned>(matrices);
#pragma unroll 4
  for (unsigned access = threadIdx.x; access < accesses; access += kThreads) {
    const unsigned m = kSmall ? per_matrix.quotient(access) : 0;
    const unsigned in_matrix = access - m * per_matrix.value();
    const unsigned c = kSmall ? line.quotient(in_matrix) : in_matrix >> log2_line;
    const int x = static_cast<int>(in_matrix - c * line.value()) * kElements;
    if (x >= length) continue;
    const T* from = run + (static_cast<int>(m) * length + x) * cols + static_cast<int>(c);
    Access<kBytes, kWide> gathered = {};
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      if (x + e < length) gathered.element[e] = from[e * cols];
    }
    store_access<kBytes, kWide>(out + m * p.stride_out + c * p.ldout + x, length - x, gathered);
  }
}

template <int kBytes, bool kWide>
Status launch_narrow(const TransposeProblem& p, const TransposeConfig& config,
                     const LaunchContext& context) {
  using Side = NarrowGrid::Side;
  const NarrowGrid& grid = config.narrow;
  const auto blocks = static_cast<unsigned>(config.blocks), runs = static_cast<unsigned>(grid.runs);
  const Divisor line(static_cast<unsigned>(grid.line_accesses));
  const int log2_line = std::bit_width(line.value()) - 1;
  if (grid.side == Side::kOutputRuns) {
    return launch(context, transpose_output_runs<kBytes, kWide>, blocks, config.threads,
                  config.shared_bytes, p, grid, runs, log2_line);
  }
  const auto kernel = grid.side == Side::kSmall ? transpose_input_runs<kBytes, kWide, true>
                                                : transpose_input_runs<kBytes, kWide, false>;
  return launch(context, kernel, blocks, config.threads, config.shared_bytes, p, grid, runs,
                log2_line, line, Divisor(line.value() * static_cast<unsigned>(p.cols)));
}

}  // namespace

Status cuda::launch_transpose_narrow(const TransposeProblem& p, const TransposeConfig& config,
                                     const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    return config.narrow.wide ? launch_narrow<bytes, true>(p, config, context)
                              : launch_narrow<bytes, false>(p, config, context);
  });
}

}  // namespace mygemm
