// Unit tests: the text of mygemm_explain_*: the row chosen first, then every row of the device's
// kind exactly once, with its time or the reason why it cannot run.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log.h"
#include "plan/plan.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::all_devices;
using mygemm_tests::gemm;
using mygemm_tests::host_device;
using mygemm_tests::Random;
using mygemm_tests::transpose_in_place;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The lines that speak of a row: "  <name> ...".
int lines_about(const std::vector<std::string>& lines, const std::string& row) {
  int count = 0;
  for (const std::string& line : lines) count += line.starts_with("  " + row + " ");
  return count;
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
  EXPECT_TRUE(lines[0].starts_with(std::string("chosen: ") + plan.row->name + " (estimated "));
  EXPECT_EQ(lines[0].ends_with(", forced by the environment)"), options.forced != nullptr);
  EXPECT_EQ(lines[1], "call: " + describe(problem));
  EXPECT_TRUE(lines[2].starts_with(std::string("device: ") + device.name + ", "));
  EXPECT_TRUE(
      lines[2].ends_with("; workspace " + std::to_string(options.workspace_bytes) + " bytes"));
  EXPECT_EQ(lines[3], "all kernels:");
  size_t rows = 0;
  for (const auto& row : rows_for(problem)) {
    const bool same_kind = (row.max_cc == 0) == (device.cc == 0);
    EXPECT_EQ(lines_about(lines, row.name), same_kind ? 1 : 0) << row.name;
    rows += same_kind;
  }
  EXPECT_EQ(lines.size(), 4 + rows);
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
      check_explanation(problem, device, {workspace, device.cc == 0 ? "host_naive" : "naive"});
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Explain, NamesEveryGemmRowOnce) { check_random_explanations<GemmProblem>(1); }
TEST(Explain, NamesEverySoftmaxRowOnce) { check_random_explanations<SoftmaxProblem>(2); }
TEST(Explain, NamesEveryTransposeRowOnce) { check_random_explanations<TransposeProblem>(3); }

TEST(Explain, SaysWhyRowsCannotRun) {
  const auto lines =
      lines_of(explain(transpose_in_place(4, 10, 20), *find_device("H200"), PlanOptions{}));
  for (const std::string& line : lines) {
    if (line.starts_with("  tiled ")) {
      EXPECT_TRUE(line.ends_with("cannot run: not in place")) << line;
    }
  }
  EXPECT_EQ(lines_about(lines, "tiled"), 1);
}

TEST(Explain, SaysThatAForcedRowCannotRun) {
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
