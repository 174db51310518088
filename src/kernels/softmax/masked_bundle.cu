// Masked softmax of rows that begin anywhere: a warp moves a run of rows, or a block one row,
// between global and shared memory by whole packs, and its lanes read and write single elements
// there.
#include "kernels/launch.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/masked.cuh"
#include "kernels/softmax/masked_teams.cuh"
#include "kernels/softmax/runs.cuh"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

// The threads that move a run: of a warp, whose lanes share rows, or of a block.
struct WarpMover {
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ int threads() { return 32; }
  static __device__ __forceinline__ void sync() { __syncwarp(); }
};
struct BlockMover {
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ __forceinline__ int threads() { return static_cast<int>(blockDim.x); }
  static __device__ __forceinline__ void sync() { __syncthreads(); }
};

// The mask's rows in shared memory. Rows of a group that follow each other without gaps, or are one
// and the same, are copied as one run; others one by one.
struct StagedMask {
  const SoftmaxMasking& m;
  const MaskedBundle& bundle;
  int bytes;  // of an element
  bool together;

  __device__ __forceinline__ StagedMask(const SoftmaxProblem& p, const SoftmaxMasking& masking,
                                        const MaskedBundle& of_rows)
      : m(masking), bundle(of_rows), bytes(m.mask_type == MYGEMM_R_32F ? 4 : 2) {
    together = m.mask_stride_col == 1 && (m.mask_strides.row == p.cols || m.mask_strides.row == 0);
  }

  // Starts the copies.
  template <class Mover>
  __device__ __forceinline__ void load(const SoftmaxProblem& p, const MaskedDivisors& divisors,
                                       char* memory, int64_t first, int count) const {
    for (int r = 0; r < count;) {
      const MaskedRow row(p, m, divisors, first + r);
      char* const from = static_cast<char*>(const_cast<void*>(m.mask)) + row.mask * bytes;
      char* const to = memory + bundle.mask_at + r * bundle.mask_pitch;
      int rows = 1;
      int columns = static_cast<int>(row.valid);
      if (together && bundle.rows > 1) {
        const int64_t left = m.group_rows == 0 ? p.rows : m.group_rows - row.of_group;
        rows = static_cast<int>(min(int64_t{count - r}, left));
        columns = static_cast<int>(p.cols + (rows - 1) * m.mask_strides.row);
      }
      if (m.mask_stride_col == 1) {
        Run(from, to, columns * bytes).load<true>(bytes, Mover::thread(), Mover::threads());
      } else {
        for (int c = Mover::thread(); c < columns; c += Mover::threads()) {
          Run::copy_element(to + c * bytes, from + c * m.mask_stride_col * bytes, bytes);
        }
      }
      r += rows;
    }
  }
  // The number of the element at which row r of the run begins.
  __device__ __forceinline__ int begin(const MaskedRow& row, int r) const {
    // Rows of the run's part of the group before it.
    const int before = together && bundle.rows > 1
                           ? static_cast<int>(min(row.of_group, static_cast<int64_t>(r)))
                           : 0;
    const int64_t first = row.mask - before * m.mask_strides.row;
    const auto address = reinterpret_cast<uintptr_t>(m.mask) + static_cast<uint64_t>(first * bytes);
    const int shift = m.mask_stride_col == 1 ? static_cast<int>(address % 16) : 0;
    return ((r - before) * bundle.mask_pitch + shift) / bytes +
           before * static_cast<int>(m.mask_strides.row);
  }
};

// Threads that share a row, and those that work on other rows at the same time.
struct Teams {
  MaskedPlace place;
  int number, count;
};

