// Thin products of 16-bit operands on tensor cores, and their launcher as a template over the tile.
// The loads of the next k replace those of this one as they are multiplied.
#pragma once

#include "kernels/gemm/thin.cuh"
#include "kernels/gemm/thin_mma.h"
#include "ptx/mma.cuh"

namespace mygemm {
namespace thin_mma {

// Starts the copies of a chunk of Y, `depth` k; zeros up to `padded` k and kThin columns.
template <class Tile>
__device__ __forceinline__ void copy_chunk(uint16_t (&y)[Tile::kThin][Tile::kPitch],
                                           const ThinArgs& args, int chunk, int depth, int padded) {
  const ThinBlock block(args);
  const int thread = static_cast<int>(threadIdx.x);
  const uint16_t* from = args.y.matrix<const uint16_t>(block.matrix) +
                         (block.k_begin(args) + chunk * int64_t{Tile::kChunk}) * args.y_along_k;
  if (args.y_in_quads) {
    const int k = thread % (Tile::kChunk / 8) * 8;
    if (k < padded) {
#pragma unroll 1
      for (int t = thread / (Tile::kChunk / 8); t < Tile::kThin;
           t += Tile::kThreads / (Tile::kChunk / 8)) {
        ptx::cp_async_16(&y[t][k], from + t * args.y_along_thin + k, k < depth && t < args.thin);
      }
    }
  } else {
    constexpr int kAtOnce = 4;
    const bool along_k = args.y_along_k == 1;
    const int elements = padded * Tile::kThin;
#pragma unroll 1
    for (int first = thread; first < elements; first += kAtOnce * Tile::kThreads) {
      unsigned bits[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * Tile::kThreads;
        const int k = along_k ? at % padded : at / Tile::kThin;
        const int t = along_k ? at / padded : at % Tile::kThin;
        bits[i] = ptx::load_2_bytes(from + t * args.y_along_thin + k * args.y_along_k,
                                    k < depth && t < args.thin);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * Tile::kThreads;
        const int k = along_k ? at % padded : at / Tile::kThin;
        const int t = along_k ? at / padded : at % Tile::kThin;
        if (at < elements) y[t][k] = static_cast<uint16_t>(bits[i]);
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

// A warp's rows of the long operand, contiguous along k: a lane has rows g and g + 8, g = lane / 4.
template <class Tile, bool kBf16>
class DepthRows {
 public:
  static constexpr int kProducts = 1;  // of 16 rows

  // x: the warp's first row at the first k of the block; first_k: the warp's.
  __device__ __forceinline__ DepthRows(const uint16_t* x, int64_t ld, int64_t rows, int lane,
                                       int first_k)
      : first_(x + lane / 4 * ld + (first_k + lane % 4 * 8)),
        second_(first_ + 8 * ld),
        has_first_(lane / 4 < rows),
        has_second_(lane / 4 + 8 < rows) {}

  // depth: k from the warp's k here on.
  __device__ __forceinline__ void load_all(int depth, int lane) {
#pragma unroll
    for (int q = 0; q < Tile::kQuads; ++q) load(q, depth, lane);
  }

  // Multiplies the loaded k, those of y, and loads those that lie step_k further on.
  __device__ __forceinline__ void multiply(float (&sums)[kProducts][Tile::kColumnGroups][4],
                                           const uint16_t (&y)[Tile::kThin][Tile::kPitch], int k0,
                                           int step_k, int depth, int lane) {
    skip(step_k);
#pragma unroll
    for (int q = 0; q < Tile::kQuads; ++q) {
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
        const uint4 b =
            *reinterpret_cast<const uint4*>(&y[8 * c + lane / 4][k0 + 32 * q + 8 * (lane % 4)]);
        ptx::mma_16<kBf16>(sums[0][c], {x_[q][0].x, x_[q][1].x, x_[q][0].y, x_[q][1].y},
                           {b.x, b.y});
        ptx::mma_16<kBf16>(sums[0][c], {x_[q][0].z, x_[q][1].z, x_[q][0].w, x_[q][1].w},
                           {b.z, b.w});
      }
      load(q, depth - k0 - step_k, lane);
    }
  }

  __device__ __forceinline__ void skip(int k) {
    first_ = ptx::advanced(first_, k);
    second_ = ptx::advanced(second_, k);
  }

  // Leaves the sums of the warp's 16 rows: (thin, rows).
  __device__ __forceinline__ static void store(
      float* to, const float (&sums)[kProducts][Tile::kColumnGroups][4], int lane) {
#pragma unroll
    for (int c = 0; c < Tile::kColumnGroups; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[(8 * c + lane % 4 * 2 + i % 2) * 16 + lane / 4 + i / 2 * 8] = sums[0][c][i];
      }
    }
  }

 private:
  __device__ __forceinline__ void load(int q, int depth, int lane) {
    const bool inside = 32 * q + lane % 4 * 8 < depth;
    x_[q][0] = ptx::load_16_bytes(first_ + 32 * q, inside && has_first_);
    x_[q][1] = ptx::load_16_bytes(second_ + 32 * q, inside && has_second_);
  }

  const uint16_t *first_, *second_;
  bool has_first_, has_second_;
  uint4 x_[Tile::kQuads][2];
};

// A warp's 64 rows of the long operand, contiguous along them: a lane has rows 8g to 8g + 7 of
// eight k from 8t on, g = lane / 4, t = lane % 4. Pairs of k are made of two loads. Product p has
// rows 8g + 2p and, eight rows further down, 8g + 2p + 1.
template <class Tile, bool kBf16>
class TileRows {
 public:
  static constexpr int kProducts = 4;

  __device__ __forceinline__ TileRows(const uint16_t* x, int64_t ld, int64_t rows, int lane,
                                      int first_k)
      : next_(x + lane / 4 * 8 + (first_k + lane % 4 * 8) * ld),
        ld_(ld),
        inside_(lane / 4 * 8 < rows) {}

  __device__ __forceinline__ void load_all(int depth, int lane) {
#pragma unroll
    for (int i = 0; i < 8; ++i) load(i, depth, lane);
  }

  __device__ __forceinline__ void multiply(float (&sums)[kProducts][Tile::kColumnGroups][4],
                                           const uint16_t (&y)[Tile::kThin][Tile::kPitch], int k0,
                                           int step_k, int depth, int lane) {
    skip(step_k - 8);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint2 b[Tile::kColumnGroups];
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
        b[c] =
            *reinterpret_cast<const uint2*>(&y[8 * c + lane / 4][k0 + 8 * (lane % 4) + 4 * half]);
      }
#pragma unroll
      for (int p = 0; p < kProducts; ++p) {
        const unsigned(*x)[4] = &x_[4 * half];
        const unsigned a[4] = {
            __byte_perm(x[0][p], x[1][p], 0x5410), __byte_perm(x[0][p], x[1][p], 0x7632),
            __byte_perm(x[2][p], x[3][p], 0x5410), __byte_perm(x[2][p], x[3][p], 0x7632)};
#pragma unroll
        for (int c = 0; c < Tile::kColumnGroups; ++c) {
          ptx::mma_16<kBf16>(sums[p][c], a, {b[c].x, b[c].y});
        }
      }
#pragma unroll
      for (int i = 4 * half; i < 4 * half + 4; ++i) load(i, depth - k0 - step_k, lane);
    }
  }

  __device__ __forceinline__ void skip(int k) { next_ = ptx::advanced(next_, k * ld_); }

  __device__ __forceinline__ static void store(
      float* to, const float (&sums)[kProducts][Tile::kColumnGroups][4], int lane) {
#pragma unroll
    for (int p = 0; p < kProducts; ++p) {
#pragma unroll
      for (int c = 0; c < Tile::kColumnGroups; ++c) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          to[(8 * c + lane % 4 * 2 + i % 2) * 64 + lane / 4 * 8 + 2 * p + i / 2] = sums[p][c][i];
        }
      }
    }
  }

