// The loop over an operation's kernels for the cheapest one, and its result in words.
#include "plan/plan.h"

#include <algorithm>
#include <cmath>
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

// The reason why the kernel is not made for the device or such problems, or nullptr.
template <class Problem>
const char* misfit(const Kernel<Problem>& kernel, const typename Problem::Facts& facts,
                   const DeviceTraits& device) {
  if (device.cc < kernel.min_cc) return "needs a newer architecture";
  if (device.cc > kernel.max_cc) return "made for older architectures";
  return unfit_for(kernel, facts);
}

// configure() of a kernel that fits.
template <class Problem>
const char* configure_fit(const Kernel<Problem>& kernel, const typename Problem::Facts& facts,
                          const DeviceTraits& device, const PlanOptions& options,
                          typename Problem::Config* config) {
  if (const char* reason = kernel.configure(kernel, facts, device, options, config)) return reason;
  if (device.cc == 0) return nullptr;
  if (config->shared_bytes > static_cast<size_t>(device.shared_per_block)) {
    return "needs more shared memory than a block of this GPU can have";
  }
  if (config->blocks > kMostGridBlocks) return "more blocks than a grid can have";
  return nullptr;
}

template <class Problem>
const char* configure(const Kernel<Problem>& kernel, const typename Problem::Facts& facts,
                      const DeviceTraits& device, const PlanOptions& options,
                      typename Problem::Config* config) {
  if (const char* reason = misfit(kernel, facts, device)) return reason;
  return configure_fit(kernel, facts, device, options, config);
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

// The sentence for a call that no kernel runs; the reason is that of the last one.
template <class Problem>
Status fail_without_kernel(const Problem& problem, const DeviceTraits& device,
                           const PlanOptions& options) {
  const char* reason = "there is none";
  for (const auto& kernel : kernels_for(problem)) {
    if (!same_kind(kernel, device)) continue;
    typename Problem::Config config;
    reason = configure(kernel, problem, device, options, &config);
  }
  return fail(MYGEMM_STATUS_NOT_SUPPORTED, "no kernel runs this call on %s: %s", device.name,
              reason);
}

// A kernel that fits, and the lower bound of its estimate.
template <class Problem>
struct Candidate {
  const Kernel<Problem>* kernel;
  double least_seconds;
};

// Takes the candidate where it is faster than the plan, or as fast and before it in the table.
template <class Problem>
void compare(const Candidate<Problem>& candidate, const typename Problem::Facts& facts,
             const DeviceTraits& device, const PlanOptions& options, Plan<Problem>* plan) {
  typename Problem::Config config;
  if (configure_fit(*candidate.kernel, facts, device, options, &config)) return;
  if (plan->kernel &&
      (config.seconds > plan->config.seconds ||
       (config.seconds == plan->config.seconds && candidate.kernel > plan->kernel))) {
    return;
  }
  plan->kernel = candidate.kernel;
  plan->config = config;
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
  return configure(kernel, typename Problem::Facts(problem, device), device, options, config);
}

// The candidate with the least lower bound comes first: mostly it is the fastest one, and few
// others have a lower bound that is not above its estimate.
template <class Problem>
Status make_plan(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                 Plan<Problem>* plan) {
  plan->kernel = nullptr;
  if (options.forced) return use_forced(problem, device, options, plan);
  const typename Problem::Facts facts(problem, device);
  Candidate<Problem> candidates[kMostKernels];
  size_t count = 0, first = 0;
  double least = INFINITY;
  for (const auto& kernel : kernels_for(problem)) {
    if (misfit(kernel, facts, device)) continue;
    candidates[count] = {&kernel, least_seconds(kernel, facts)};
    if (candidates[count].least_seconds < least) {
      least = candidates[count].least_seconds;
      first = count;
    }
    ++count;
  }
  if (count > 0) compare(candidates[first], facts, device, options, plan);
  for (size_t i = 0; i < count; ++i) {
    const bool may_be_faster = !plan->kernel || candidates[i].least_seconds <= plan->config.seconds;
    if (i != first && may_be_faster) compare(candidates[i], facts, device, options, plan);
  }
  return plan->kernel ? MYGEMM_STATUS_SUCCESS : fail_without_kernel(problem, device, options);
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
    text += line(", %d thread%s", device.num_sms, device.num_sms == 1 ? "" : "s");
  }
  text += line("; workspace %zu bytes\nall kernels:\n", options.workspace_bytes);
  size_t longest = 0;
  for (const auto& kernel : kernels_for(problem)) {
    if (same_kind(kernel, device)) longest = std::max(longest, std::strlen(kernel.name));
  }
  const int width = static_cast<int>(longest);
  for (const auto& kernel : kernels_for(problem)) {
    if (!same_kind(kernel, device)) continue;
    typename Problem::Config config;
    if (const char* reason = configure(kernel, problem, device, options, &config)) {
      text += line("  %-*s cannot run: %s\n", width, kernel.name, reason);
    } else {
      text += line("  %-*s %9.2f us: ", width, kernel.name, config.seconds * 1e6) +
              describe(config) + "; " + describe(kernel.figures) + "\n";
    }
  }
  return text;
}

template Status make_plan(const GemmProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<GemmProblem>*);
template Status make_plan(const GroupedProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<GroupedProblem>*);
template Status make_plan(const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<SoftmaxProblem>*);
template Status make_plan(const CrossEntropyProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<CrossEntropyProblem>*);
template Status make_plan(const TransposeProblem&, const DeviceTraits&, const PlanOptions&,
                          Plan<TransposeProblem>*);
template const char* configure(const GemmKernel&, const GemmProblem&, const DeviceTraits&,
                               const PlanOptions&, GemmConfig*);
template const char* configure(const GroupedKernel&, const GroupedProblem&, const DeviceTraits&,
                               const PlanOptions&, GemmConfig*);
template const char* configure(const SoftmaxKernel&, const SoftmaxProblem&, const DeviceTraits&,
                               const PlanOptions&, SoftmaxConfig*);
template const char* configure(const CrossEntropyKernel&, const CrossEntropyProblem&,
                               const DeviceTraits&, const PlanOptions&, CrossEntropyConfig*);
template const char* configure(const TransposeKernel&, const TransposeProblem&, const DeviceTraits&,
                               const PlanOptions&, TransposeConfig*);
template std::string explain(const GemmProblem&, const DeviceTraits&, const PlanOptions&,
                             const GemmProblem&);
template std::string explain(const GroupedProblem&, const DeviceTraits&, const PlanOptions&,
                             const GroupedProblem&);
template std::string explain(const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&,
                             const SoftmaxProblem&);
template std::string explain(const CrossEntropyProblem&, const DeviceTraits&, const PlanOptions&,
                             const CrossEntropyProblem&);
template std::string explain(const TransposeProblem&, const DeviceTraits&, const PlanOptions&,
                             const TransposeProblem&);

}  // namespace mygemm
