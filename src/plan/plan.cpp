// The loop over an operation's kernels for the cheapest one, and its result in words.
#include "plan/plan.h"

#include <cstdio>
#include <cstring>

#include "log.h"

namespace mygemm {
namespace {

// The candidates are the kernels of the device's backend, host or GPU.
template <class Problem>
bool same_kind(const Kernel<Problem>& kernel, const DeviceTraits& device) {
  return kernel.on_host() == (device.cc == 0);
}

template <class Problem>
Status use_forced(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                  Plan<Problem>* plan) {
  const char* reason = "there is no such kernel for this device";
  for (const auto& kernel : kernels_for(problem)) {
    if (std::strcmp(kernel.name, options.forced) != 0 || !same_kind(kernel, device)) continue;
    plan->config = {};
    reason = configure(kernel, problem, device, options, &plan->config);
    if (reason) break;
    plan->kernel = &kernel;
    return MYGEMM_STATUS_SUCCESS;
  }
  return fail(MYGEMM_STATUS_NOT_SUPPORTED, "%s = %s cannot run this call: %s",
              force_variable(problem), options.forced, reason);
}

std::string line(const char* format, auto... arguments) {
  char text[320];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

}  // namespace

template <class Problem>
const char* configure(const Kernel<Problem>& kernel, const Problem& problem,
                      const DeviceTraits& device, const PlanOptions& options,
                      typename Problem::Config* config) {
  if (device.cc < kernel.min_cc) return "needs a newer architecture";
  if (device.cc > kernel.max_cc) return "made for older architectures";
  if (!takes_types(kernel, problem)) return "does not take operands of these element types";
  if (const char* reason = kernel.configure(kernel, problem, device, options, config)) {
    return reason;
  }
  if (device.cc == 0) return nullptr;
  if (config->shared_bytes > static_cast<size_t>(device.shared_per_block)) {
    return "needs more shared memory than a block of this GPU can have";
  }
  if (config->blocks > kMostGridBlocks) return "more blocks than a grid can have";
  return nullptr;
}

template <class Problem>
Status make_plan(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                 Plan<Problem>* plan) {
  plan->kernel = nullptr;
  if (options.forced) return use_forced(problem, device, options, plan);
  typename Problem::Config candidate;
  const char* reason = nullptr;
  for (const auto& kernel : kernels_for(problem)) {
    if (!same_kind(kernel, device)) continue;
    candidate = {};
    const char* refusal = configure(kernel, problem, device, options, &candidate);
    if (refusal) {
      reason = refusal;
    } else if (!plan->kernel || candidate.seconds < plan->config.seconds) {
      plan->kernel = &kernel;
      plan->config = candidate;
    }
  }
  if (plan->kernel) return MYGEMM_STATUS_SUCCESS;
  return fail(MYGEMM_STATUS_NOT_SUPPORTED, "no kernel runs this call on %s: %s", device.name,
              reason ? reason : "there is none");
}

template <class Problem>
std::string explain(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                    const Problem& given) {
  Plan<Problem> plan;
  std::string text;
  if (make_plan(problem, device, options, &plan) == MYGEMM_STATUS_SUCCESS) {
    text += line("chosen: %s (estimated %.2f us, workspace %zu bytes%s)\n", plan.kernel->name,
                 plan.config.seconds * 1e6, plan.config.workspace_bytes,
                 options.forced ? ", forced by the environment" : "");
  } else {
    text += std::string("chosen: none (") + last_error_text() + ")\n";  // sentences have any length
  }
  text += "call: " + describe(given) + "\n";
  text += line("device: %s", device.name);
  if (device.cc > 0) {
    text += line(", sm_%d, %d SMs, %.1f FP32 TFLOP/s, copy %.2f TB/s", device.cc, device.num_sms,
                 device.fp32_flops * 1e-12, device.memory_bandwidth * 1e-12);
  } else {
    text += line(", %d threads", device.num_sms);
  }
  text += line("; workspace %zu bytes\nall kernels:\n", options.workspace_bytes);
  for (const auto& kernel : kernels_for(problem)) {
    if (!same_kind(kernel, device)) continue;
    typename Problem::Config config;
    if (const char* reason = configure(kernel, problem, device, options, &config)) {
      text += line("  %-21s cannot run: %s\n", kernel.name, reason);
    } else {
      text += line("  %-21s %.2f us: ", kernel.name, config.seconds * 1e6) + describe(config) +
              "; " + describe(kernel.figures) + "\n";
    }
  }
  return text;
}

template Status make_plan(const GemmProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<GemmProblem>*);
template Status make_plan(const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<SoftmaxProblem>*);
template Status make_plan(const TransposeProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<TransposeProblem>*);
template const char* configure(const GemmKernel&, const GemmProblem&, const DeviceTraits&,
                               const PlanOptions&, GemmConfig*);
template const char* configure(const SoftmaxKernel&, const SoftmaxProblem&, const DeviceTraits&,
                               const PlanOptions&, SoftmaxConfig*);
template const char* configure(const TransposeKernel&, const TransposeProblem&, const DeviceTraits&,
                               const PlanOptions&, TransposeConfig*);
template std::string explain(const GemmProblem&, const DeviceTraits&, const PlanOptions&,
                             const GemmProblem&);
template std::string explain(const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&,
                             const SoftmaxProblem&);
template std::string explain(const TransposeProblem&, const DeviceTraits&, const PlanOptions&,
                             const TransposeProblem&);

}  // namespace mygemm
