// RELU with bits for its gradient, in place over D: each element is read and written once. A warp
// takes a column's 1024 rows, or the next column's, and its lanes store neighbouring words of bits.
#include "kernels/gemm/relu_bits.h"

#include "kernels/epilogue.cuh"
#include "kernels/launch.h"

namespace mygemm {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32, kRows = 32 * 32;
constexpr int kAtOnce = 8;  // rows of a lane whose loads are in flight together

// Stores the word of rows `row` to row + 31 of a column, no byte of which is past the last row.
__device__ __forceinline__ void store_bits(uint8_t* column, int64_t row, int64_t rows,
                                           unsigned bits) {
  uint8_t* const to = column + row / 8;
  if (row + 32 <= rows) {
    *reinterpret_cast<unsigned*>(to) = bits;
    return;
  }
  for (int byte = 0; row + 8 * byte < rows; ++byte) {
    to[byte] = static_cast<uint8_t>(bits >> 8 * byte);
  }
}

// T: the elements of D.
template <class T>
__global__ void __launch_bounds__(kThreads) relu_bits(const GemmProblem p) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t parts = ceil_div(p.m, kRows), warps = int64_t{gridDim.x} * kWarps;
#pragma unroll 1
  for (int64_t at = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
       at < parts * p.n * p.batch_count; at += warps) {
    const int64_t first = at % parts * kRows, j = at / parts % p.n, matrix = at / parts / p.n;
    T* const d = p.d.matrix<T>(matrix) + j * p.d.ld;
    const int64_t number = matrix * p.epilogue.stride_aux + j * p.epilogue.ldaux;
    unsigned bits = 0;  // lane l keeps those of rows first + 32 l on
#pragma unroll 1
    for (int l = 0; l < 32 && first + 32 * l < p.m; l += kAtOnce) {
      float t[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int64_t row = first + 32 * (l + i) + lane;
        t[i] = row < p.m ? to_float(d[row]) : -1.0f;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const unsigned word = __ballot_sync(0xffffffffu, !(t[i] < 0.0f));
        if (lane == l + i) bits = word;
        const int64_t row = first + 32 * (l + i) + lane;
        if (row < p.m) d[row] = from_float<T>(relu(t[i]));
      }
    }
    const int64_t row = first + 32 * lane;
    if (row < p.m) store_bits(static_cast<uint8_t*>(p.epilogue.aux) + number / 8, row, p.m, bits);
  }
}

}  // namespace

Status cuda::launch_relu_bits(const GemmProblem& p, const LaunchContext& context) {
  const int64_t work = ceil_div(p.m, kRows) * p.n * p.batch_count;
  const auto kernel = with_element_type(p.d.type, [](auto d) { return relu_bits<decltype(d)>; });
  return launch(context, kernel, grid_size(ceil_div(work, kWarps)), kThreads, 0, p);
}

}  // namespace mygemm
