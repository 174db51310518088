// Unit tests: the text of mygemm_explain_*: the chosen kernel first, then every kernel of the
// device's kind exactly once, with its time, its Config and its figures, or the reason why it
// cannot run.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log.h"
#include "plan/plan.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::all_devices;
using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::host_device;
using mygemm_tests::naive_kernel;
using mygemm_tests::Random;
using mygemm_tests::same_kind;
using mygemm_tests::transpose_in_place;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The lines about a kernel: "  <name> ...".
std::vector<std::string> lines_about(const std::vector<std::string>& lines,
                                     const std::string& kernel) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.starts_with("  " + kernel + " ")) found.push_back(line);
  }
  return found;
}

// The end of the line of a kernel that can run.
template <class Kernel, class Config>
std::string facts(const Kernel& kernel, const Config& config) {
  char time[400];
  std::snprintf(time, sizeof time, " %.2f us: ", config.seconds * 1e6);
  return time + describe(config) + "; " + describe(kernel.figures);
}

template <class Problem>
void check_explanation(const Problem& problem, const DeviceTraits& device,
                       const PlanOptions& options) {
  const std::string text = explain(problem, device, options);
  SCOPED_TRACE(text);
  Plan<Problem> plan;
  ASSERT_EQ(make_plan(problem, device, options, &plan), MYGEMM_STATUS_SUCCESS);
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_GE(lines.size(), 5u);
  EXPECT_TRUE(lines[0].starts_with(std::string("chosen: ") + plan.kernel->name + " (estimated "));
  EXPECT_EQ(lines[0].ends_with(", forced by the environment)"), options.forced != nullptr);
  EXPECT_EQ(lines[1], "call: " + describe(problem));
  EXPECT_TRUE(lines[2].starts_with(std::string("device: ") + device.name + ", "));
  EXPECT_TRUE(
      lines[2].ends_with("; workspace " + std::to_string(options.workspace_bytes) + " bytes"));
  EXPECT_EQ(lines[3], "all kernels:");
  size_t kernels = 0;
  for (const auto& kernel : kernels_for(problem)) {
    const auto about = lines_about(lines, kernel.name);
    ASSERT_EQ(about.size(), same_kind(kernel, device) ? 1u : 0u) << kernel.name;
    if (about.empty()) continue;
    ++kernels;
    const auto config = configured(kernel, problem, device, options);
    EXPECT_EQ(about[0].find("cannot run: ") == std::string::npos, config.has_value()) << about[0];
    if (config) {
      EXPECT_TRUE(about[0].ends_with(facts(kernel, *config))) << facts(kernel, *config);
    }
  }
  EXPECT_EQ(lines.size(), 4 + kernels);
}

template <class Problem>
void check_random_explanations(uint64_t seed) {
  Random random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    Problem problem;
    random_problem(random, &problem);
    const size_t workspace = random.integer(0, 1) == 0 ? 0 : 32 << 20;
    for (const DeviceTraits& device : all_devices()) {
      check_explanation(problem, device, {workspace, nullptr});
      check_explanation(problem, device, {workspace, naive_kernel(problem, device)});
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Explain, NamesEveryGemmKernelOnce) { check_random_explanations<GemmProblem>(1); }
TEST(Explain, NamesEverySoftmaxKernelOnce) { check_random_explanations<SoftmaxProblem>(2); }
TEST(Explain, NamesEveryCrossEntropyKernelOnce) {
  check_random_explanations<CrossEntropyProblem>(4);
}
TEST(Explain, NamesEveryTransposeKernelOnce) { check_random_explanations<TransposeProblem>(3); }

// The longest name is followed by one blank, and what is said of kernels begins in one column.
TEST(Explain, AlignsItsColumns) {
  const DeviceTraits& device = *find_device("H200");
  const auto lines = lines_of(explain(gemm(false, false, 4096, 4096, 4096), device, PlanOptions{}));
  size_t longest = 0;
  for (const auto& kernel : kernels_for(GemmProblem{})) {
    if (same_kind(kernel, device)) longest = std::max(longest, std::strlen(kernel.name));
  }
  ASSERT_GT(lines.size(), 4u);
  for (size_t i = 4; i < lines.size(); ++i) {
    const size_t us = lines[i].find(" us: ");
    EXPECT_EQ(lines[i][2 + longest], ' ') << lines[i];
    EXPECT_EQ(us == std::string::npos ? lines[i].find("cannot run: ") : us - 9, longest + 3)
        << lines[i];
  }
}

TEST(Explain, CountsOneThread) {
  DeviceTraits device = host_device(false);
  device.num_sms = 1;
  const auto lines = lines_of(explain(gemm(false, false, 8, 8, 8), device, PlanOptions{}));
  EXPECT_TRUE(lines[2].ends_with(", 1 thread; workspace 0 bytes")) << lines[2];
}

TEST(Explain, SaysWhyKernelsCannotRun) {
  const auto lines =
      lines_of(explain(transpose_in_place(4, 10, 20), *find_device("H200"), PlanOptions{}));
  const auto about = lines_about(lines, "tiled");
  ASSERT_EQ(about.size(), 1u);
  EXPECT_TRUE(about[0].ends_with("cannot run: not in place")) << about[0];
}

TEST(Explain, SaysThatAForcedKernelCannotRun) {
  const auto lines = lines_of(
      explain(gemm(false, false, 8, 8, 8), host_device(false), PlanOptions{0, "host_cblas"}));
  EXPECT_EQ(lines[0],
            "chosen: none (MYGEMM_FORCE_GEMM = host_cblas cannot run this call: no CBLAS "
            "was found on this machine)");
}

// A line each, however long the name in the environment is.
TEST(Explain, KeepsItsLinesWithALongForcedName) {
  const std::string name(400, 'x');
  const auto lines = lines_of(
      explain(gemm(false, false, 8, 8, 8), host_device(false), PlanOptions{0, name.c_str()}));
  ASSERT_GE(lines.size(), 4u);
  EXPECT_TRUE(lines[1].starts_with("call: ")) << lines[1];
}

}  // namespace
}  // namespace mygemm
