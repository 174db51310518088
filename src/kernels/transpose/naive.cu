// The naive transpose: one thread per element. It runs any problem, also in place, for any shape
// and leading dimensions, without a workspace.
#include "kernels/launch.h"
#include "kernels/transpose/kernels.h"
#include "kernels/transpose/with_element.h"

namespace mygemm {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads) transpose_naive(const TransposeProblem p) {
  using T = Element<kBytes>;
  const int64_t per_matrix = p.rows * p.cols, elements = per_matrix * p.batch_count;
  for (int64_t e = int64_t{blockIdx.x} * kTransposeThreads + threadIdx.x; e < elements;
       e += int64_t{gridDim.x} * kTransposeThreads) {
    const int64_t batch = e / per_matrix, r = e % per_matrix / p.cols, c = e % p.cols;
    static_cast<T*>(p.out)[batch * p.stride_out + c * p.ldout + r] =
        static_cast<const T*>(p.in)[batch * p.stride_in + r * p.ldin + c];
  }
}

// In place, `out` and `in` are two layouts of the same memory: the element wanted at position d of
// the output comes from position source(d). Following source() from d either returns to d (a
// cycle) or ends at a position that no output needs (a path, whose start is no input).
struct Permutation {
  int64_t rows, cols, ldin, ldout;

  __device__ bool is_input(int64_t position) const {
    return position / ldin < rows && position % ldin < cols;
  }
  __device__ bool is_output(int64_t position) const {
    return position / ldout < cols && position % ldout < rows;
  }
  __device__ int64_t source(int64_t output) const { return output % ldout * ldin + output / ldout; }
  // Whether d is the leader of its cycle or path: the smallest position of a cycle, the start of a
  // path. Takes about log(n) steps on average, since a smaller position is found soon.
  __device__ bool leads(int64_t d) const {
    if (!is_input(d)) return true;
    int64_t next = source(d);
    while (next > d && is_output(next)) next = source(next);
    return next == d;
  }
};

// One thread per output position; the leader of each cycle or path moves all of its elements.
template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads) follow_cycles(const TransposeProblem p) {
  using T = Element<kBytes>;
  const Permutation permutation{p.rows, p.cols, p.ldin, p.ldout};
  const int64_t per_matrix = p.rows * p.cols, elements = per_matrix * p.batch_count;
  for (int64_t e = int64_t{blockIdx.x} * kTransposeThreads + threadIdx.x; e < elements;
       e += int64_t{gridDim.x} * kTransposeThreads) {
    const int64_t leader = e % per_matrix / p.rows * p.ldout + e % p.rows;
    if (!permutation.leads(leader)) continue;
    T* matrix = static_cast<T*>(p.out) + e / per_matrix * p.stride_out;
    const T first = matrix[leader];  // in a path: overwritten and not needed
    int64_t d = leader, s = permutation.source(leader);
    while (s != leader) {
      matrix[d] = matrix[s];
      d = s;
      if (!permutation.is_output(d)) break;
      s = permutation.source(d);
    }
    if (s == leader && permutation.is_input(leader)) matrix[d] = first;
  }
}

}  // namespace

Status cuda::launch_transpose_naive(const TransposeProblem& p, const TransposeConfig& config,
                                    const LaunchContext& context) {
  return with_element(p.element_size, [&](auto bytes) {
    const auto kernel = p.in_place() ? follow_cycles<bytes> : transpose_naive<bytes>;
    return launch(context, kernel, static_cast<unsigned>(config.blocks), config.threads,
                  config.shared_bytes, p);
  });
}

}  // namespace mygemm
