// Launchers of the host's softmax kernels and their distribution over threads. Host backend;
// softmax_chunk.h has the arithmetic of host_vectorised.
#include "host/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

#include "host/parallel.h"
#include "host/softmax_chunk.h"
#include "host/stream.h"
#include "host/typed_array.h"

namespace mygemm::host {
namespace {

constexpr int64_t kElementsPerTask = 16 * 1024;

// Element (r, c) of a matrix whose type is known at run time only.
float get(const TypedMatrix& matrix, int64_t r, int64_t c) {
  float value = 0.0f;
  with_type(matrix.type, [&](auto type) {
    using Type = decltype(type);
    value = load_float<Type>(static_cast<const typename Type::Storage*>(matrix.data) +
                             r * matrix.ld + c);
  });
  return value;
}

void set(const TypedMatrix& matrix, int64_t r, int64_t c, float value) {
  with_type(matrix.type, [&](auto type) {
    using Type = decltype(type);
    store_float<Type>(static_cast<typename Type::Storage*>(matrix.data) + r * matrix.ld + c, value);
  });
}

void naive_forward(const SoftmaxProblem& problem, int64_t r) {
  const auto scaled = [&](int64_t c) { return double{problem.scale} * get(problem.in, r, c); };
  double maximum = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < problem.cols; ++c) maximum = std::fmax(maximum, scaled(c));
  if (!(std::fabs(maximum) < kOverflow)) maximum = std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  for (int64_t c = 0; c < problem.cols; ++c) sum += std::exp(scaled(c) - maximum);
  const double log_sum = std::log(sum);
  for (int64_t c = 0; c < problem.cols; ++c) {
    const double shifted = scaled(c) - maximum;
    const double result = problem.log_mode() ? shifted - log_sum : std::exp(shifted) / sum;
    set(problem.out, r, c, static_cast<float>(result));
  }
}

void naive_backward(const SoftmaxProblem& problem, int64_t r) {
  double sum = 0.0;
  for (int64_t c = 0; c < problem.cols; ++c) {
    const float dy = get(problem.dy, r, c);
    sum += problem.log_mode() ? dy : dy * get(problem.in, r, c);
  }
  const float row_sum = static_cast<float>(sum);
  for (int64_t c = 0; c < problem.cols; ++c) {
    const float y = get(problem.in, r, c);
    const float dy = get(problem.dy, r, c);
    set(problem.out, r, c,
        problem.log_mode() ? problem.scale * (dy - std::exp(y) * row_sum)
                           : problem.scale * y * (dy - row_sum));
  }
}

// Non-temporal stores do not pay for short rows, whose incomplete cache lines are stored as usual.
constexpr int64_t kShortestStream = 1024;

Chunk chunk_at(const SoftmaxProblem& problem, int64_t row, int64_t index) {
  const int64_t size = element_bytes(problem.out.type);
  const double bytes = static_cast<double>(problem.rows) * static_cast<double>(problem.cols) *
                       static_cast<double>(size);
  return {row, index * kChunk, std::min(kChunk, problem.cols - index * kChunk),
          bytes > kStreamBytes && problem.cols * size >= kShortestStream};
}

// Computes a row with one thread.
void run_row(const SoftmaxProblem& problem, int64_t row, ChunkScratch& scratch) {
  const ChunkKernels& kernels = chunk_kernels();
  const int64_t chunks = ceil_div(problem.cols, kChunk);
  RowSum sum = kernels.reduce(problem, chunk_at(problem, row, 0), scratch);
  for (int64_t i = 1; i < chunks; ++i) {
    sum.add(Scale(problem), kernels.reduce(problem, chunk_at(problem, row, i), scratch));
  }
  for (int64_t i = 0; i < chunks; ++i) {
    kernels.write(problem, chunk_at(problem, row, i), sum, chunks == 1, scratch);
  }
}

// Computes a row with all threads: the same chunks, added in the same order.
void run_row_together(const SoftmaxProblem& problem, int64_t row, int threads, RowSum* parts) {
  const ChunkKernels& kernels = chunk_kernels();
  const int64_t chunks = ceil_div(problem.cols, kChunk);
  parallel_for(chunks, threads, [&](int64_t i, int) {
    ChunkScratch scratch;
    parts[i] = kernels.reduce(problem, chunk_at(problem, row, i), scratch);
  });
  RowSum sum = parts[0];
  for (int64_t i = 1; i < chunks; ++i) sum.add(Scale(problem), parts[i]);
  parallel_for(chunks, threads, [&](int64_t i, int) {
    ChunkScratch scratch;
    kernels.write(problem, chunk_at(problem, row, i), sum, false, scratch);
    finish_streaming();
  });
}

}  // namespace

Status launch_softmax_naive(const SoftmaxProblem& problem, const SoftmaxConfig&,
                            const LaunchContext&) {
  for (int64_t r = 0; r < problem.rows; ++r) {
    problem.backward ? naive_backward(problem, r) : naive_forward(problem, r);
  }
  return MYGEMM_STATUS_SUCCESS;
}

Status launch_softmax_vectorised(const SoftmaxProblem& problem, const SoftmaxConfig&,
                                 const LaunchContext&) {
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  const int threads = threads_for(elements * sizeof(float), kBytesPerThread);
  const int64_t chunks = ceil_div(problem.cols, kChunk);

  if (threads > 1 && problem.rows < 2 * threads && chunks > 1) {
    const std::unique_ptr<RowSum[]> parts(new (std::nothrow) RowSum[static_cast<size_t>(chunks)]);
    if (!parts) {
      return fail(MYGEMM_STATUS_ALLOC_FAILED, "no memory for the sums of %lld parts of a row",
                  static_cast<long long>(chunks));
    }
    for (int64_t row = 0; row < problem.rows; ++row) {
      run_row_together(problem, row, threads, parts.get());
    }
    return MYGEMM_STATUS_SUCCESS;
  }

  const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / problem.cols);
  parallel_for(ceil_div(problem.rows, rows_per_task), threads, [&](int64_t task, int) {
    ChunkScratch scratch;
    const int64_t end = std::min(problem.rows, (task + 1) * rows_per_task);
    for (int64_t row = task * rows_per_task; row < end; ++row) run_row(problem, row, scratch);
    finish_streaming();
  });
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm::host
