// The estimates of the host's kernels of matrix products. Pure.
#include "host/gemm.h"
#include "kernels/gemm/config.h"

namespace mygemm::host {
namespace {

// Fixed overhead of one product in seconds: 16^3 on one core.
constexpr double kCallSeconds = 0.5e-6, kCblasCallSeconds = 0.1e-6;

// There is no grid: the launch uses the number of threads that num_threads() gives at that moment,
// on which results do not depend.
void configure(const GemmKernel& kernel, const GemmFacts& facts, const DeviceTraits& device,
               double call_seconds, GemmConfig* config) {
  config->seconds = call_seconds * static_cast<double>(facts.problem.batch_count) +
                    2.0 * facts.area * facts.k / (device.fp32_flops * kernel.figures.efficiency) +
                    facts.memory_seconds;
}

}  // namespace

const char* configure_gemm_cblas(const GemmKernel& kernel, const GemmFacts& facts,
                                 const DeviceTraits& device, const PlanOptions&,
                                 GemmConfig* config) {
  if (!device.has_cblas) return "no CBLAS was found on this machine";
  configure(kernel, facts, device, kCblasCallSeconds, config);
  return nullptr;
}

const char* configure_gemm_blocked(const GemmKernel& kernel, const GemmFacts& facts,
                                   const DeviceTraits& device, const PlanOptions&,
                                   GemmConfig* config) {
  configure(kernel, facts, device, kCallSeconds, config);
  return nullptr;
}

const char* configure_gemm_naive(const GemmKernel& kernel, const GemmFacts& facts,
                                 const DeviceTraits& device, const PlanOptions&,
                                 GemmConfig* config) {
  configure(kernel, facts, device, kCallSeconds, config);
  return nullptr;
}

}  // namespace mygemm::host
