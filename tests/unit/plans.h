// Unit tests: plans and Configs of problems, for tests that hold for every operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log.h"
#include "plan/plan.h"
#include "unit/problems.h"

namespace mygemm_tests {

using Problems = testing::Types<mygemm::GemmProblem, mygemm::SoftmaxProblem,
                                mygemm::CrossEntropyProblem, mygemm::TransposeProblem>;
class OperationName {
 public:
  template <class Problem>
  static std::string GetName(int index) {
    return std::vector<std::string>{"Gemm", "Softmax", "CrossEntropy",
                                    "Transpose"}[static_cast<size_t>(index)];
  }
};

template <class Problem>
bool same_kind(const mygemm::Kernel<Problem>& kernel, const mygemm::DeviceTraits& device) {
  return (kernel.max_cc == 0) == (device.cc == 0);
}

// The kernel that runs the problem whatever it is, the last one of those that may.
template <class Problem>
const char* naive_kernel(const Problem&, const mygemm::DeviceTraits& device) {
  return device.cc == 0 ? "host_naive" : "naive";
}
inline const char* naive_kernel(const mygemm::SoftmaxProblem& problem,
                                const mygemm::DeviceTraits& device) {
  if (!problem.masking) return device.cc == 0 ? "host_naive" : "naive";
  return device.cc == 0 ? "host_masked" : "masked_naive";
}

// The kernel's Config, if it may be chosen.
template <class Problem>
std::optional<typename Problem::Config> configured(const mygemm::Kernel<Problem>& kernel,
                                                   const Problem& problem,
                                                   const mygemm::DeviceTraits& device,
                                                   const mygemm::PlanOptions& options) {
  typename Problem::Config config;
  if (!same_kind(kernel, device) || kernel.min_cc > device.cc || device.cc > kernel.max_cc ||
      configure(kernel, problem, device, options, &config)) {
    return std::nullopt;
  }
  return config;
}

template <class Problem>
mygemm::Plan<Problem> planned(const Problem& problem, const mygemm::DeviceTraits& device,
                              size_t workspace) {
  mygemm::Plan<Problem> plan;
  EXPECT_EQ(make_plan(problem, device, {workspace, nullptr}, &plan), MYGEMM_STATUS_SUCCESS)
      << mygemm::last_error_text();
  return plan;
}

// Calls visit(problem, device) for random problems on every device.
template <class Problem>
void for_random_problems(uint64_t seed, int count, auto visit) {
  Random random(seed);
  const std::vector<mygemm::DeviceTraits> devices = all_devices();
  for (int trial = 0; trial < count; ++trial) {
    Problem problem;
    random_problem(random, &problem);
    for (const mygemm::DeviceTraits& device : devices) {
      visit(problem, device);
      if (testing::Test::HasFailure()) {
        FAIL() << "for this problem:\n" << explain(problem, device, {});
      }
    }
  }
}

}  // namespace mygemm_tests
