// The common path of all calls.
#include "call.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "plan/triangle.h"
#include "tighten.h"
#include "validate.h"

namespace mygemm {
namespace {

template <class Problem>
PlanOptions options_of(const mygemmContext& context, const Problem& problem) {
  return {context.workspace_bytes, forced_kernel(context.environment, problem)};
}

// The options with which a device would run the call: by a handle of its own, whose settings are
// those of `context`, where there is one.
template <class Problem>
PlanOptions options_elsewhere(const DeviceTraits& device, const mygemmContext* context,
                              const Problem& problem) {
  PlanOptions options = context ? options_of(*context, problem) : PlanOptions{};
  const size_t own = context ? context->own_workspace_bytes : kOwnWorkspaceBytes;
  if (own > 0) options.workspace_bytes = device.cc == 0 ? 0 : own;
  return options;
}

// The explanation and the workspace of a call: those of its kernel, or of a triangle's steps.
template <class Problem>
std::string explain_steps(const Problem& problem, const DeviceTraits& device,
                          const PlanOptions& options, const Problem& given) {
  if constexpr (std::is_same_v<Problem, GemmProblem>) {
    if (problem.fill != MYGEMM_FILL_FULL) return explain_triangle(problem, device, options, given);
  }
  return explain(problem, device, options, given);
}

template <class Problem>
Status wanted_workspace(const Problem& problem, const DeviceTraits& device, PlanOptions options,
                        size_t* bytes) {
  if constexpr (std::is_same_v<Problem, GemmProblem>) {
    if (problem.fill != MYGEMM_FILL_FULL) {
      return triangle_workspace(problem, device, options.forced, bytes);
    }
  }
  options.workspace_bytes = SIZE_MAX;
  Plan<Problem> plan;
  RETURN_IF_ERROR(make_plan(problem, device, options, &plan));
  *bytes = plan.config.workspace_bytes;
  return MYGEMM_STATUS_SUCCESS;
}

// A kernel runs on the device that is current, whatever the handle was made for.
Status need_device(const mygemmContext& context) {
  if (context.on_host()) return MYGEMM_STATUS_SUCCESS;
  int current = -1;
  RETURN_IF_ERROR(cuda::current_device(&current));
  if (current == context.ordinal) return MYGEMM_STATUS_SUCCESS;
  return fail(MYGEMM_STATUS_INVALID_VALUE,
              "handle belongs to CUDA device %d, but device %d is current", context.ordinal,
              current);
}

// validate -> steps.
template <class Problem>
Status run_unlogged(const mygemmContext& context, const Problem& given,
                    Status (*steps)(const mygemmContext&, const Problem&, const char**),
                    const char** kernel) {
  const Verdict verdict = validate(given, Check::kEverything);
  if (verdict == Verdict::kInvalid) return MYGEMM_STATUS_INVALID_VALUE;
  if (verdict == Verdict::kDone) return MYGEMM_STATUS_SUCCESS;
  RETURN_IF_ERROR(need_device(context));
  return steps(context, given, kernel);
}

// "T4, A100, ..., sm_75, ..., host".
std::string names_of_devices() {
  std::string names, architectures;
  for (const DeviceTraits& device : known_devices()) {
    names += std::string(device.name) + ", ";
    const std::string architecture = "sm_" + std::to_string(device.cc) + ", ";
    if (architectures.find(architecture) == std::string::npos) architectures += architecture;
  }
  return names + architectures + "host";
}

// The traits that an explain call is about: a named device's, or the handle's.
Status device_to_explain(const mygemmContext* context, const char* name, DeviceTraits* traits) {
  if (!name) {
    RETURN_IF_ERROR(need_handle(context));
    *traits = context->device;
    return MYGEMM_STATUS_SUCCESS;
  }
  if (std::strcmp(name, "host") == 0) {
    *traits = host_traits();
    return MYGEMM_STATUS_SUCCESS;
  }
  const DeviceTraits* known = find_device(name);
  if (!known) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "device = %.64s is none of: %s", name,
                names_of_devices().c_str());
  }
  *traits = *known;
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace

Status need_handle(const mygemmContext* context) {
  if (context) return MYGEMM_STATUS_SUCCESS;
  return fail(MYGEMM_STATUS_NOT_INITIALIZED, "handle is NULL; make one with mygemm_create");
}

Status need_result(const char* argument, const void* result) {
  if (result) return MYGEMM_STATUS_SUCCESS;
  return fail(MYGEMM_STATUS_INVALID_VALUE, "%s is NULL", argument);
}

template <class Problem>
Status launch_planned(const mygemmContext& context, const Problem& given,
                      const PlanOptions& options, const char** kernel) {
  const Problem problem = tightened(given);
  Plan<Problem> plan;
  RETURN_IF_ERROR(make_plan(problem, context.device, options, &plan));
  *kernel = plan.kernel->name;
  const Status status = plan.kernel->launch(problem, plan.config, context.launch_context());
  if (plan.config.workspace_bytes > 0) context.mark_workspace_used();
  return status;
}

template <class Problem>
Status compute(const mygemmContext& context, const Problem& given, const char** kernel) {
  return launch_planned(context, given, options_of(context, given), kernel);
}

template <class Problem>
Status run(const mygemmContext& context, const Problem& given,
           Status (*steps)(const mygemmContext&, const Problem&, const char**)) {
  const char* kernel = nullptr;
  const Status status = run_unlogged(context, given, steps, &kernel);
  if (context.log.is_open()) context.log.write(describe(given), kernel, status);
  return status;
}

template <class Problem>
Status query_workspace(const mygemmContext& context, const Problem& given, size_t* bytes) {
  RETURN_IF_ERROR(need_result("bytes", bytes));
  if (validate(given, Check::kShapesOnly) == Verdict::kInvalid) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  const Problem problem = tightened(given);
  return wanted_workspace(problem, context.device, options_of(context, problem), bytes);
}

template <class Problem>
Status explain_call(const mygemmContext* context, const char* device, const Problem& given,
                    char* text, size_t capacity, size_t* length) {
  DeviceTraits traits;
  RETURN_IF_ERROR(device_to_explain(context, device, &traits));
  if (!text && capacity > 0) {
    return fail(MYGEMM_STATUS_INVALID_VALUE, "text is NULL, but capacity = %zu", capacity);
  }
  if (validate(given, Check::kShapesOnly) == Verdict::kInvalid) {
    return MYGEMM_STATUS_INVALID_VALUE;
  }
  const Problem problem = tightened(given);
  const PlanOptions options =
      device ? options_elsewhere(traits, context, problem) : options_of(*context, problem);
  const std::string whole = explain_steps(problem, traits, options, given);
  if (length) *length = whole.size();
  if (capacity > 0) {
    const size_t kept = std::min(capacity - 1, whole.size());
    std::memcpy(text, whole.data(), kept);
    text[kept] = '\0';
  }
  return MYGEMM_STATUS_SUCCESS;
}

template Status launch_planned(const mygemmContext&, const GemmProblem&, const PlanOptions&,
                               const char**);
template Status run(const mygemmContext&, const GemmProblem&,
                    Status (*)(const mygemmContext&, const GemmProblem&, const char**));
template Status run(const mygemmContext&, const GroupedProblem&,
                    Status (*)(const mygemmContext&, const GroupedProblem&, const char**));
template Status run(const mygemmContext&, const SoftmaxProblem&,
                    Status (*)(const mygemmContext&, const SoftmaxProblem&, const char**));
template Status run(const mygemmContext&, const CrossEntropyProblem&,
                    Status (*)(const mygemmContext&, const CrossEntropyProblem&, const char**));
template Status run(const mygemmContext&, const TransposeProblem&,
                    Status (*)(const mygemmContext&, const TransposeProblem&, const char**));
template Status compute(const mygemmContext&, const GemmProblem&, const char**);
template Status compute(const mygemmContext&, const GroupedProblem&, const char**);
template Status compute(const mygemmContext&, const SoftmaxProblem&, const char**);
template Status compute(const mygemmContext&, const CrossEntropyProblem&, const char**);
template Status compute(const mygemmContext&, const TransposeProblem&, const char**);
template Status query_workspace(const mygemmContext&, const GemmProblem&, size_t*);
template Status query_workspace(const mygemmContext&, const GroupedProblem&, size_t*);
template Status query_workspace(const mygemmContext&, const SoftmaxProblem&, size_t*);
template Status query_workspace(const mygemmContext&, const CrossEntropyProblem&, size_t*);
template Status query_workspace(const mygemmContext&, const TransposeProblem&, size_t*);
template Status explain_call(const mygemmContext*, const char*, const GemmProblem&, char*, size_t,
                             size_t*);
template Status explain_call(const mygemmContext*, const char*, const GroupedProblem&, char*,
                             size_t, size_t*);
template Status explain_call(const mygemmContext*, const char*, const SoftmaxProblem&, char*,
                             size_t, size_t*);
template Status explain_call(const mygemmContext*, const char*, const CrossEntropyProblem&, char*,
                             size_t, size_t*);
template Status explain_call(const mygemmContext*, const char*, const TransposeProblem&, char*,
                             size_t, size_t*);

}  // namespace mygemm