// Rows [first, first + count), in shared memory from `memory` on.
template <class Format, int kElements, bool kBackward, bool kExtras, class Mover, class Team>
__device__ __forceinline__ void masked_run(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                           const MaskedDivisors& divisors,
                                           const MaskedBundle& bundle, char* memory, int64_t first,
                                           int count, const Teams& teams, Team& team) {
  const int thread = Mover::thread(), threads = Mover::threads();
  const int cols = static_cast<int>(p.cols);
  // The columns of a lone row that are masked by their number are not read.
  const MaskedRow first_row(p, m, divisors, first);
  const int read = bundle.rows > 1 ? count * cols : static_cast<int>(first_row.valid);
  const auto load = [&](TypedMatrix& matrix, int place) {
    const int bytes = bytes_of<Format>(matrix.type);
    const Run run(address_of<Format>(matrix, first), memory + place, read * bytes);
    run.load(bytes, thread, threads);
    matrix.data = run.shared;
    matrix.ld = cols;
  };
  // The same rows as they are in shared memory.
  SoftmaxProblem staged = p;
  SoftmaxMasking staged_masking = m;
  load(staged.in, 0);
  if constexpr (kBackward) load(staged.dy, bundle.dy_at);
  const StagedMask mask(p, m, bundle);
  if constexpr (kExtras) {
    if (m.mask) {
      mask.load<Mover>(p, divisors, memory, first, count);
      staged_masking.mask = memory + bundle.mask_at;
    }
    staged_masking.mask_stride_col = 1;
  }
  const int out_bytes = bytes_of<Format>(p.out.type);
  const Run out(address_of<Format>(p.out, first), memory + bundle.out_at, count * cols * out_bytes);
  staged.out.data = out.shared;
  staged.out.ld = cols;
  ptx::cp_async_wait_all();
  Mover::sync();  // the rows are there
  for (int r0 = 0; r0 < count; r0 += teams.count) {
    const int r = r0 + teams.number;
    // All lanes of a warp stay for the shuffles; those past the last row read and write nothing.
    MaskedRow row = first_row;
    if (bundle.rows > 1) row = MaskedRow(p, m, divisors, first + (r < count ? r : 0));
    if (r >= count) row.valid = row.cols = 0;
    if constexpr (kExtras) row.mask = mask.begin(row, r < count ? r : 0);
    row.number = r;
    if constexpr (kBackward) {
      masked_backward<Format, kElements>(staged, staged_masking, row, teams.place, team);
    } else {
      masked_forward<Format, kElements, kExtras>(staged, staged_masking, row, teams.place, team);
    }
  }
  Mover::sync();  // the results are there
  out.store(out_bytes, thread, threads);
}

// Blocks per multiprocessor for which the compiler limits the registers.
template <int kElements, bool kBackward, bool kExtras>
__device__ __host__ constexpr int warp_blocks() {
#if defined(__CUDA_ARCH__)
  // Fewer on sm_80, and of 16 elements on sm_120, where they would spill registers.
  constexpr bool kSm80 = __CUDA_ARCH__ == 800;
  constexpr int kOfSixteen = kSm80 ? 6 : __CUDA_ARCH__ < 1000 ? 8 : 7;
  constexpr int kNumber = kElements <= 16 ? kElements / 4 - 1 : kElements / 8 + 1;
  constexpr int kOfGradients[] = {8, 6, 5, 4}, kOfExtras[] = {8, 7, 5, 4, kSm80 ? 3 : 4},
                kOthers[] = {8, 8, 8, kOfSixteen, kSm80 ? 4 : 5, 4};
  return residency(sm_resources(__CUDA_ARCH__ / 10), kMaskedWarpThreads, 0,
                   kBackward ? kOfGradients[kNumber % 4]
                   : kExtras ? kOfExtras[kNumber % 5]
                             : kOthers[kNumber]);
#else
  return 1;
#endif
}

