// Softmax of rows that fit a block's shared memory: a block per row, the row kept there as fp32,
// so that it is read from memory once.
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rows.h"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"
#include "kernels/softmax/storage.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kMostThreads = 1024;
// Blocks of up to this many threads run a version with half the loads in flight per thread and
// registers for half as many blocks again: many short rows hide each other's latencies.
constexpr int kFewThreads = 256;

// Calls body(first column, distance of packs) for each batch of kPacks packs of this thread.
template <int kPacks, class Body>
__device__ __forceinline__ void for_each_batch(int cols, Body body) {
  const int stride = static_cast<int>(blockDim.x) * 4;
  for (int first = static_cast<int>(threadIdx.x) * 4; first < cols; first += kPacks * stride) {
    body(first, stride);
  }
}

// Shared memory holds s, then exp(s - maximum) (log: still s), of the row.
template <int kPacks>
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                            float* row, float* partial) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  float maximum = -INFINITY;
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float value[kPacks][4];
    load_packs(value, x, first, stride, cols, 0.0f);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int c = first + k * stride + i;
        if (c >= cols) continue;
        const float s = p.scale * value[k][i];
        maximum = fmaxf(maximum, s);
        row[c] = s;
      }
    }
  });
  maximum = block_reduce<Max>(maximum, partial);      // its barriers publish `row`
  float sum = 0.0f;
  for (int c = thread; c < cols; c += threads) {
    const float exponential = expf(row[c] - maximum);
    sum += exponential;
    if (!p.log_mode()) row[c] = exponential;
  }
  const RowNormaliser normal = normaliser(p, maximum, block_reduce<Sum>(sum, partial));
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float value[kPacks][4];
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int c = first + k * stride + i;
        if (c >= cols) continue;
        value[k][i] = p.log_mode() ? softmax_of(p, row[c], normal) : row[c] * normal.factor;
      }
    }
    store_packs(value, y, first, stride, cols);
  });
}

// Shared memory holds y, then dy, of the row.
template <int kPacks>
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                             float* row, float* partial) {
  const TypedRow y = row_of(p.in, r, p.cols), dy = row_of(p.dy, r, p.cols);
  float sum = 0.0f;
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float y_value[kPacks][4], dy_value[kPacks][4];
    load_packs(y_value, y, first, stride, cols, 0.0f);
    load_packs(dy_value, dy, first, stride, cols, 0.0f);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int c = first + k * stride + i;
        if (c >= cols) continue;
        sum += gradient_term(p, y_value[k][i], dy_value[k][i]);
        row[c] = y_value[k][i];
        row[cols + c] = dy_value[k][i];
      }
    }
  });
  sum = block_reduce<Sum>(sum, partial);
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float value[kPacks][4];
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int c = first + k * stride + i;
        if (c < cols) value[k][i] = gradient_of(p, row[c], row[cols + c], sum);
      }
    }
    store_packs(value, row_of(p.out, r, p.cols), first, stride, cols);
  });
}

template <bool kBackward, int kThreads, int kPacks>
__global__ void __launch_bounds__(kThreads, kThreads == kFewThreads ? 6 : 1) softmax_block(const SoftmaxProblem p) {
  auto& shared = shared_storage<SoftmaxStorage>();
  float* row = reinterpret_cast<float*>(&shared + 1);   // softmax_row_bytes(p)
  const int cols = static_cast<int>(p.cols);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    if constexpr (kBackward) {
      backward_row<kPacks>(p, r, cols, row, shared.partial);
    } else {
      forward_row<kPacks>(p, r, cols, row, shared.partial);
    }
    __syncthreads();            // the row is written out before the next takes its place
  }
}

}  // namespace

Status cuda::launch_softmax_block(const SoftmaxRow& row, const SoftmaxProblem& p,
                                  const LaunchContext& context) {
  const size_t shared_bytes = static_cast<size_t>(row.shared_bytes + softmax_row_bytes(p));
  const int threads =
      softmax_block_threads(p, static_cast<int64_t>(shared_bytes), *context.device);
  const auto run = [&](auto kernel) {
    return launch(context, kernel, grid_size(p.rows), threads, shared_bytes, p);
  };
  if (threads <= kFewThreads) {
    return run(p.backward ? softmax_block<true, kFewThreads, 1>
                          : softmax_block<false, kFewThreads, 1>);
  }
  return run(p.backward ? softmax_block<true, kMostThreads, 2>
                        : softmax_block<false, kMostThreads, 2>);
}

}  // namespace mygemm
