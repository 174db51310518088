// Third stage of a call: problem + device traits + options -> the kernel that runs it, and the
// Config that it will be launched with. Pure: the same answer for any GPU on any machine. The loop
// is the same for every operation and knows no algorithm: each kernel configures itself
// (kernels/kernel.h), and the one with the least estimated time is taken, or the forced one.
#pragma once

#include <string>

#include "kernels/configs.h"
#include "kernels/kernel.h"

namespace mygemm {

template <class Problem>
struct Plan {
  const Kernel<Problem>* kernel = nullptr;
  typename Problem::Config config;
};

// Chooses a kernel. Fails (NOT_SUPPORTED with a sentence) where a kernel is forced that cannot run,
// or where no kernel takes the problem's types.
template <class Problem>
Status make_plan(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                 Plan<Problem>* plan);

// The Config that one kernel would be launched with, or the reason why it cannot run. Kernels of
// the other backend are left out.
template <class Problem>
const char* configure(const Kernel<Problem>& kernel, const Problem& problem,
                      const DeviceTraits& device, const PlanOptions& options,
                      typename Problem::Config* config);

// The plan as text: what was chosen, and every kernel with its Config and estimated time or why it
// cannot run. `given`: the problem in the caller's own numbers.
template <class Problem>
std::string explain(const Problem& problem, const DeviceTraits& device, const PlanOptions& options,
                    const Problem& given);
template <class Problem>
std::string explain(const Problem& problem, const DeviceTraits& device,
                    const PlanOptions& options) {
  return explain(problem, device, options, problem);
}

}  // namespace mygemm
