// RELU with bits for its gradient, in place over D. Host backend.
#include "kernels/gemm/relu_bits.h"

#include "host/parallel.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

template <class Type>
void relu_of_column(typename Type::Storage* d, int64_t rows, uint8_t* bits) {
  for (int64_t first = 0; first < rows; first += 8) {
    unsigned byte = 0;
    for (int64_t i = first; i < first + 8 && i < rows; ++i) {
      const float t = load_float<Type>(d + i);
      byte |= static_cast<unsigned>(!(t < 0.0f)) << (i - first);
      if (t <= 0.0f) d[i] = 0;  // NaN stays
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
    with_type(p.d.type, [&](auto type) {
      using Type = decltype(type);
      relu_of_column<Type>(p.d.matrix<typename Type::Storage>(matrix) + j * p.d.ld, p.m,
                           static_cast<uint8_t*>(p.epilogue.aux) + number / 8);
    });
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
