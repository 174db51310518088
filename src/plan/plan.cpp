// What the families share: walking a table for the cheapest row, and saying so in words.
#include "plan/plan.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "log.h"

namespace mygemm {
namespace {

// Rows of the device's kind are candidates; the host's and the GPU's never mix.
template <class Problem>
bool same_kind(const Row<Problem>& row, const DeviceTraits& device) {
  return (row.max_cc == 0) == (device.cc == 0);
}

template <class Problem>
const char* why_not(const Row<Problem>& row, const Problem& problem, const DeviceTraits& device,
                    const PlanOptions& options) {
  if (device.cc < row.min_cc) return "needs a newer architecture";
  if (device.cc > row.max_cc) return "made for older architectures";
  if (row.shared_bytes > device.shared_per_block && device.cc > 0) {
    return "needs more shared memory than a block of this GPU can have";
  }
  return unsupported(row, problem, device, options);
}

template <class Problem>
Status use_forced(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                  Plan<Problem>* plan) {
  const char* reason = "there is no such kernel for this device";
  for (const auto& row : rows_for(problem)) {
    if (std::strcmp(row.name, options.forced) != 0 || !same_kind(row, device)) continue;
    reason = why_not(row, problem, device, options);
    if (reason) break;
    *plan = {&row, std::min(workspace_bytes(row, problem, device), options.workspace_bytes),
             cost(row, problem, device, options)};
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
Status make_plan(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                 Plan<Problem>* plan) {
  if (options.forced) return use_forced(problem, device, options, plan);
  *plan = {};
  plan->seconds = std::numeric_limits<double>::infinity();
  for (const auto& row : rows_for(problem)) {
    if (!same_kind(row, device) || why_not(row, problem, device, options)) continue;
    const double seconds = cost(row, problem, device, options);
    if (seconds < plan->seconds) *plan = {&row, 0, seconds};
  }
  if (!plan->row) {
    return fail(MYGEMM_STATUS_INTERNAL_ERROR, "no kernel supports this call on %s", device.name);
  }
  plan->workspace_bytes =
      std::min(workspace_bytes(*plan->row, problem, device), options.workspace_bytes);
  return MYGEMM_STATUS_SUCCESS;
}

template <class Problem>
std::string explain(const Problem& problem, const DeviceTraits& device,
                    const PlanOptions& options) {
  Plan<Problem> plan;
  std::string text;
  if (make_plan(problem, device, options, &plan) == MYGEMM_STATUS_SUCCESS) {
    text += line("chosen: %s (estimated %.2f us, workspace %zu bytes%s)\n", plan.row->name,
                 plan.seconds * 1e6, plan.workspace_bytes,
                 options.forced ? ", forced by the environment" : "");
  } else {
    text += std::string("chosen: none (") + last_error_text() + ")\n";  // of any length
  }
  text += "call: " + describe(problem) + "\n";
  text += line("device: %s", device.name);
  if (device.cc > 0) {
    text += line(", sm_%d, %d SMs, %.1f FP32 TFLOP/s, copy %.2f TB/s", device.cc, device.num_sms,
                 device.fp32_flops * 1e-12, device.memory_bandwidth * 1e-12);
  } else {
    text += line(", %d threads", device.num_sms);
  }
  text += line("; workspace %zu bytes\nall kernels:\n", options.workspace_bytes);
  for (const auto& row : rows_for(problem)) {
    if (!same_kind(row, device)) continue;
    if (const char* reason = why_not(row, problem, device, options)) {
      text += line("  %-20s cannot run: %s\n", row.name, reason);
    } else {
      text += line("  %-20s %.2f us\n", row.name, cost(row, problem, device, options) * 1e6);
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
template std::string explain(const GemmProblem&, const DeviceTraits&, const PlanOptions&);
template std::string explain(const SoftmaxProblem&, const DeviceTraits&, const PlanOptions&);
template std::string explain(const TransposeProblem&, const DeviceTraits&, const PlanOptions&);

}  // namespace mygemm
