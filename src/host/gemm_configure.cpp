// The estimates of the host's kernels of matrix products. Pure.
#include "host/gemm.h"
#include "kernels/gemm/config.h"

namespace mygemm::host {
namespace {

// Seconds of one product besides its arithmetic: 16^3 on one core.
constexpr double kCallSeconds = 0.5e-6, kCblasCallSeconds = 0.1e-6;

// A and B are read once, D is written and, with beta, C is read.
double least_bytes(const GemmProblem& p, double k, double elements) {
  const double inputs = k * (static_cast<double>(p.m) + static_cast<double>(p.n)) *
                        static_cast<double>(p.batch_count);
  return 4.0 * (inputs + elements * (p.epilogue.beta.is(0.0f) ? 1.0 : 2.0));
}

// Threads and blocks are what the machine has: the launch asks OpenMP again, whose answer changes,
// and results do not depend on it.
void estimate(const GemmKernel& kernel, const GemmProblem& p, const DeviceTraits& device,
              double call_seconds, GemmConfig* config) {
  const double k = p.scales_only() ? 0.0 : static_cast<double>(p.k);
  const double batch = static_cast<double>(p.batch_count);
  const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) * batch;
  *config = {};
  config->blocks = 1;
  config->threads = device.num_sms;
  config->seconds = call_seconds * batch +
                    2.0 * elements * k / (device.fp32_flops * kernel.figures.efficiency) +
                    least_bytes(p, k, elements) / device.memory_bandwidth;
}

}  // namespace

const char* configure_gemm_cblas(const GemmKernel& kernel, const GemmProblem& problem,
                                 const DeviceTraits& device, const PlanOptions&,
                                 GemmConfig* config) {
  if (!device.has_cblas) return "no CBLAS was found on this machine";
  estimate(kernel, problem, device, kCblasCallSeconds, config);
  return nullptr;
}

const char* configure_gemm_blocked(const GemmKernel& kernel, const GemmProblem& problem,
                                   const DeviceTraits& device, const PlanOptions&,
                                   GemmConfig* config) {
  estimate(kernel, problem, device, kCallSeconds, config);
  return nullptr;
}

const char* configure_gemm_naive(const GemmKernel& kernel, const GemmProblem& problem,
                                 const DeviceTraits& device, const PlanOptions&,
                                 GemmConfig* config) {
  estimate(kernel, problem, device, kCallSeconds, config);
  config->threads = 1;
  return nullptr;
}

}  // namespace mygemm::host
