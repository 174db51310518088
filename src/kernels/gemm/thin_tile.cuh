// Thin products whose long operand is contiguous along the long side. A lane holds the sums of four
// places of the long side; warps, and lanes where the long side is short, take turns at batches of
// k and add up at the end. The loads of the next batch replace this one's values as they are used:
// eight loads of each lane are in flight at all times.
#pragma once

#include "kernels/gemm/thin_common.cuh"
#include "ptx/global.cuh"

namespace mygemm {
namespace thin_tile {

// A lane's places in a column of X: floats; or pairs of 16 bits, or 16 bits each.
template <class T, bool kAligned, int kPlaces>
using Places =
    std::conditional_t<sizeof(T) == 4, float[kPlaces], unsigned[kAligned ? kPlaces / 2 : kPlaces]>;

// Loads a lane's places in columns of X, one k after the other: neighbours, or every `lanes`-th.
// Places past the end repeat the last ones, or are zero; they are not stored.
template <class T, bool kAligned, int kPlaces>
class ColumnLoader {
 public:
  // column: the tile's first place at the first k. left: places of the matrix from there on.
  __device__ __forceinline__ ColumnLoader(const T* column, int64_t left, int lane, int64_t lanes,
                                          int64_t ld)
      : ld_(ld), lanes_(lanes) {
    const int inside = static_cast<int>(left < ThinWarps::kTile ? left : ThinWarps::kTile);
    next_ = column + (kAligned ? min(kPlaces * lane, inside - kPlaces) : lane);
    places_ = (inside - lane + static_cast<int>(lanes) - 1) / static_cast<int>(lanes);
  }

  __device__ __forceinline__ void skip(int k) { next_ = ptx::advanced(next_, k * ld_); }

  __device__ __forceinline__ void load(Places<T, kAligned, kPlaces>& x, bool k_inside) {
    if constexpr (!kAligned) {
      const int places = k_inside ? places_ : 0;
      const T* place = next_;
#pragma unroll
      for (int i = 0; i < kPlaces; ++i) {
        if constexpr (sizeof(T) == 4) {
          x[i] = ptx::load_4(place, i < places);
        } else {
          x[i] = ptx::load_2_bytes(place, i < places);
        }
        place += lanes_;
      }
    } else if constexpr (sizeof(T) == 4) {
      const float4 quad = ptx::load_16(next_, k_inside);
      x[0] = quad.x, x[1] = quad.y, x[2] = quad.z, x[3] = quad.w;
    } else if constexpr (kPlaces == 8) {
      const uint4 quad = ptx::load_16_bytes(next_, k_inside);
      x[0] = quad.x, x[1] = quad.y, x[2] = quad.z, x[3] = quad.w;
    } else {
      const uint2 pair = ptx::load_8_bytes(next_, k_inside);
      x[0] = pair.x, x[1] = pair.y;
    }
    next_ = ptx::advanced(next_, ld_);
  }

 private:
  const T* next_;
  int64_t ld_;
  int64_t lanes_;
  int places_;
};

// A lane's places as floats.
template <class T, bool kAligned, int kPlaces>
__device__ __forceinline__ void convert(float (&values)[kPlaces],
                                        const Places<T, kAligned, kPlaces>& x) {
#pragma unroll
  for (int i = 0; i < kPlaces; ++i) {
    if constexpr (sizeof(T) == 4) {
      values[i] = x[i];
    } else if constexpr (kAligned) {
      const float2 two = floats_of<T>(x[i / 2]);
      values[i] = i % 2 == 0 ? two.x : two.y;
    } else {
      values[i] = floats_of<T>(x[i]).x;
    }
  }
}

// Adds the products of one k; y: its values.
template <int kThin, int kPlaces>
__device__ __forceinline__ void add_products(float (&sum)[kThin][kPlaces],
                                             const float (&x)[kPlaces], const float* y) {
#pragma unroll
  for (int quad = 0; quad < (kThin + 3) / 4; ++quad) {
    float values[4];
    if constexpr (kThin == 1) {
      values[0] = y[0];
    } else {
      const float4 read = *reinterpret_cast<const float4*>(y + 4 * quad);
      values[0] = read.x, values[1] = read.y, values[2] = read.z, values[3] = read.w;
    }
#pragma unroll
    for (int t = 0; t < (kThin < 4 ? kThin : 4); ++t) {
#pragma unroll
      for (int i = 0; i < kPlaces; ++i)
        sum[4 * quad + t][i] = fmaf(x[i], values[t], sum[4 * quad + t][i]);
    }
  }
}

// Blocks that should fit a multiprocessor. With two of sixteen columns sm_100 and sm_120 spill;
// where elements of 16 bits are loaded one by one, with three blocks, or with two of four columns.
template <class Tile, bool kAligned>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  if (Tile::kThin == 16) return 1;
  if (Tile::kElementBytes < 4 && !kAligned) return Tile::kThin == 1 ? 2 : 1;
#endif
  return Tile::kRegisterBlocks;
}

}  // namespace thin_tile

