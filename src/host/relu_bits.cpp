// RELU with bits for its gradient, in place over D. Host backend.
#include "kernels/gemm/relu_bits.h"

#include "host/parallel.h"

namespace mygemm::host {
namespace {

void relu_of_column(float* d, int64_t rows, uint8_t* bits) {
  for (int64_t first = 0; first < rows; first += 8) {
    unsigned byte = 0;
    for (int64_t i = first; i < first + 8 && i < rows; ++i) {
      byte |= static_cast<unsigned>(!(d[i] < 0.0f)) << (i - first);
      d[i] = d[i] <= 0.0f ? 0.0f : d[i];  // NaN stays
    }
    bits[first / 8] = static_cast<uint8_t>(byte);
  }
}

}  // namespace

// Columns begin at whole bytes of bits, so that threads share none.
Status launch_relu_bits(const GemmProblem& p) {
  const double bytes = 8.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.batch_count);
  parallel_for(p.n * p.batch_count, threads_for(bytes, kBytesPerThread), [&](int64_t task, int) {
    const int64_t matrix = task / p.n, j = task % p.n;
    const int64_t number = matrix * p.epilogue.stride_aux + j * p.epilogue.ldaux;
    relu_of_column(p.d.matrix<float>(matrix) + j * p.d.ld, p.m,
                   static_cast<uint8_t*>(p.epilogue.aux) + number / 8);
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
