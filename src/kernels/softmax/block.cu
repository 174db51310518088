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
// Blocks of up to this many threads run a version with registers for more blocks at a time (the
// gradient with half the loads in flight per thread): many short rows hide each other's latencies.
constexpr int kFewThreads = 256;

// Blocks of kThreads that should fit a multiprocessor, which holds 1024 threads on sm_75.
template <int kThreads, bool kBackward>
__device__ constexpr int blocks_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 1024 / kThreads;
#else
  return kThreads == kFewThreads ? (kBackward ? 6 : 5) : 1;
#endif
}

// A row in shared memory, by packs of four columns: each thread reads and writes its own packs
// only, 16 bytes at a time and so without bank conflicts. Columns past the row's end hold -inf.
struct SharedRow {
  float4* pack;

  __device__ void store(int column, const float (&value)[4]) {
    pack[column / 4] = make_float4(value[0], value[1], value[2], value[3]);
  }
  __device__ void load(int column, float (&value)[4]) const {
    const float4 v = pack[column / 4];
    value[0] = v.x;
    value[1] = v.y;
    value[2] = v.z;
    value[3] = v.w;
  }
};

// Calls body(first column, distance of packs) for each batch of kPacks packs of this thread.
template <int kPacks, class Body>
__device__ __forceinline__ void for_each_batch(int cols, Body body) {
  const int stride = static_cast<int>(blockDim.x) * 4;
  for (int first = static_cast<int>(threadIdx.x) * 4; first < cols; first += kPacks * stride) {
    body(first, stride);
  }
}

// The row holds s, then exp(s - maximum) (log: still s).
template <int kPacks>
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                            SharedRow row, SoftmaxStorage& shared) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  float maximum = -INFINITY;
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float s[kPacks][4];
    load_packs(s, x, first, stride, cols, 0.0f);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int column = first + k * stride;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[k][i] = column + i < cols ? scaled(p, s[k][i]) : -INFINITY;
        maximum = fmaxf(maximum, s[k][i]);
      }
      if (column < cols) row.store(column, s[k]);
    }
  });
  maximum = block_reduce<Max>(maximum, shared.first);
  float sum = 0.0f;
  for_each_batch<1>(cols, [&](int first, int) {
    float s[4];
    row.load(first, s);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float exponential = expf(s[i] - maximum);
      sum += exponential;
      if (!p.log_mode()) s[i] = exponential;
    }
    row.store(first, s);
  });
  const RowNormaliser normal = normaliser(p, maximum, block_reduce<Sum>(sum, shared.second));
  for_each_batch<1>(cols, [&](int first, int stride) {
    float value[1][4];
    row.load(first, value[0]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      value[0][i] = p.log_mode() ? softmax_of(p, value[0][i], normal) : value[0][i] * normal.factor;
    }
    store_packs(value, y, first, stride, cols);
  });
}

// The rows hold y and dy.
template <int kPacks>
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                             SharedRow y_row, SoftmaxStorage& shared) {
  const TypedRow y = row_of(p.in, r, p.cols), dy = row_of(p.dy, r, p.cols);
  SharedRow dy_row{y_row.pack + ceil_div(cols, 4)};
  float sum = 0.0f;
  for_each_batch<kPacks>(cols, [&](int first, int stride) {
    float y_value[kPacks][4], dy_value[kPacks][4];
    load_packs(y_value, y, first, stride, cols, 0.0f);
    load_packs(dy_value, dy, first, stride, cols, 0.0f);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int column = first + k * stride;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (column + i < cols) sum += gradient_term(p, y_value[k][i], dy_value[k][i]);
      }
      if (column < cols) {
        y_row.store(column, y_value[k]);
        dy_row.store(column, dy_value[k]);
      }
    }
  });
  sum = block_reduce<Sum>(sum, shared.first);
  for_each_batch<1>(cols, [&](int first, int stride) {
    float y_value[4], value[1][4];
    y_row.load(first, y_value);
    dy_row.load(first, value[0]);
#pragma unroll
    for (int i = 0; i < 4; ++i) value[0][i] = gradient_of(p, y_value[i], value[0][i], sum);
    store_packs(value, row_of(p.out, r, p.cols), first, stride, cols);
  });
}

template <bool kBackward, int kThreads, int kPacks>
__global__ void __launch_bounds__(kThreads, blocks_per_sm<kThreads, kBackward>())
    softmax_block(const SoftmaxProblem p) {
  auto& shared = shared_storage<SoftmaxStorage>();
  const SharedRow row{reinterpret_cast<float4*>(&shared + 1)};  // softmax_row_bytes(p)
  const int cols = static_cast<int>(p.cols);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    if constexpr (kBackward) {
      backward_row<kPacks>(p, r, cols, row, shared);
    } else {
      forward_row<kPacks>(p, r, cols, row, shared);
    }
    __syncthreads();  // partial results are read before the next row writes its own
  }
}

}  // namespace

Status cuda::launch_softmax_block(const SoftmaxRow& row, const SoftmaxProblem& p,
                                  const LaunchContext& context) {
  const size_t shared_bytes = static_cast<size_t>(row.shared_bytes + softmax_row_bytes(p));
  const int threads = softmax_block_threads(p, static_cast<int64_t>(shared_bytes), *context.device);
  const auto run = [&](auto kernel) {
    return launch(context, kernel, grid_size(p.rows), threads, shared_bytes, p);
  };
  if (threads <= kFewThreads) {
    return run(p.backward ? softmax_block<true, kFewThreads, 1>
                          : softmax_block<false, kFewThreads, 2>);
  }
  return run(p.backward ? softmax_block<true, kMostThreads, 2>
                        : softmax_block<false, kMostThreads, 2>);
}

}  // namespace mygemm
