// Thin products of 16-bit operands on tensor cores, and their launcher as a template over the tile.
// The loads of the next k replace those of this one as they are multiplied.
#pragma once

#include <type_traits>

#include "kernels/gemm/thin.cuh"
#include "kernels/gemm/thin_mma_rows.cuh"

namespace mygemm {
namespace thin_mma {

// Starts the copies of a chunk of Y, `depth` k; zeros up to `padded` k and kThin columns. Rows says
// where in shared memory a k has its place.
template <class Tile, class Rows>
__device__ __forceinline__ void copy_chunk(uint16_t (&y)[Tile::kThin][Tile::kPitch],
                                           const ThinArgs& args, int chunk, int depth, int padded) {
  const ThinBlock block(args);
  const int thread = static_cast<int>(threadIdx.x);
  const uint16_t* from = args.y.matrix<const uint16_t>(block.matrix) +
                         (block.k_begin(args) + chunk * int64_t{Tile::kChunk}) * args.y_along_k;
  // Beside an aligned X, quads of Y are along k.
  const bool along_k = args.y_along_k == 1;
  if (args.y_in_quads && (Rows::kRowsAligned || along_k)) {
    const int k = thread % (Tile::kChunk / 8) * 8, whole = depth & -8;
    if (k < padded && (k < whole || k >= depth)) {
#pragma unroll 1
      for (int t = thread / (Tile::kChunk / 8); t < Tile::kThin;
           t += Tile::kThreads / (Tile::kChunk / 8)) {
        ptx::cp_async_16(&y[t][Rows::place_of_y(k)], from + t * args.y_along_thin + k,
                         k < depth && t < args.thin);
      }
    }
    // The quad in which k ends.
    if (const int t = thread / 8; whole < depth && t < Tile::kThin) {
      const int last = whole + thread % 8;
      y[t][Rows::place_of_y(last)] = static_cast<uint16_t>(
          ptx::load_2_bytes(from + t * args.y_along_thin + last, last < depth && t < args.thin));
    }
  } else if (!Rows::kRowsAligned && args.y_in_quads) {
    // A quad over the end of the thin side holds elements that are multiplied, but not stored.
    const Extent matrix =
        extent_of(args.y.matrix<const uint16_t>(block.matrix), args.thin, args.p.k, args.y_along_k);
#pragma unroll 1
    for (int at = thread; at < padded * Tile::kColumnGroups; at += Tile::kThreads) {
      const int k = at / Tile::kColumnGroups, t = at % Tile::kColumnGroups * 8;
      const uint4 quad =
          load_aligned(from + k * args.y_along_k + t, k < depth && t < args.thin, matrix);
      const unsigned word[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        y[t + i][Rows::place_of_y(k)] = static_cast<uint16_t>(word[i / 2] >> i % 2 * 16 & 0xffffu);
      }
    }
  } else {
    // Neighbouring threads have neighbours in memory.
    constexpr int kAtOnce = Rows::kElementsOfY, kOfColumn = Tile::kChunk / Tile::kThreads;
#pragma unroll 1
    for (int first = 0; first < Tile::kThin * kOfColumn; first += kAtOnce) {
      unsigned bits[kAtOnce];
      const auto element = [&](int i, auto body) {
        const int at = first + i;
        if (along_k) {
          body(at / kOfColumn, at % kOfColumn * Tile::kThreads + thread);
        } else {
          const int in_order = at * Tile::kThreads + thread;
          body(in_order % Tile::kThin, in_order / Tile::kThin);
        }
      };
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        element(i, [&](int t, int k) {
          bits[i] = ptx::load_2_bytes(from + t * args.y_along_thin + k * args.y_along_k,
                                      k < depth && t < args.thin);
        });
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        element(i, [&](int t, int k) {
          if (k < padded) y[t][Rows::place_of_y(k)] = static_cast<uint16_t>(bits[i]);
        });
      }
    }
  }
  ptx::cp_async_commit();
}

// k of a split from a chunk on, or a very large number of them; 0 or less where none are left.
template <class Tile>
__device__ __forceinline__ int left_from(const ThinArgs& args, int chunk) {
  const int64_t left = ThinBlock(args).depth(args) - chunk * int64_t{Tile::kChunk};
  return static_cast<int>(max(int64_t{0}, min(left, int64_t{1} << 30)));
}

// Blocks that should fit a multiprocessor. With two of sixteen columns, aligned rows that are not
// contiguous along k spill on sm_100.
template <class Tile, bool kAlignedAlongRows>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1000
  if (kAlignedAlongRows && Tile::kThin == 16) return 1;
#endif
  return Tile::kRegisterBlocks;
}

}  // namespace thin_mma

