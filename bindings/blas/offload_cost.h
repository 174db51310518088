// Whether a product on the GPU is worth the transfers: arithmetic on sizes and measured rates.
#pragma once

#include <atomic>
#include <cstdint>

namespace mygemm::blas {

struct ProductShape {
  int64_t m, n, k;
  bool reads_c;
};

// Most are rates that bench/blas_offload.py measures and prints.
struct OffloadRates {
  double host_flops;         // of one thread of the host's sgemm, a second
  double host_bytes;         // that the host's sgemm reads or writes, a second, all threads
  double transfer_bytes;     // through pinned buffers, a second, either way, of one GPU
  double transfers_bytes;    // the same of several GPUs together
  double gpu_flops;          // of mygemm_sgemm, a second
  double gpu_call_seconds;   // of a product of negligible size
  double gpu_start_seconds;  // of the first product: CUDA, pinned buffers, device memory
  double more_gpus_seconds;  // of the start of further GPUs, all at once
};

extern const OffloadRates kMeasuredRates;

double host_seconds(const OffloadRates& rates, const ProductShape& shape, int threads);
double gpu_seconds(const OffloadRates& rates, const ProductShape& shape);
// Dealt out to several GPUs.
double gpus_seconds(const OffloadRates& rates, const ProductShape& shape, int gpus);

// Decides by sizes alone, reckoned with one thread of the host: all processes decide alike,
// whatever they have computed before and on however many threads.
bool is_worth_by_size(const OffloadRates& rates, const ProductShape& shape);

// A start that has to be worth its time: it is put off until the time that it would have saved so
// far equals its own. A program therefore loses at most the time of one start. Any thread may ask.
class Start {
 public:
  explicit Start(double seconds) : seconds_(seconds) {}
  // For something that would save this time, more than 0, after the start.
  bool is_worth(double saved_seconds);

 private:
  const double seconds_;
  std::atomic<double> missed_seconds_{0};  // that would have been saved so far
};

// Decides from call to call whether a product goes to a GPU, which the first one starts.
class OffloadDecision {
 public:
  explicit OffloadDecision(const OffloadRates& rates)
      : rates_(rates), start_(rates.gpu_start_seconds) {}
  bool worth(const ProductShape& shape, int threads);

 private:
  const OffloadRates rates_;
  Start start_;
};

// Decides from call to call on how many GPUs a product is computed that goes to one. The first
// product that is worth it starts those that it needs.
class DealingDecision {
 public:
  explicit DealingDecision(const OffloadRates& rates)
      : rates_(rates), start_(rates.more_gpus_seconds) {}
  // At least 1.
  int gpus_for(const ProductShape& shape, int most);

 private:
  const OffloadRates rates_;
  Start start_;
};

}  // namespace mygemm::blas
