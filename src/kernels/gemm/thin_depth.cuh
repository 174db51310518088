// Thin products whose long operand is contiguous along k. A warp works on four rows of X at a time,
// its lanes along k; warps take different rows, and where those are few take turns along k. The
// next loads are in flight while this one's values are multiplied. A block may pass over several
// tiles of rows with the same part of Y.
#pragma once

#include "kernels/gemm/thin_common.cuh"
#include "kernels/reduce.cuh"
#include "ptx/global.cuh"

namespace mygemm {
namespace thin_depth {

// Four words of a lane for each row: floats, pairs of 16 bits, or 16 bits each.
template <class T>
using Word = std::conditional_t<sizeof(T) == 4, float, unsigned>;

// The k of a lane in a stride: neighbours in 16 bytes, or every 32nd.
template <class T, bool kAligned>
__device__ __forceinline__ int place_of(int lane, int i) {
  return kAligned ? static_cast<int>(16 / sizeof(T)) * lane + i : lane + 32 * i;
}

// The place in shared memory of Y's k: those of a lane's 16 bytes are quads of floats, and the
// first ones of all lanes lie side by side.
template <class T, bool kAligned>
__device__ __forceinline__ int place_of_y(int k) {
  if constexpr (kAligned && sizeof(T) == 2) {
    return (k & ~255) | (k & 4) << 5 | (k >> 3 & 31) << 2 | (k & 3);
  } else {
    return k;
  }
}

// Loads the lane's part of a stride of k of some rows, ld apart; zeros past the last row and from
// `depth` on.
template <bool kAligned, class T>
__device__ __forceinline__ void load(Word<T> (&x)[ThinWarps::kRows][4], const T* first_row,
                                     int64_t ld, int rows, int lane, int k0, int depth) {
  const T* place = first_row + (k0 + place_of<T, kAligned>(lane, 0));
#pragma unroll
  for (int r = 0; r < ThinWarps::kRows; ++r) {
    const int left = r < rows ? depth - k0 : 0;
    if constexpr (kAligned) {
      const bool inside = place_of<T, true>(lane, 0) < left;
      if constexpr (sizeof(T) == 4) {
        const float4 quad = ptx::load_16(place, inside);
        x[r][0] = quad.x, x[r][1] = quad.y, x[r][2] = quad.z, x[r][3] = quad.w;
      } else {
        const uint4 quad = ptx::load_16_bytes(place, inside);
        x[r][0] = quad.x, x[r][1] = quad.y, x[r][2] = quad.z, x[r][3] = quad.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = lane + 32 * i < left;
        if constexpr (sizeof(T) == 4) {
          x[r][i] = ptx::load_4(place + 32 * i, inside);
        } else {
          x[r][i] = ptx::load_2_bytes(place + 32 * i, inside);
        }
      }
    }
    place = ptx::advanced(place, ld);
  }
}

// Adds the products of four of a lane's k: sum[r * kThin + t].
template <class Tile, bool kAligned>
__device__ __forceinline__ void add_four(float (&sum)[Tile::kSums],
                                         const float (&x)[Tile::kRows][4],
                                         const float (&y)[Tile::kThin][Tile::kPitch], int lane,
                                         int k0) {
#pragma unroll
  for (int t = 0; t < Tile::kThin; ++t) {
    float values[4];
    if constexpr (kAligned) {
      const float4 read = *reinterpret_cast<const float4*>(&y[t][k0 + 4 * lane]);
      values[0] = read.x, values[1] = read.y, values[2] = read.z, values[3] = read.w;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) values[i] = y[t][k0 + place_of<float, false>(lane, i)];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) {
        sum[r * Tile::kThin + t] = fmaf(x[r][i], values[i], sum[r * Tile::kThin + t]);
      }
    }
  }
}

// Adds the products of a stride of k.
template <class Tile, class T, bool kAligned>
__device__ __forceinline__ void add_products(float (&sum)[Tile::kSums],
                                             const Word<T> (&x)[Tile::kRows][4],
                                             const float (&y)[Tile::kThin][Tile::kPitch], int lane,
                                             int k0) {
  if constexpr (sizeof(T) == 4) {
    add_four<Tile, kAligned>(sum, x, y, lane, k0);
  } else {
    constexpr int kPerWord = kAligned ? 2 : 1;
#pragma unroll
    for (int half = 0; half < kPerWord; ++half) {
      float values[Tile::kRows][4];
#pragma unroll
      for (int r = 0; r < Tile::kRows; ++r) {
#pragma unroll
        for (int i = 0; i < 4; i += kPerWord) {
          const float2 two = floats_of<T>(x[r][kAligned ? 2 * half + i / 2 : i]);
          values[r][i] = two.x;
          if constexpr (kAligned) values[r][i + 1] = two.y;
        }
      }
      add_four<Tile, kAligned>(sum, values, y, lane, k0 + 128 * half);
    }
  }
}

// Blocks that should fit a multiprocessor. With two of sixteen columns, floats beside a Y of 16
// bits spill on others than sm_90.
template <class Tile, class T, class U>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
  if (Tile::kThin == 16 && sizeof(T) > sizeof(U)) return 1;