 private:
  __device__ __forceinline__ void load(int i, int depth, int lane) {
    const uint4 quad = ptx::load_16_bytes(next_, inside_ && lane % 4 * 8 + i < depth);
    x_[i][0] = quad.x, x_[i][1] = quad.y, x_[i][2] = quad.z, x_[i][3] = quad.w;
    next_ = ptx::advanced(next_, ld_);
  }

  const uint16_t* next_;
  int64_t ld_;
  bool inside_;
  unsigned x_[8][4];
};

}  // namespace thin_mma

template <class Tile, bool kBf16, bool kKMajor>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kRegisterBlocks)
    gemm_thin_mma(const ThinArgs args) {
  using namespace thin_mma;
  using Rows = std::conditional_t<kKMajor, DepthRows<Tile, kBf16>, TileRows<Tile, kBf16>>;
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
    Rows rows(args.x.matrix<const uint16_t>(block.matrix) + l0 * along_rows +
                  block.k_begin(args) * along_k,
              args.x.ld, args.extent - l0, lane, first_k);
    rows.load_all(left - first_k, lane);
    const auto copy = [&](int chunk, int depth) {
      copy_chunk<Tile>(shared.y[chunk % 2], args, chunk, depth,
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
  const bool bf16 = p.a.type == MYGEMM_R_16BF;
  const auto kernel =
      config.k_major
          ? (bf16 ? gemm_thin_mma<Tile, true, true> : gemm_thin_mma<Tile, false, true>)
          : (bf16 ? gemm_thin_mma<Tile, true, false> : gemm_thin_mma<Tile, false, false>);
  RETURN_IF_ERROR(launch(context, kernel, config, args));
  return args.partials ? launch_add_partials(p, config, context) : MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
