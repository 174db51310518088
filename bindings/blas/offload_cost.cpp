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

// Measured on an H200 with 16 cores of a contemporary Xeon (bench/results/h200-blas-offload.json),
// except the host's rates. host_flops is OpenBLAS's with OPENBLAS_CORETYPE=SKYLAKEX there; without
// it Debian's 0.3.21 does not know the processor and runs at a quarter of that. host_bytes is a
// round figure for such a machine's memory, with which memory-bound products stay on the host.
const OffloadRates kMeasuredRates{.host_flops = 72e9,
                                  .host_bytes = 100e9,
                                  .transfer_bytes = 29e9,
                                  .gpu_flops = 44e12,
                                  .gpu_call_seconds = 120e-6,
                                  .gpu_start_seconds = 0.34};

double host_seconds(const OffloadRates& rates, const ProductShape& shape, int threads) {
  return std::max(flops_of(shape) / (rates.host_flops * std::max(1, threads)),
                  bytes_of(shape) / rates.host_bytes);
}

double gpu_seconds(const OffloadRates& rates, const ProductShape& shape) {
  return rates.gpu_call_seconds +
         std::max(bytes_of(shape) / rates.transfer_bytes, flops_of(shape) / rates.gpu_flops);
}

bool is_worth_by_size(const OffloadRates& rates, const ProductShape& shape) {
  return host_seconds(rates, shape, 1) > gpu_seconds(rates, shape);
}

bool OffloadDecision::worth(const ProductShape& shape, int threads) {
  const double saved = host_seconds(rates_, shape, threads) - gpu_seconds(rates_, shape);
  if (saved <= 0) return false;
  const double missed_before = missed_seconds_.fetch_add(saved, std::memory_order_relaxed);
  return missed_before + saved >= rates_.gpu_start_seconds;
}

}  // namespace mygemm::blas
