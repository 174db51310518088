// Softmax of rows of any width: a block per row reads it twice, once for the running maximum and
// sum (Milakov and Gimelshein's online softmax), once for the results.
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rows.h"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"
#include "kernels/softmax/storage.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kThreads = 1024;
// Loads of 16 bytes in flight per thread. The gradient loads two matrices.
constexpr int kPacks = 2, kGradientPacks = 1;
constexpr int kStride = 4 * kThreads;

// Calls body(first column, columns from there on that the batch can reach) for each batch of packs
// of this thread. 64-bit arithmetic is done once per batch: for every pack it cost spills.
template <int kBatch, class Body>
__device__ __forceinline__ void for_each_batch(int64_t cols, Body body) {
  for (int64_t first = threadIdx.x * 4; first < cols; first += kBatch * kStride) {
    const int64_t left = cols - first;
    body(first, static_cast<int>(left < kBatch * kStride ? left : kBatch * kStride));
  }
}

// One batch of packs joins the thread's running maximum and sum: one rescaling per batch.
__device__ __forceinline__ MaxSum add_batch(const MaxSum& so_far, const float (&s)[kPacks][4]) {
  MaxSum batch{-INFINITY, 0.0f};
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) batch.maximum = fmaxf(batch.maximum, s[k][i]);
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      // In a batch of nothing but -inf the difference is NaN; such elements add 0.
      batch.sum += s[k][i] == -INFINITY ? 0.0f : expf(s[k][i] - batch.maximum);
    }
  }
  return merge(so_far, batch);
}

__device__ __forceinline__ void load_scaled(float (&s)[kPacks][4], const SoftmaxProblem& p,
                                            const TypedRow& x, int64_t first, int left) {
  load_packs(s, from_column(x, first), 0, kStride, left, 0.0f);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[k][i] = k * kStride + i < left ? scaled(p, s[k][i]) : -INFINITY;
    }
  }
}

__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r,
                                            SoftmaxStorage& shared) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  MaxSum mine{-INFINITY, 0.0f};
  float s[kPacks][4];
  for_each_batch<kPacks>(p.cols, [&](int64_t first, int left) {
    load_scaled(s, p, x, first, left);
    mine = add_batch(mine, s);
  });
  const MaxSum whole = block_merge(mine, shared.first, shared.second);
  const RowNormaliser row = normaliser(p, whole.maximum, whole.sum);
  for_each_batch<kPacks>(p.cols, [&](int64_t first, int left) {
    load_scaled(s, p, x, first, left);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) s[k][i] = softmax_of(p, s[k][i], row);
    }
    store_packs(s, from_column(y, first), 0, kStride, left);
  });
}

__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r,
                                             SoftmaxStorage& shared) {
  const TypedRow y = row_of(p.in, r, p.cols), dy = row_of(p.dy, r, p.cols);
  float y_value[kGradientPacks][4], dy_value[kGradientPacks][4];
  const auto load = [&](int64_t first, int left) {
    load_packs(y_value, from_column(y, first), 0, kStride, left, 0.0f);
    load_packs(dy_value, from_column(dy, first), 0, kStride, left, 0.0f);
  };
  float sum = 0.0f;
  for_each_batch<kGradientPacks>(p.cols, [&](int64_t first, int left) {
    load(first, left);
#pragma unroll
    for (int k = 0; k < kGradientPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (k * kStride + i < left) {
          sum += gradient_term(p, y_value[k][i], dy_value[k][i]);
        }
      }
    }
  });
  sum = block_reduce<Sum>(sum, shared.first);
  for_each_batch<kGradientPacks>(p.cols, [&](int64_t first, int left) {
    load(first, left);
#pragma unroll
    for (int k = 0; k < kGradientPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        dy_value[k][i] = gradient_of(p, y_value[k][i], dy_value[k][i], sum);
      }
    }
    store_packs(dy_value, from_column(row_of(p.out, r, p.cols), first), 0, kStride, left);
  });
}

template <bool kBackward>
__global__ void __launch_bounds__(kThreads) softmax_reread(const SoftmaxProblem p) {
  auto& shared = shared_storage<SoftmaxStorage>();
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    if constexpr (kBackward) {
      backward_row(p, r, shared);
    } else {
      forward_row(p, r, shared);
    }
    __syncthreads();  // the partial results are read before the next row writes its own
  }
}

}  // namespace

Status cuda::launch_softmax_reread(const SoftmaxRow&, const SoftmaxProblem& p,
                                   const LaunchContext& context) {
  const auto kernel = p.backward ? softmax_reread<true> : softmax_reread<false>;
  return launch(context, kernel, grid_size(p.rows), kThreads, sizeof(SoftmaxStorage), p);
}

}  // namespace mygemm