#endif
  return Tile::kRegisterBlocks;
}

}  // namespace thin_depth

// T, U: the types of X's and Y's elements.
template <class Tile, class T, class U, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, thin_depth::blocks_per_sm<Tile, T, U>())
    gemm_thin_depth(const ThinArgs args) {
  using namespace thin_depth;
  constexpr int kThin = Tile::kThin, kRows = Tile::kRows, kSums = Tile::kSums;
  constexpr int kStride = Tile::stride(kAligned);
  constexpr bool kConverts = sizeof(U) < sizeof(float);
  // Two sets of registers that swap roles at every step: a copy would wait for the loads.
  [[maybe_unused]] constexpr int kUnrolled = Tile::kTwoSets ? 2 : 1;
  auto& storage = shared_storage<typename Tile::SharedStorage>();
  auto& shared = storage.depth;
  ptx::wait_for_previous_grid();
  using BlockSums = ThinSums<Tile, true>;
  BlockSums::open(storage.inbox, args);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int row_warps = static_cast<int>(args.row_groups), k_warps = Tile::kWarps / row_warps;
  const int first_k = warp / row_warps * kStride;
  const int64_t tile = int64_t{kRows} * row_warps;

#pragma unroll 1
  for (int pass = 0; pass < args.passes; ++pass) {
    const ThinBlock block(args);
    const int64_t tile_l = (int64_t{block.tile} * args.passes + pass) * tile;
    if (tile_l >= args.extent) break;
    const int64_t l0 = tile_l + warp % row_warps * kRows;
    float sum[kSums] = {};
    int depth = depth_of_chunk<Tile>(args, 0);
    if (depth > 0) {
      const T* x = args.x.matrix<const T>(block.matrix) + l0 * args.x.ld + block.k_begin(args);
      const int rows = static_cast<int>(min(args.extent - l0, int64_t{kRows}));
#pragma unroll 1
      for (int chunk = 0; depth > 0; depth = depth_of_chunk<Tile>(args, ++chunk)) {
        const bool is_there = pass > 0 && args.k_per_split <= Tile::kChunk;
        const int padded = (depth + kStride - 1) / kStride * kStride;
        // The first loads of X are in flight while Y arrives.
        Word<T> now[kRows][4];
        if constexpr (kConverts) load<kAligned>(now, x, args.x.ld, rows, lane, first_k, depth);
        if (!is_there) {
          if (chunk > 0 || pass > 0) __syncthreads();  // the chunk before is read
          const auto index_of = [](int k, int t) {
            return t * Tile::kPitch + place_of_y<T, kAligned>(k);
          };
          if constexpr (kConverts) {
            convert_chunk<Tile, U>(&shared.y[0][0], args, chunk, depth, padded, index_of);
          } else {
            copy_chunk<Tile>(&shared.y[0][0], args, chunk, depth, padded, index_of);
          }
        }
        if constexpr (!kConverts) load<kAligned>(now, x, args.x.ld, rows, lane, first_k, depth);
        if (!is_there) {
          ptx::cp_async_wait<0>();
          __syncthreads();  // the chunk of Y is there
        }
#pragma unroll kUnrolled
        for (int k0 = first_k; k0 < depth; k0 += args.step_k) {
          if constexpr (Tile::kTwoSets) {
            Word<T> next[kRows][4];
            load<kAligned>(next, x, args.x.ld, rows, lane, k0 + args.step_k, depth);
            add_products<Tile, T, kAligned>(sum, now, shared.y, lane, k0);
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
#pragma unroll
              for (int i = 0; i < 4; ++i) now[r][i] = next[r][i];
            }
          } else {
            add_products<Tile, T, kAligned>(sum, now, shared.y, lane, k0);
            load<kAligned>(now, x, args.x.ld, rows, lane, k0 + args.step_k, depth);
          }
        }
        x += Tile::kChunk;
      }
    }

    if (pass + 1 == args.passes) ptx::launch_dependents();
    // Lane l has the sums of places l * kSums / 32 on, of a whole number of lanes for each.
    warp_sum_each<kSums>(sum, lane);
    constexpr int kHeld = kSums < 32 ? 1 : kSums / 32, kSharing = kSums < 32 ? 32 / kSums : 1;
    const bool writes = lane % kSharing == 0;
    const int first = lane / kSharing * kHeld;
    BlockSums::wait_for_inboxes(args);
    const BlockSums sums(storage.inbox, args, tile_l);
    if (k_warps == 1) {
      const int row = warp * kRows;
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        if (writes) sums.leave(row + (first + i) / kThin, (first + i) % kThin, sum[i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        if (writes) shared.sums[warp][first + i] = sum[i];
      }
      __syncthreads();  // the warps' sums are there
      for (int e = static_cast<int>(threadIdx.x); e < row_warps * kSums; e += Tile::kThreads) {
        const int rows_of = e / kSums, place = e % kSums;
        float whole = 0.0f;
        for (int w = 0; w < k_warps; ++w) whole += shared.sums[w * row_warps + rows_of][place];
        sums.leave(rows_of * kRows + place / kThin, place % kThin, whole);
      }
    }
    sums.end();
  }
}

}  // namespace mygemm
