// Triangles of D from whole sums. Host backend.
#include "kernels/gemm/triangle.h"

#include "host/parallel.h"
#include "host/typed_array.h"

namespace mygemm {
namespace {

using namespace host;

// Column j of a matrix of D, whose elements are of Type.
template <class Type>
void store_column(const GemmProblem& p, int64_t matrix, int64_t j, const float* sum) {
  using Element = typename Type::Storage;
  const float alpha = p.epilogue.alpha.value, beta = p.epilogue.beta.value;
  const Element* c = p.c.matrix<const Element>(matrix) + j * p.c.ld;
  Element* d = p.d.matrix<Element>(matrix) + j * p.d.ld;
  const auto [begin, end] = p.filled_rows(j);
  for (int64_t i = begin; i < end; ++i) {
    const float scaled = alpha * sum[i];
    store_float<Type>(d + i, beta == 0.0f ? scaled : scaled + beta * load_float<Type>(c + i));
  }
}

}  // namespace

Status host::launch_triangle(const GemmProblem& p, const WholeSums& sums) {
  const double bytes = 8.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.batch_count);
  parallel_for(p.n * p.batch_count, threads_for(bytes, kBytesPerThread), [&](int64_t at, int) {
    const int64_t j = at % p.n, matrix = at / p.n;
    const float* sum = sums.data + matrix * sums.stride + j * sums.ld;
    with_type(p.d.type, [&](auto type) { store_column<decltype(type)>(p, matrix, j, sum); });
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
