// Unit tests: the plan. Properties that hold for random problems of any size on every known GPU and
// on the host; which rows can be chosen; which sentence refuses a forced row.
#include "plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/problems.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

constexpr size_t kMiB = 1024 * 1024;
constexpr size_t kWorkspaces[] = {0, 1, 4096, kMiB, 8 * kMiB, 32 * kMiB, 1024 * kMiB, SIZE_MAX};

template <class Problem>
bool same_kind(const Row<Problem>& row, const DeviceTraits& device) {
  return (row.max_cc == 0) == (device.cc == 0);
}

// Whether a row may be chosen, from what Row and unsupported() say.
template <class Problem>
bool can_run(const Row<Problem>& row, const Problem& problem, const DeviceTraits& device,
             const PlanOptions& options) {
  return same_kind(row, device) && row.min_cc <= device.cc && device.cc <= row.max_cc &&
         (device.cc == 0 || row.shared_bytes <= device.shared_per_block) &&
         !unsupported(row, problem, device, options);
}

template <class Problem>
Plan<Problem> planned(const Problem& problem, const DeviceTraits& device, size_t workspace) {
  Plan<Problem> plan;
  EXPECT_EQ(make_plan(problem, device, {workspace, nullptr}, &plan), MYGEMM_STATUS_SUCCESS)
      << last_error_text();
  return plan;
}

template <class Problem>
std::string shape(const Problem& problem, const DeviceTraits& device) {
  return explain(problem, device, {});
}

template <class Problem>
class PlanOf : public testing::Test {};
using Problems = testing::Types<GemmProblem, SoftmaxProblem, TransposeProblem>;
class FamilyName {
 public:
  template <class Problem>
  static std::string GetName(int index) {
    return std::vector<std::string>{"Gemm", "Softmax", "Transpose"}[static_cast<size_t>(index)];
  }
};
TYPED_TEST_SUITE(PlanOf, Problems, FamilyName);

// Calls visit(problem, device) for random problems on every device.
template <class Problem>
void for_random_problems(uint64_t seed, int count, auto visit) {
  Random random(seed);
  const std::vector<DeviceTraits> devices = all_devices();
  for (int trial = 0; trial < count; ++trial) {
    Problem problem;
    random_problem(random, &problem);
    for (const DeviceTraits& device : devices) {
      visit(problem, device);
      if (testing::Test::HasFailure()) {
        FAIL() << "for this problem:\n" << shape(problem, device);
      }
    }
  }
}

TYPED_TEST(PlanOf, IsTheCheapestRowThatCanRun) {
  Random workspaces(1);
  for_random_problems<TypeParam>(2, 1500, [&](const auto& problem, const auto& device) {
    const size_t workspace = workspaces.pick(kWorkspaces, std::size(kWorkspaces));
    const PlanOptions options{workspace, nullptr};
    const auto plan = planned(problem, device, workspace);
    ASSERT_NE(plan.row, nullptr);
    EXPECT_TRUE(can_run(*plan.row, problem, device, options)) << plan.row->name;
    EXPECT_EQ(plan.seconds, cost(*plan.row, problem, device, options));
    for (const auto& row : rows_for(problem)) {
      if (!can_run(row, problem, device, options)) continue;
      EXPECT_LE(plan.seconds, cost(row, problem, device, options)) << row.name;
    }
  });
}

TYPED_TEST(PlanOf, IsTheSameEveryTime) {
  for_random_problems<TypeParam>(3, 300, [](const auto& problem, const auto& device) {
    const auto first = planned(problem, device, kMiB), second = planned(problem, device, kMiB);
    EXPECT_EQ(first.row, second.row);
    EXPECT_EQ(first.workspace_bytes, second.workspace_bytes);
    EXPECT_EQ(first.seconds, second.seconds);
  });
}

TYPED_TEST(PlanOf, UsesNoMoreWorkspaceThanOffered) {
  for_random_problems<TypeParam>(4, 300, [](const auto& problem, const auto& device) {
    for (const size_t workspace : kWorkspaces) {
      EXPECT_LE(planned(problem, device, workspace).workspace_bytes, workspace);
      for (const auto& row : rows_for(problem)) {
        std::remove_cvref_t<decltype(planned(problem, device, 0))> plan;
        if (make_plan(problem, device, {workspace, row.name}, &plan) == MYGEMM_STATUS_SUCCESS) {
          EXPECT_LE(plan.workspace_bytes, workspace) << "forced " << row.name;
        }
      }
    }
  });
}