// T, U: the types of X's and Y's elements.
template <class Tile, class T, class U, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, thin_tile::blocks_per_sm<Tile, kAligned>())
    gemm_thin_tile(const ThinArgs args) {
  using namespace thin_tile;
  constexpr int kThin = Tile::kThin, kBatch = Tile::batch(kAligned), kPlaces = Tile::kPlaces;
  constexpr bool kConverts = sizeof(U) < sizeof(float);
  auto& storage = shared_storage<typename Tile::SharedStorage>();
  auto& shared = storage.tile;
  ptx::wait_for_previous_grid();
  using BlockSums = ThinSums<Tile, false>;
  BlockSums::open(storage.inbox, args);
  const int lanes = static_cast<int>(args.row_groups);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int first_k = (warp * (32 / lanes) + lane / lanes) * kBatch;

  float sum[kThin][kPlaces] = {};
  int depth = depth_of_chunk<Tile>(args, 0);
  if (depth > 0) {
    const ThinBlock block(args);
    const int64_t l0 = int64_t{block.tile} * kPlaces * lanes;
    ColumnLoader<T, kAligned, kPlaces> columns(
        args.x.matrix<const T>(block.matrix) + l0 + (block.k_begin(args) + first_k) * args.x.ld,
        args.extent - l0, lane % lanes, args.row_groups, args.x.ld);
#pragma unroll 1
    for (int chunk = 0; depth > 0; depth = depth_of_chunk<Tile>(args, ++chunk)) {
      const int padded = (depth + kBatch - 1) / kBatch * kBatch;
      const auto index_of = [](int k, int t) { return k * Tile::kPitchThin + t; };
      // The loads of X's first batch are in flight while Y arrives.
      Places<T, kAligned, kPlaces> batch[kBatch];
      if constexpr (kConverts) {
#pragma unroll
        for (int k = 0; k < kBatch; ++k) columns.load(batch[k], first_k + k < depth);
      }
      if (chunk > 0) __syncthreads();  // the chunk before is read
      if constexpr (kConverts) {
        convert_chunk<Tile, U>(&shared.y[0][0], args, chunk, depth, padded, index_of);
      } else {
        copy_chunk<Tile>(&shared.y[0][0], args, chunk, depth, padded, index_of);
#pragma unroll
        for (int k = 0; k < kBatch; ++k) columns.load(batch[k], first_k + k < depth);
      }
      ptx::cp_async_wait<0>();
      __syncthreads();  // the chunk of Y is there
      int k0 = first_k;
#pragma unroll 1
      for (; k0 < depth; k0 += args.step_k) {
        columns.skip(args.step_k - kBatch);
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          float values[kPlaces];
          convert<T, kAligned, kPlaces>(values, batch[k]);
          add_products<kThin>(sum, values, shared.y[k0 + k]);
          columns.load(batch[k], k0 + args.step_k + k < depth);
        }
      }
      columns.skip(Tile::kChunk + first_k - k0 - kBatch);
    }
  }

  for (int step = lanes; step < 32; step *= 2) {  // lanes with the same places of the long side
#pragma unroll
    for (int t = 0; t < kThin; ++t) {
#pragma unroll
      for (int i = 0; i < kPlaces; ++i) sum[t][i] += __shfl_xor_sync(0xffffffffu, sum[t][i], step);
    }
  }
  ptx::launch_dependents();
  BlockSums::wait_for_inboxes(args);
  const int thread =
      Tile::kElementBytes < 4 || kConverts ? ptx::thread_again() : static_cast<int>(threadIdx.x);
#pragma unroll
  for (int t0 = 0; t0 < kThin; t0 += Tile::kThinAtOnce) {
    __syncthreads();  // Y, or the sums before, are read
#pragma unroll
    for (int t = 0; t < Tile::kThinAtOnce; ++t) {
      float* to = shared.sums[thread / 32][t];
      const float(&from)[kPlaces] = sum[t0 + t];
      const int of_warp = thread % 32;
      if (of_warp >= lanes) continue;
      if constexpr (kAligned) {
#pragma unroll
        for (int i = 0; i < kPlaces; i += 4) {
          *reinterpret_cast<float4*>(to + kPlaces * of_warp + i) =
              make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
        }
      } else {
#pragma unroll
        for (int i = 0; i < kPlaces; ++i) to[of_warp + i * lanes] = from[i];
      }
    }
    __syncthreads();  // the warps' sums are there
    const BlockSums sums(storage.inbox, args, int64_t{ThinBlock(args).tile} * kPlaces * lanes);
#pragma unroll 1
    for (int e = static_cast<int>(threadIdx.x); e < Tile::kThinAtOnce * Tile::kTile;
         e += Tile::kThreads) {
      const int t = e / Tile::kTile, l = e % Tile::kTile;
      if (l >= kPlaces * lanes) continue;
      float whole = 0.0f;
#pragma unroll
      for (int w = 0; w < Tile::kWarps; ++w) whole += shared.sums[w][t][l];
      sums.leave(l, t0 + t, whole);
    }
    if (t0 + Tile::kThinAtOnce == kThin) sums.end();
  }
}

}  // namespace mygemm