template <class Format, int kElements, bool kBackward, bool kExtras>
__global__ void __launch_bounds__(kMaskedWarpThreads,
                                  (warp_blocks<kElements, kBackward, kExtras>()))
    masked_bundle(const SoftmaxProblem p, const SoftmaxMasking m, const MaskedDivisors divisors,
                  const MaskedBundle bundle, const int log2_lanes) {
  constexpr int kWarps = kMaskedWarpThreads / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  char* const memory = reinterpret_cast<char*>(&shared_storage<uint4>()) + warp * bundle.bytes;
  WarpTeam team{log2_lanes};
  const int lane = static_cast<int>(threadIdx.x) % 32, lanes = 1 << log2_lanes;
  const Teams teams{{lane & (lanes - 1), lanes}, lane >> log2_lanes, 32 >> log2_lanes};
  const int64_t step = int64_t{gridDim.x} * kWarps * bundle.rows;
  for (int64_t first = (int64_t{blockIdx.x} * kWarps + warp) * bundle.rows; first < p.rows;
       first += step) {
    const int count = static_cast<int>(min(p.rows - first, int64_t{bundle.rows}));
    masked_run<Format, kElements, kBackward, kExtras, WarpMover>(p, m, divisors, bundle, memory,
                                                                 first, count, teams, team);
    __syncwarp();  // and stored, before the next rows come
  }
}

// 0: the compiler limits the registers to 64, which is faster than the 80 or 128 that it takes for
// one block, but on sm_75, sm_80 and sm_120 too few for masks.
template <bool kExtras>
__device__ __host__ constexpr int block_blocks() {
#if defined(__CUDA_ARCH__)
  return kExtras && (__CUDA_ARCH__ <= 800 || __CUDA_ARCH__ >= 1000) ? 1 : 0;
#else
  return 1;
#endif
}

template <class Format, int kElements, bool kExtras>
__global__ void __launch_bounds__(kMaskedBlockThreads, block_blocks<kExtras>())
    masked_bundle_block(const SoftmaxProblem p, const SoftmaxMasking m,
                        const MaskedDivisors divisors, const MaskedBundle bundle) {
  auto& shared = shared_storage<BlockStorage>();
  BlockTeam team{shared};
  const Teams teams{{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)}, 0, 1};
  char* const memory = reinterpret_cast<char*>(&shared + 1);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    masked_run<Format, kElements, false, kExtras, BlockMover>(p, m, divisors, bundle, memory, r, 1,
                                                              teams, team);
    if (gridDim.x < p.rows) __syncthreads();  // and stored, before the next row comes
  }
}

template <class Format, bool kBackward, bool kExtras>
Status launch_format(const SoftmaxProblem& p, const SoftmaxConfig& config,
                     const LaunchContext& context) {
  const MaskedRows& rows = config.masked;
  const auto warps = [&](auto kernel) {
    return launch(context, kernel, config, p, *p.masking, MaskedDivisors(p), rows.bundle,
                  rows.log2_lanes);
  };
  if constexpr (!kBackward) {
    if (rows.by_block) {
      return launch(context, masked_bundle_block<Format, kMaskedElements, kExtras>, config, p,
                    *p.masking, MaskedDivisors(p), rows.bundle);
    }
    if (rows.held == kMaskedLaneElementsOfMasks) {
      return warps(masked_bundle<Format, kMaskedLaneElementsOfMasks, false, kExtras>);
    }
  }
  if constexpr (!kBackward && !kExtras) {
    if (rows.held == kMaskedLaneElements) {
      return warps(masked_bundle<Format, kMaskedLaneElements, false, false>);
    }
  }
  switch (rows.held) {
    case 4: return warps(masked_bundle<Format, 4, kBackward, kExtras>);
    case 8: return warps(masked_bundle<Format, 8, kBackward, kExtras>);
    case 12: return warps(masked_bundle<Format, 12, kBackward, kExtras>);
  }
  return warps(masked_bundle<Format, kMaskedElements, kBackward, kExtras>);
}

}  // namespace

Status cuda::launch_softmax_masked_bundle(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                          const LaunchContext& context) {
  if (p.backward) return launch_format<Elements16, true, false>(p, config, context);
  const auto run = [&](auto format) {
    using Format = decltype(format);
    return has_extras(*p.masking) ? launch_format<Format, false, true>(p, config, context)
                                  : launch_format<Format, false, false>(p, config, context);
  };
  return config.masked.widths == Widths::k16Bit ? run(Elements16{}) : run(MixedElements{});
}

}  // namespace mygemm