template <class Tile, bool kBf16, bool kKMajor, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads,
                                  (thin_mma::blocks_per_sm<Tile, kAligned && !kKMajor>()))
    gemm_thin_mma(const ThinArgs args) {
  using namespace thin_mma;
  using Rows = std::conditional_t<kKMajor, DepthRows<Tile, kBf16, kAligned>,
                                  TileRows<Tile, kBf16, kAligned>>;
  using BlockSums = ThinSums<Tile, kKMajor>;
  constexpr int kThin = Tile::kThin, kGroup = Tile::rows_of_group(kKMajor);
  constexpr int kStride = Tile::stride(kKMajor);
  auto& shared = shared_storage<typename Tile::SharedStorage>();
  ptx::wait_for_previous_grid();
  BlockSums::open(shared.inbox, args);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row_warps = static_cast<int>(args.row_groups);
  const int first_k = warp / row_warps * kStride, tile = row_warps * kGroup;

  const int64_t tile_l = int64_t{ThinBlock(args).tile} * tile;
  float sum[Rows::kProducts][Tile::kColumnGroups][4] = {};
  int left = left_from<Tile>(args, 0);
  if (left > 0) {
    const ThinBlock block(args);
    const int64_t l0 = tile_l + warp % row_warps * kGroup;
    const int64_t along_rows = kKMajor ? args.x.ld : 1, along_k = kKMajor ? 1 : args.x.ld;
    const auto* x = args.x.matrix<const uint16_t>(block.matrix);
    const Extent matrix = kKMajor ? extent_of(x, args.p.k, args.extent, args.x.ld)
                                  : extent_of(x, args.extent, args.p.k, args.x.ld);
    Rows rows(x + l0 * along_rows + block.k_begin(args) * along_k, args.x.ld, args.extent - l0,
              lane, first_k, matrix);
    rows.load_all(left - first_k, lane);
    const auto copy = [&](int chunk, int depth) {
      copy_chunk<Tile, Rows>(shared.y[chunk % 2], args, chunk, depth,
                             (depth + kStride - 1) / kStride * kStride);
    };
    copy(0, min(left, Tile::kChunk));
#pragma unroll 1
    for (int chunk = 0; left > 0; left = left_from<Tile>(args, ++chunk)) {
      ptx::cp_async_wait<0>();
      __syncthreads();  // the chunk of Y is there, and the one before is read
      if (left > Tile::kChunk) copy(chunk + 1, min(left - Tile::kChunk, Tile::kChunk));
      const int depth = min(left, Tile::kChunk);
#pragma unroll 1
      for (int k0 = first_k; k0 < depth; k0 += args.step_k) {
        rows.multiply(sum, shared.y[chunk % 2], k0, args.step_k, left, lane);
      }
    }
  }

  ptx::launch_dependents();
  BlockSums::wait_for_inboxes(args);
  __syncthreads();  // Y is read
  const int thread = ptx::thread_again(), l = thread % tile;
  Rows::store(shared.sums + thread / 32 * kGroup * kThin, sum, thread % 32);
  __syncthreads();  // the warps' sums are there
  const BlockSums sums(shared.inbox, args, tile_l);
#pragma unroll 1
  for (int t = thread / tile; t < kThin; t += Tile::kThreads / tile) {
    float whole = 0.0f;
#pragma unroll 1
    for (int w = l / kGroup; w < Tile::kWarps; w += row_warps) {
      whole += shared.sums[(w * kThin + t) * kGroup + l % kGroup];
    }
    sums.leave(l, t, whole);
  }
  sums.end();
}

template <class Tile>
Status cuda::launch_gemm_thin_mma(const GemmProblem& p, const GemmConfig& config,
                                  const LaunchContext& context) {
  const ThinArgs args = thin_args<Tile>(p, config, context);
  const OperandLoad load_x = config.long_is_m ? config.load_a : config.load_b;
  const auto of_alignment = [&](auto aligned) {
    constexpr bool kAligned = decltype(aligned)::value;
    if (p.a.type == MYGEMM_R_16BF) {
      return config.k_major ? gemm_thin_mma<Tile, true, true, kAligned>
                            : gemm_thin_mma<Tile, true, false, kAligned>;
    }
    return config.k_major ? gemm_thin_mma<Tile, false, true, kAligned>
                          : gemm_thin_mma<Tile, false, false, kAligned>;
  };
  const auto kernel = load_x == OperandLoad::kCopy16 ? of_alignment(std::true_type{})
                                                     : of_alignment(std::false_type{});
  RETURN_IF_ERROR(launch(context, kernel, config, args));
  return args.partials ? launch_add_partials(p, config, context) : MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
