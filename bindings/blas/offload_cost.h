// Whether a product on the GPU is worth the transfers: arithmetic on sizes and measured rates.
#pragma once

#include <atomic>
#include <cstdint>

namespace mygemm::blas {

struct ProductShape {
  int64_t m, n, k;
  bool reads_c;
};

// Rates that bench/blas_offload.py measures and prints.
struct OffloadRates {
  double host_flops;         // of one thread of the host's sgemm, a second
  double host_bytes;         // that the host's sgemm reads or writes, a second, all threads
  double transfer_bytes;     // through pinned buffers, a second, either way
  double gpu_flops;          // of mygemm_sgemm, a second
  double gpu_call_seconds;   // of a product of negligible size
  double gpu_start_seconds;  // of the first product: CUDA, pinned buffers, device memory
};

extern const OffloadRates kMeasuredRates;

double host_seconds(const OffloadRates& rates, const ProductShape& shape, int threads);
double gpu_seconds(const OffloadRates& rates, const ProductShape& shape);

// Decides by sizes alone, reckoned with one thread of the host: all processes decide alike,
// whatever they have computed before and on however many threads.
bool is_worth_by_size(const OffloadRates& rates, const ProductShape& shape);

// Decides from call to call; any thread may ask. Products stay on the host until the time that the
// GPU would have saved so far equals the time to start CUDA. A program therefore loses at most the
// time of one start, even if it does not use the GPU again.
class OffloadDecision {
 public:
  explicit OffloadDecision(const OffloadRates& rates) : rates_(rates) {}
  bool worth(const ProductShape& shape, int threads);

 private:
  const OffloadRates rates_;
  std::atomic<double> missed_seconds_{0};  // time that the GPU would have saved so far
};

}  // namespace mygemm::blas