// Splits of k fill the GPU as far as the workspace goes; the estimate of one more split can be a
// few percent worse, hence the margin.
TYPED_TEST(PlanOf, IsNoSlowerWithMoreWorkspace) {
  for_random_problems<TypeParam>(5, 1500, [](const auto& problem, const auto& device) {
    double seconds = INFINITY;
    for (const size_t workspace : kWorkspaces) {
      const auto plan = planned(problem, device, workspace);
      EXPECT_LE(plan.seconds, seconds * 1.05)
          << plan.row->name << " with " << workspace << " bytes";
      seconds = plan.seconds;
    }
  });
}

TYPED_TEST(PlanOf, HasFiniteCosts) {
  for_random_problems<TypeParam>(6, 1500, [](const auto& problem, const auto& device) {
    for (const auto& row : rows_for(problem)) {
      for (const size_t workspace : {size_t{0}, 8 * kMiB, SIZE_MAX}) {
        if (!can_run(row, problem, device, {workspace, nullptr})) continue;
        const double seconds = cost(row, problem, device, {workspace, nullptr});
        // Nothing may cost nothing: a batch of 0 on the host.
        EXPECT_TRUE(std::isfinite(seconds) && seconds >= 0) << row.name << ": " << seconds;
      }
    }
  });
}

// The last row of each kind is the family's naive one and runs everything.
TYPED_TEST(PlanOf, CanAlwaysFallBackOnTheNaiveRow) {
  for_random_problems<TypeParam>(7, 1000, [](const auto& problem, const auto& device) {
    std::remove_cvref_t<decltype(planned(problem, device, 0))> plan;
    const char* naive = device.cc == 0 ? "host_naive" : "naive";
    EXPECT_EQ(make_plan(problem, device, {0, naive}, &plan), MYGEMM_STATUS_SUCCESS);
    EXPECT_STREQ(plan.row->name, naive);
    EXPECT_EQ(plan.workspace_bytes, 0u);
    const auto rows = rows_for(problem);
    const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                   [&](const auto& row) { return same_kind(row, device); });
    EXPECT_STREQ(last->name, naive);
  });
}

TYPED_TEST(PlanOf, HasRowsThatFitTheGpusTheyClaim) {
  std::set<std::string> names;
  for (const auto& row : rows_for(TypeParam{})) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_EQ(row.max_cc == 0, std::string(row.name).starts_with("host_"));
    EXPECT_TRUE((row.efficiency > 0 && row.efficiency <= 4) || row.shares) << row.name;
    if (row.max_cc == 0) {
      EXPECT_NE(row.launch, nullptr) << row.name;
      continue;
    }
    EXPECT_TRUE(row.threads > 0 && row.threads <= 1024 && row.threads % 32 == 0) << row.name;
    for (const DeviceTraits& device : known_devices()) {
      if (device.cc < row.min_cc || device.cc > row.max_cc) continue;
      EXPECT_LE(row.shared_bytes, device.shared_per_block) << row.name << " on " << device.name;
      const int threads_per_sm = device.cc == 75                          ? 1024
                                 : device.cc % 10 == 0 && device.cc < 120 ? 2048
                                                                          : 1536;
      EXPECT_LE(row.threads, threads_per_sm) << row.name << " on " << device.name;
    }
  }
}

TYPED_TEST(PlanOf, RefusesNamesItDoesNotKnow) {
  const TypeParam problem{};
  const std::string variable = force_variable(problem);
  TypeParam any;
  Random random(8);
  random_problem(random, &any);
  for (const DeviceTraits& device : all_devices()) {
    // The other backend's rows are as unknown as a misspelling.
    for (const std::string name : {"nonsense", "", "NAIVE", device.cc ? "host_naive" : "naive"}) {
      Plan<TypeParam> plan;
      EXPECT_EQ(make_plan(any, device, {SIZE_MAX, name.c_str()}, &plan),
                MYGEMM_STATUS_NOT_SUPPORTED);
      EXPECT_EQ(last_error_text(), variable + " = " + name +
                                       " cannot run this call: there is no such kernel for this "
                                       "device");
    }
  }
}

// Rows that cut k are left out: one part more can be faster than a shorter k without it.
TEST(Plan, ProductsTakeLongerWithLargerK) {
  constexpr int64_t kSizes[] = {1, 17, 64, 128, 1000, 4096, 70000};
  for (const DeviceTraits& device : all_devices()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        for (const GemmRow& row : rows_for(GemmProblem{})) {
          const bool cuts_k = row.needs & (kNeedsWorkspace | kNeedsThin) || row.most_slices > 1;
          if (!same_kind(row, device) || cuts_k) continue;
          GemmProblem p = gemm(false, false, m, n, 100000);
          double previous = 0;
          for (p.k = 0; p.k < 100000; p.k += std::max<int64_t>(1, p.k / 7)) {
            const double seconds = cost(row, p, device, {});
            ASSERT_GE(seconds, previous) << row.name << ' ' << m << 'x' << n << 'x' << p.k;
            previous = seconds;
          }
        }
      }
    }
  }
}

