// Whether a product is worth its way to the GPU and back: arithmetic on sizes and measured rates.
#pragma once

#include <atomic>
#include <cstdint>

namespace mygemm::blas {

struct ProductShape {
  int64_t m, n, k;
  bool reads_c;
};

// What bench/blas_offload.py measures and prints.
struct OffloadRates {
  double host_flops;         // of one thread of the host's sgemm, a second
  double host_bytes;         // that the host's sgemm reads or writes, a second, all threads
  double transfer_bytes;     // through pinned buffers, a second, either way
  double gpu_flops;          // of mygemm_sgemm, a second
  double gpu_call_seconds;   // of a product of next to no size
  double gpu_start_seconds;  // of the first product: CUDA, pinned buffers, device memory
};

extern const OffloadRates kMeasuredRates;

double host_seconds(const OffloadRates& rates, const ProductShape& shape, int threads);
double gpu_seconds(const OffloadRates& rates, const ProductShape& shape);

// Decides from call to call; any thread may ask. The start of CUDA is paid for by what the GPU
// would have saved: until that sum is as large, products stay on the host. So a program loses at
// most one start on a GPU that it uses no more, whatever follows.
class OffloadDecision {
 public:
  explicit OffloadDecision(const OffloadRates& rates) : rates_(rates) {}
  bool worth(const ProductShape& shape, int threads);

 private:
  const OffloadRates rates_;
  std::atomic<double> missed_seconds_{0};  // that the GPU would have saved so far
};

}  // namespace mygemm::blas
