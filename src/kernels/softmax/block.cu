// Softmax of rows that fit a block's shared memory: a block per row, the row kept there as fp32,
// so that it is read from memory once.
#include <algorithm>

#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rows.h"
#include "kernels/softmax/elements.cuh"
#include "kernels/softmax/formulas.cuh"
#include "kernels/softmax/storage.h"
#include "ptx/shared.cuh"

namespace mygemm {
namespace {

constexpr int kPacks = 2;       // loads of 16 bytes in flight per thread
constexpr int kMostThreads = 1024;

// Calls body(first column, pack index) for each batch of packs that is this thread's.
template <class Body>
__device__ __forceinline__ void for_each_batch(int cols, Body body) {
  const int stride = static_cast<int>(blockDim.x) * 4;
  for (int first = static_cast<int>(threadIdx.x) * 4; first < cols; first += kPacks * stride) {
    body(first, stride);
  }
}

// Shared memory holds s, then exp(s - maximum) (log: still s), of the row.
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                            float* row, float* partial) {
  const TypedRow x = row_of(p.in, r, p.cols), y = row_of(p.out, r, p.cols);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  float maximum = -INFINITY;
  for_each_batch(cols, [&](int first, int stride) {
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
  for_each_batch(cols, [&](int first, int stride) {
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
__device__ __forceinline__ void backward_row(const SoftmaxProblem& p, int64_t r, int cols,
                                             float* row, float* partial) {
  const TypedRow y = row_of(p.in, r, p.cols), dy = row_of(p.dy, r, p.cols);
  float sum = 0.0f;
  for_each_batch(cols, [&](int first, int stride) {
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
  for_each_batch(cols, [&](int first, int stride) {
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

template <bool kBackward>
__global__ void __launch_bounds__(kMostThreads) softmax_block(const SoftmaxProblem p) {
  auto& shared = shared_storage<SoftmaxStorage>();
  float* row = reinterpret_cast<float*>(&shared + 1);   // softmax_row_bytes(p)
  const int cols = static_cast<int>(p.cols);
  for (int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    if constexpr (kBackward) {
      backward_row(p, r, cols, row, shared.partial);
    } else {
      forward_row(p, r, cols, row, shared.partial);
    }
    __syncthreads();            // the row is written out before the next takes its place
  }
}

// The most threads that keep as many threads on a multiprocessor as its registers allow, given
// how many rows fit its shared memory; a thread should have at least one pack.
int threads_for(const SoftmaxProblem& p, size_t shared_bytes, const DeviceTraits& device) {
  constexpr int kReserved = 1024;         // bytes of shared memory the system takes per block
  const int resident = std::max(1, device.shared_per_sm / (static_cast<int>(shared_bytes) +
                                                           kReserved));
  int threads = 128;
  while (threads < kMostThreads && 2 * threads * std::min(resident, 16) <= 2048 &&
         int64_t{4} * threads < p.cols) {
    threads *= 2;
  }
  return threads;
}

}  // namespace

Status cuda::launch_softmax_block(const SoftmaxRow& row, const SoftmaxProblem& p,
                                  const LaunchContext& context) {
  const size_t shared_bytes = static_cast<size_t>(row.shared_bytes + softmax_row_bytes(p));
  const auto kernel = p.backward ? softmax_block<true> : softmax_block<false>;
  return launch(context, kernel, grid_size(p.rows),
                threads_for(p, shared_bytes, *context.device), shared_bytes, p);
}

}  // namespace mygemm