// ---- every row has its use ----------------------------------------------------------------------

void add_choices(const auto& problem, std::set<std::string>* chosen) {
  for (const DeviceTraits& device : all_devices()) {
    for (const size_t workspace : {size_t{0}, 64 * kMiB, SIZE_MAX}) {
      chosen->insert(planned(problem, device, workspace).row->name);
    }
  }
}

// Rows that are never the fastest but are there to fall back on, to teach or to compare with.
template <class Problem>
void check_reachable(const std::set<std::string>& chosen, const std::set<std::string>& forced) {
  for (const auto& row : rows_for(Problem{})) {
    EXPECT_TRUE(chosen.contains(row.name) || forced.contains(row.name))
        << row.name << " is chosen for no problem: a better cost, or no such row";
  }
}

TEST(Plan, EveryGemmRowIsChosenForSomeProblem) {
  constexpr int64_t kSizes[] = {1, 8, 33, 64, 128, 512, 1024, 4096, 8192};
  std::set<std::string> chosen;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      for (const int64_t k : kSizes) {
        const GemmProblem p = gemm(false, false, m, n, k);
        for (const GemmProblem& q : {p, strict(p), gemm(false, false, m, n, k, 300)})
          add_choices(q, &chosen);
      }
    }
  }
  check_reachable<GemmProblem>(chosen, {"naive", "tiled", "host_naive"});
}

TEST(Plan, EverySoftmaxRowIsChosenForSomeProblem) {
  std::set<std::string> chosen;
  for (int64_t rows = 1; rows <= 1000000; rows *= 10) {
    for (int64_t cols = 1; cols <= 1000000; cols *= 10) {
      add_choices(softmax(rows, cols), &chosen);
      add_choices(softmax_backward(rows, cols, MYGEMM_R_16F), &chosen);
    }
  }
  check_reachable<SoftmaxProblem>(chosen, {"naive", "host_naive"});
}

TEST(Plan, EveryTransposeRowIsChosenForSomeProblem) {
  std::set<std::string> chosen;
  for (int64_t rows = 1; rows <= 100000; rows *= 10) {
    for (int64_t cols = 1; cols <= 100000; cols *= 10) {
      add_choices(transpose(4, rows, cols), &chosen);
      add_choices(transpose_in_place(4, rows, cols), &chosen);
    }
  }
  add_choices(transpose(4, 3, 10000000), &chosen);
  add_choices(transpose(8, 4001, 4003), &chosen);
  add_choices(transpose_in_place(8, 64, 64), &chosen);
  check_reachable<TransposeProblem>(chosen, {"naive", "tma", "square_in_place"});
}

// ---- why a forced row cannot run ---------------------------------------------------------------

template <class Problem>
std::string refusal(const Problem& problem, const DeviceTraits& device, const char* row,
                    size_t workspace) {
  Plan<Problem> plan;
  const Status status = make_plan(problem, device, {workspace, row}, &plan);
  if (status == MYGEMM_STATUS_SUCCESS) return "";
  EXPECT_EQ(status, MYGEMM_STATUS_NOT_SUPPORTED);
  const std::string sentence = last_error_text(), colon = "cannot run this call: ";
  return sentence.substr(sentence.find(colon) + colon.size());
}

TEST(Plan, SaysWhyAForcedGemmRowCannotRun) {
  const DeviceTraits& h200 = *find_device("H200");
  const auto deep = gemm(false, false, 64, 64, 65536);
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", SIZE_MAX), "");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 0), "the workspace is too small");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 2 * 64 * 64 * 4 - 1), "the workspace is too small");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 2 * 64 * 64 * 4), "");
  EXPECT_EQ(refusal(gemm(false, false, 8192, 8192, 8192), h200, "splitk_64x64", SIZE_MAX),
            "k is too short to split, or the GPU is full without");
  EXPECT_EQ(refusal(gemm(false, false, 64, 64, 0), h200, "splitk_64x64", SIZE_MAX),
            "k is too short to split, or the GPU is full without");
  EXPECT_EQ(refusal(gemm(false, false, INT64_MAX, 1, 1), h200, "tiled", 0),
            "more block tiles than a grid can have");
  EXPECT_EQ(refusal(deep, host_device(false), "host_cblas", 0),
            "no CBLAS was found on this machine");
  EXPECT_EQ(refusal(deep, host_device(true), "host_cblas", 0), "");
}

