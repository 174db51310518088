// Thin products whose long operand is contiguous along the long side. A lane holds the sums of four
// places of the long side; warps, and lanes where the long side is short, take turns at batches of
// k and add up at the end. The loads of the next batch replace this one's values as they are used:
// eight loads of each lane are in flight at all times.
#pragma once

#include "kernels/gemm/thin_common.cuh"
#include "ptx/global.cuh"

namespace mygemm {
namespace thin_tile {

// Loads a lane's four places in columns of X, one k after the other: a quad, or every `lanes`-th.
// Places past the end repeat the last quad, or are zero; they are not stored.
template <bool kAligned>
class ColumnLoader {
 public:
  // column: the tile's first place at the first k. left: places of the matrix from there on.
  __device__ __forceinline__ ColumnLoader(const float* column, int64_t left, int lane,
                                          int64_t lanes, int64_t ld)
      : ld_(ld), lanes_(lanes) {
    const int inside = static_cast<int>(left < ThinWarps::kTile ? left : ThinWarps::kTile);
    next_ = column + (kAligned ? min(4 * lane, inside - 4) : lane);
    places_ = (inside - lane + static_cast<int>(lanes) - 1) / static_cast<int>(lanes);
  }

  __device__ __forceinline__ void skip(int k) { next_ = ptx::advanced(next_, k * ld_); }

  __device__ __forceinline__ void load(float (&x)[4], bool k_inside) {
    if constexpr (kAligned) {
      const float4 quad = ptx::load_16(next_, k_inside);
      x[0] = quad.x, x[1] = quad.y, x[2] = quad.z, x[3] = quad.w;
    } else {
      const int places = k_inside ? places_ : 0;
      const float* place = next_;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = ptx::load_4(place, i < places);
        place += lanes_;
      }
    }
    next_ = ptx::advanced(next_, ld_);
  }

 private:
  const float* next_;
  int64_t ld_;
  int64_t lanes_;
  int places_;
};

// Adds the products of one k; y: its values.
template <int kThin>
__device__ __forceinline__ void add_products(float (&sum)[kThin][4], const float (&x)[4],
                                             const float* y) {
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
      for (int i = 0; i < 4; ++i)
        sum[4 * quad + t][i] = fmaf(x[i], values[t], sum[4 * quad + t][i]);
    }
  }
}

// Blocks that should fit a multiprocessor. With two of sixteen columns sm_100 and
// sm_120 spill.
template <class Tile>
__device__ __host__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return Tile::kThin < 16 ? Tile::kRegisterBlocks : 1;
#else
  return Tile::kRegisterBlocks;
#endif
}

}  // namespace thin_tile

template <class Tile, bool kAligned>
__global__ void __launch_bounds__(Tile::kThreads, thin_tile::blocks_per_sm<Tile>())
    gemm_thin_tile(const ThinArgs args) {
  using namespace thin_tile;
  constexpr int kThin = Tile::kThin, kBatch = Tile::kBatch;
  auto& storage = shared_storage<typename Tile::SharedStorage>();
  auto& shared = storage.tile;
  ptx::wait_for_previous_grid();
  ThinSums<Tile>::open(storage.inbox, args);
  const int lanes = static_cast<int>(args.row_groups);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int first_k = (warp * (32 / lanes) + lane / lanes) * kBatch;

  float sum[kThin][4] = {};
  int depth = depth_of_chunk<Tile>(args, 0);
  if (depth > 0) {
    const ThinBlock block(args);
    const int64_t l0 = int64_t{block.tile} * Tile::kRows * lanes;
    ColumnLoader<kAligned> columns(
        args.x.matrix<const float>(block.matrix) + l0 + (block.k_begin(args) + first_k) * args.x.ld,
        args.extent - l0, lane % lanes, args.row_groups, args.x.ld);
#pragma unroll 1
    for (int chunk = 0; depth > 0; depth = depth_of_chunk<Tile>(args, ++chunk)) {
      if (chunk > 0) __syncthreads();  // the chunk before is read
      copy_chunk<Tile>(&shared.y[0][0], args, chunk, depth, (depth + kBatch - 1) / kBatch * kBatch,
                       [](int k, int t) { return k * Tile::kPitchThin + t; });
      // The loads of X's first batch are in flight while Y arrives.
      float batch[kBatch][4];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) columns.load(batch[k], first_k + k < depth);
      ptx::cp_async_wait<0>();
      __syncthreads();  // the chunk of Y is there
      int k0 = first_k;
#pragma unroll 1
      for (; k0 < depth; k0 += args.step_k) {
        columns.skip(args.step_k - kBatch);
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          add_products<kThin>(sum, batch[k], shared.y[k0 + k]);
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
      for (int i = 0; i < 4; ++i) sum[t][i] += __shfl_xor_sync(0xffffffffu, sum[t][i], step);
    }
  }
  ptx::launch_dependents();
  ThinSums<Tile>::wait_for_inboxes(args);
#pragma unroll
  for (int t0 = 0; t0 < kThin; t0 += Tile::kThinAtOnce) {
    __syncthreads();  // Y, or the sums before, are read
#pragma unroll
    for (int t = 0; t < Tile::kThinAtOnce; ++t) {
      float* to = shared.sums[warp][t];
      const float(&from)[4] = sum[t0 + t];
      if (lane >= lanes) continue;
      if constexpr (kAligned) {
        *reinterpret_cast<float4*>(to + 4 * lane) = make_float4(from[0], from[1], from[2], from[3]);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) to[lane + i * lanes] = from[i];
      }
    }
    __syncthreads();  // the warps' sums are there
    const ThinSums<Tile> sums(storage.inbox, args,
                              int64_t{ThinBlock(args).tile} * Tile::kRows * lanes);
#pragma unroll 1
    for (int e = static_cast<int>(threadIdx.x); e < Tile::kThinAtOnce * Tile::kTile;
         e += Tile::kThreads) {
      const int t = e / Tile::kTile, l = e % Tile::kTile;
      if (l >= Tile::kRows * lanes) continue;
      float whole = 0.0f;
#pragma unroll
      for (int w = 0; w < Tile::kWarps; ++w) whole += shared.sums[w][t][l];
      sums.leave(l, t0 + t, whole);
    }
    if (t0 + Tile::kThinAtOnce == kThin) sums.end();
  }
}

}  // namespace mygemm
