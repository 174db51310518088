// See offload_cost.h.
#include "offload_cost.h"

#include <algorithm>

namespace mygemm::blas {
namespace {

double flops_of(const ProductShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

double bytes_of(const ProductShape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return sizeof(float) * (m * k + k * n + m * n * (shape.reads_c ? 2 : 1));
}

}  // namespace

// Measured on H200s with 16 and 32 cores of a contemporary Xeon
// (bench/results/h200-blas-offload.json and h200-host-gpus.json), but for round figures of what
// machines differ in. host_flops is OpenBLAS's where it knows the processor; Debian's 0.3.21 runs
// at a quarter of that where it does not. host_bytes keeps products on the host that are bound by
// memory. transfer_bytes is that of products from 2048^3 to 8192^3 and of such as 16384 x 16384 x
// 256. The start of a second GPU is not seen in the time of the product that it has a part in;
// more_gpus_seconds stands for the memory that it takes.
const OffloadRates kMeasuredRates{.host_flops = 72e9,
                                  .host_bytes = 100e9,
                                  .transfer_bytes = 45e9,
                                  .transfers_bytes = 60e9,
                                  .gpu_flops = 97e12,
                                  .gpu_call_seconds = 120e-6,
                                  .gpu_start_seconds = 0.57,
                                  .more_gpus_seconds = 0.3};

double host_seconds(const OffloadRates& rates, const ProductShape& shape, int threads) {
  return std::max(flops_of(shape) / (rates.host_flops * std::max(1, threads)),
                  bytes_of(shape) / rates.host_bytes);
}

double gpu_seconds(const OffloadRates& rates, const ProductShape& shape) {
  return rates.gpu_call_seconds +
         std::max(bytes_of(shape) / rates.transfer_bytes, flops_of(shape) / rates.gpu_flops);
}

double gpus_seconds(const OffloadRates& rates, const ProductShape& shape, int gpus) {
  // Each has the smaller operand, and a part of the other and of C: see tiling.h.
  ProductShape part = shape;
  int64_t& divided = shape.n >= shape.m ? part.n : part.m;
  divided = (divided + gpus - 1) / gpus;
  // Each GPU's threads and first transfers take the time of a call.
  return (gpus - 1) * rates.gpu_call_seconds +
         std::max(gpu_seconds(rates, part),
                  rates.gpu_call_seconds + gpus * bytes_of(part) / rates.transfers_bytes);
}

bool is_worth_by_size(const OffloadRates& rates, const ProductShape& shape) {
  return host_seconds(rates, shape, 1) > gpu_seconds(rates, shape);
}

bool Start::is_worth(double saved_seconds) {
  if (saved_seconds <= 0) return false;
  const double before = missed_seconds_.fetch_add(saved_seconds, std::memory_order_relaxed);
  return before + saved_seconds >= seconds_;
}

bool OffloadDecision::worth(const ProductShape& shape, int threads) {
  return start_.is_worth(host_seconds(rates_, shape, threads) - gpu_seconds(rates_, shape));
}

int DealingDecision::gpus_for(const ProductShape& shape, int most) {
  int best = 1;
  double least = gpu_seconds(rates_, shape);
  const double of_one = least;
  for (int gpus = 2; gpus <= most; ++gpus) {
    const double seconds = gpus_seconds(rates_, shape, gpus);
    if (seconds >= least) continue;
    best = gpus;
    least = seconds;
  }
  return start_.is_worth(of_one - least) ? best : 1;
}

}  // namespace mygemm::blas