TEST(Plan, SaysWhyAForcedSoftmaxRowCannotRun) {
  const DeviceTraits& h200 = *find_device("H200");
  EXPECT_EQ(refusal(softmax(100, 513), h200, "warp", 0),
            "a row has more columns than a warp's registers hold");
  EXPECT_EQ(refusal(softmax(100, 32769), h200, "block", 0),
            "a row has more columns than a block's registers hold");
  EXPECT_EQ(refusal(softmax(100, 32768), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax(100, 32768, MYGEMM_R_16F), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax_backward(100, 32768, MYGEMM_R_16F), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax_backward(100, 8192), h200, "block", 0), "");
  EXPECT_NE(refusal(softmax_backward(100, 8196), h200, "block", 0), "");
  EXPECT_NE(refusal(softmax(100, INT64_MAX), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax(1, 4096), h200, "cluster", SIZE_MAX),
            "a block's registers hold a row, and its bits must not depend on how many there are");
  EXPECT_EQ(refusal(softmax(100, 100000), h200, "split", 0), "the workspace is too small");
  EXPECT_EQ(refusal(softmax(100, 2000000), h200, "cluster", 0),
            "a row has more columns than a cluster that can run here holds");
  SoftmaxProblem apart = softmax(100, 100000);
  ++apart.out.ld;
  EXPECT_EQ(refusal(apart, h200, "cluster", 0), "the rows of the matrices do not lie alike");
  DeviceTraits part_of_h200 = h200;
  std::fill(std::begin(part_of_h200.clusters), std::end(part_of_h200.clusters), 0);
  EXPECT_EQ(refusal(softmax(100, 100000), part_of_h200, "cluster", 0),
            "a row has more columns than a cluster that can run here holds");
}

TEST(Plan, TheBitsOfASoftmaxDoNotDependOnHowManyRowsThereAre) {
  for_random_problems<SoftmaxProblem>(8, 1500, [](SoftmaxProblem problem, const auto& device) {
    std::set<std::string> orders;
    for (const int64_t rows : {1, 7, 130, 5000, 10000000}) {
      problem.rows = rows;
      for (const size_t workspace : {size_t{0}, SIZE_MAX}) {
        const bool wide = planned(problem, device, workspace).row->needs & kNeedsWideRow;
        orders.insert(wide ? "wide" : planned(problem, device, workspace).row->name);
      }
    }
    EXPECT_EQ(orders.size(), 1u) << *orders.begin() << " and " << *orders.rbegin();
  });
}

TEST(Plan, SaysWhyAForcedTransposeRowCannotRun) {
  const DeviceTraits& h200 = *find_device("H200");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 100), h200, "tiled", 0), "not in place");
  EXPECT_EQ(refusal(transpose(4, 100, 100), h200, "square_in_place", 0),
            "only for transposes in place");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "square_in_place", 0),
            "only for square matrices with ldin = ldout");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "through_workspace", 40399),
            "the workspace is too small");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "through_workspace", 40400), "");
  EXPECT_EQ(
      refusal(transpose_in_place(4, 1, 2, int64_t{1} << 32), h200, "through_workspace", SIZE_MAX),
      "more tiles than a grid can have");
  EXPECT_EQ(refusal(transpose(1, INT64_MAX, 1), h200, "tiled", 0),
            "more tiles than a grid can have");
  EXPECT_EQ(refusal(transpose(4, 100, 101), h200, "vector", 0),
            "rows do not all begin at multiples of 16 bytes");
  EXPECT_EQ(refusal(transpose(4, 100, 100), h200, "vector", 0), "");
  EXPECT_EQ(refusal(transpose(4, 1000, 1000), h200, "narrow", 0),
            "only for narrow or small matrices without gaps between their rows");
  EXPECT_EQ(refusal(transpose(1, 16, int64_t{1} << 40), h200, "tma", 0),
            "not a tensor that a tensor map can describe");
  EXPECT_EQ(refusal(transpose(4, 100, 100), *find_device("B200"), "tma", 0),
            "not a tensor that a tensor map can describe");
  EXPECT_EQ(refusal(transpose(4, 100, 100), *find_device("A100"), "tma", 0),
            "needs a newer architecture");
  EXPECT_EQ(refusal(transpose_in_place(1, 8192, 8192), *find_device("T4"), "vector_in_place", 0),
            "more shared memory than a block can have");
}

TEST(Plan, AsksForNewEnoughGpus) {
  DeviceTraits old = *find_device("T4");
  old.cc = 70;
  EXPECT_EQ(refusal(gemm(false, false, 64, 64, 64), old, "naive", 0), "needs a newer architecture");
  Plan<GemmProblem> plan;
  EXPECT_EQ(make_plan(gemm(false, false, 64, 64, 64), old, {}, &plan),
            MYGEMM_STATUS_INTERNAL_ERROR);
}

}  // namespace
}  // namespace mygemm
