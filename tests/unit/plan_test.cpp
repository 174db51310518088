// Unit tests: the plan. Properties that hold for random problems of any size on every known GPU and
// on the host, and which kernels can be chosen. refusal_test.cpp has the reasons why kernels cannot
// run.
#include "plan/plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

constexpr size_t kMiB = 1024 * 1024;
constexpr size_t kWorkspaces[] = {0, 1, 4096, kMiB, 8 * kMiB, 32 * kMiB, 1024 * kMiB, SIZE_MAX};

template <class Problem>
class PlanOf : public testing::Test {};
TYPED_TEST_SUITE(PlanOf, Problems, OperationName);

TYPED_TEST(PlanOf, IsTheCheapestKernelThatCanRun) {
  Random workspaces(1);
  for_random_problems<TypeParam>(2, 1500, [&](const auto& problem, const auto& device) {
    const size_t workspace = workspaces.pick(kWorkspaces, std::size(kWorkspaces));
    const PlanOptions options{workspace, nullptr};
    const auto plan = planned(problem, device, workspace);
    ASSERT_NE(plan.kernel, nullptr);
    const auto config = configured(*plan.kernel, problem, device, options);
    ASSERT_TRUE(config) << plan.kernel->name;
    EXPECT_EQ(plan.config.seconds, config->seconds);
    EXPECT_EQ(plan.config.workspace_bytes, config->workspace_bytes);
    EXPECT_EQ(describe(plan.config), describe(*config));
    for (const auto& kernel : kernels_for(problem)) {
      const auto other = configured(kernel, problem, device, options);
      if (other) {
        EXPECT_LE(plan.config.seconds, other->seconds) << kernel.name;
      }
    }
  });
}

// The plan passes over kernels by their lower bounds alone.
TYPED_TEST(PlanOf, HasLowerBoundsOfItsEstimates) {
  Random workspaces(10);
  for_random_problems<TypeParam>(11, 3000, [&](const auto& problem, const auto& device) {
    const typename TypeParam::Facts facts(problem, device);
    const size_t workspace = workspaces.pick(kWorkspaces, std::size(kWorkspaces));
    for (const auto& kernel : kernels_for(problem)) {
      const auto config = configured(kernel, problem, device, {workspace, nullptr});
      if (config) {
        EXPECT_LE(least_seconds(kernel, facts), config->seconds) << kernel.name;
      }
    }
  });
}

TYPED_TEST(PlanOf, IsTheSameEveryTime) {
  for_random_problems<TypeParam>(3, 300, [](const auto& problem, const auto& device) {
    const auto first = planned(problem, device, kMiB), second = planned(problem, device, kMiB);
    EXPECT_EQ(first.kernel, second.kernel);
    EXPECT_EQ(first.config.workspace_bytes, second.config.workspace_bytes);
    EXPECT_EQ(first.config.seconds, second.config.seconds);
    EXPECT_EQ(describe(first.config), describe(second.config));
  });
}

TYPED_TEST(PlanOf, UsesNoMoreWorkspaceThanOffered) {
  for_random_problems<TypeParam>(4, 300, [](const auto& problem, const auto& device) {
    for (const size_t workspace : kWorkspaces) {
      EXPECT_LE(planned(problem, device, workspace).config.workspace_bytes, workspace);
      for (const auto& kernel : kernels_for(problem)) {
        for (const char* forced : {kernel.name, static_cast<const char*>(nullptr)}) {
          const auto config = configured(kernel, problem, device, {workspace, forced});
          if (config) {
            EXPECT_LE(config->workspace_bytes, workspace) << kernel.name;
          }
        }
        Plan<TypeParam> plan;
        if (make_plan(problem, device, {workspace, kernel.name}, &plan) == MYGEMM_STATUS_SUCCESS) {
          EXPECT_EQ(plan.kernel, &kernel);
          EXPECT_LE(plan.config.workspace_bytes, workspace) << "forced " << kernel.name;
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
      EXPECT_LE(plan.config.seconds, seconds * 1.05)
          << plan.kernel->name << " with " << workspace << " bytes";
      seconds = plan.config.seconds;
    }
  });
}

TYPED_TEST(PlanOf, HasFiniteEstimates) {
  for_random_problems<TypeParam>(6, 1500, [](const auto& problem, const auto& device) {
    for (const auto& kernel : kernels_for(problem)) {
      for (const size_t workspace : {size_t{0}, 8 * kMiB, SIZE_MAX}) {
        const auto config = configured(kernel, problem, device, {workspace, nullptr});
        if (!config) continue;
        // Nothing may cost nothing: a batch of 0 on the host.
        EXPECT_TRUE(std::isfinite(config->seconds) && config->seconds >= 0)
            << kernel.name << ": " << config->seconds;
      }
    }
  });
}

// The last kernel of each kind is the operation's naive one and runs everything.
TYPED_TEST(PlanOf, CanAlwaysFallBackOnTheNaiveKernel) {
  for_random_problems<TypeParam>(7, 1000, [](const auto& problem, const auto& device) {
    Plan<TypeParam> plan;
    const char* naive = naive_kernel(problem, device);
    ASSERT_EQ(make_plan(problem, device, {0, naive}, &plan), MYGEMM_STATUS_SUCCESS);
    EXPECT_STREQ(plan.kernel->name, naive);
    EXPECT_EQ(plan.config.workspace_bytes, 0u);
    const auto kernels = kernels_for(problem);
    const auto last = std::find_if(kernels.rbegin(), kernels.rend(), [&](const auto& kernel) {
      typename TypeParam::Config config;
      return same_kind(kernel, device) &&
             !configure(kernel, problem, device, {SIZE_MAX, nullptr}, &config);
    });
    EXPECT_STREQ(last->name, naive);
  });
}

TYPED_TEST(PlanOf, NeverTakesAKernelOfTheOtherBackend) {
  for_random_problems<TypeParam>(9, 100, [](const auto& problem, const auto& device) {
    for (const auto& kernel : kernels_for(problem)) {
      if (same_kind(kernel, device)) continue;
      typename TypeParam::Config config;
      EXPECT_NE(configure(kernel, problem, device, {SIZE_MAX, nullptr}, &config), nullptr)
          << kernel.name;
    }
  });
}

// Kernels are compared where they do not split k, or as stream-K, which divides all of it evenly:
// one split more can be faster than a shorter k without it. So can another way of bringing the
// operands: shifted tensor maps need four k, and quads along k a multiple of eight. So can more
// lanes for a result.
TEST(Plan, ProductsTakeLongerWithLargerK) {
  constexpr int64_t kSizes[] = {1, 17, 64, 128, 1000, 4096, 70000};
  std::set<std::string> compared;
  for (const DeviceTraits& device : all_devices()) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
          GemmProblem p = fast(gemm(false, false, m, n, 100000));
          if (!takes(kernel, Takes::kFp32)) {
            p = takes(kernel, Takes::k16Bit) ? of_16_bits(p) : mixed(p, true);
          }
          GemmConfig previous;
          for (p.k = 0; p.k < 100000; p.k += std::max<int64_t>(1, p.k / 7)) {
            const auto config = configured(kernel, p, device, {SIZE_MAX, kernel.name});
            if (!config) continue;
            if (config->splits > 1 || config->passes > 1) break;
            if (config->load_a == previous.load_a && config->load_b == previous.load_b &&
                config->block_k == previous.block_k) {
              ASSERT_GE(config->seconds, previous.seconds)
                  << kernel.name << ' ' << m << 'x' << n << 'x' << p.k << " on " << device.name;
            }
            previous = *config;
            compared.insert(kernel.name);
          }
        }
      }
    }
  }
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    EXPECT_TRUE(compared.contains(kernel.name) || std::string(kernel.name).starts_with("splitk_"))
        << kernel.name;
  }
}

// ---- every kernel has its use -------------------------------------------------------------------

void add_choices(const auto& problem, std::set<std::string>* chosen) {
  for (const DeviceTraits& device : all_devices()) {
    for (const size_t workspace : {size_t{0}, 64 * kMiB, SIZE_MAX}) {
      chosen->insert(planned(problem, device, workspace).kernel->name);
    }
  }
}

// Kernels that are never the fastest but are there to fall back on, to teach or to compare with.
template <class Problem>
void check_reachable(const std::set<std::string>& chosen, const std::set<std::string>& forced) {
  for (const auto& kernel : kernels_for(Problem{})) {
    EXPECT_TRUE(chosen.contains(kernel.name) || forced.contains(kernel.name))
        << kernel.name << " is chosen for no problem: a better estimate, or no such kernel";
  }
}

TEST(Plan, EveryGemmKernelIsChosenForSomeProblem) {
  constexpr int64_t kSizes[] = {1, 4, 8, 16, 33, 64, 128, 512, 1024, 4096, 8192};
  std::set<std::string> chosen;
  for (const int64_t m : kSizes) {
    for (const int64_t n : kSizes) {
      for (const int64_t k : kSizes) {
        const GemmProblem p = gemm(false, false, m, n, k), batch = gemm(false, false, m, n, k, 300);
        add_choices(of_16_bits(p), &chosen);
        add_choices(of_16_bits(with_odd_lds(p)), &chosen);
        add_choices(mixed(p, true), &chosen);
        add_choices(mixed(with_odd_lds(p), false), &chosen);
        for (const GemmProblem& q : {p, strict(p), fast(p), batch, strict(batch), fast(batch)}) {
          add_choices(q, &chosen);
        }
        add_choices(strict(with_relu(p)), &chosen);
      }
    }
  }
  // 16-bit operands whose lines are parts of two of L2's, or tiles between the powers of two.
  constexpr struct {
    int64_t m, n, k;
  } kShapes[] = {{1688, 2200, 744},  {2320, 7432, 13448}, {704, 6728, 5096},  {232, 9256, 13240},
                 {168, 6600, 2608},  {80, 10376, 2328},   {184, 3248, 9080},  {512, 12624, 2656},
                 {536, 8288, 304},   {600, 3936, 10048},  {32, 15584, 5664},  {304, 8480, 9488},
                 {1672, 1552, 1168}, {88, 9560, 11728},   {120, 10616, 1080}, {128, 6736, 2976},
                 {392, 976, 3392},   {104, 16320, 4608},  {2320, 512, 1432},  {120, 8544, 576},
                 {80, 9504, 2944}};
  for (const auto& [m, n, k] : kShapes) {
    add_choices(of_16_bits(gemm(true, false, m, n, k)), &chosen);
    add_choices(of_16_bits(gemm(false, true, m, n, k)), &chosen);
  }
  add_choices(gemm(false, true, 44, 412, 3860), &chosen);
  // A k so long that the workspace holds no packed operands; and products whose bits do not depend
  // on leading dimensions.
  const GemmProblem deep = with_odd_lds(gemm(true, false, 512, 512, 200000));
  add_choices(of_16_bits(deep), &chosen);
  add_choices(mixed(deep, true), &chosen);
  add_choices(invariant(with_odd_lds(gemm(false, false, 2048, 2048, 2048))), &chosen);
  check_reachable<GemmProblem>(chosen, {"naive", "tiled", "host_naive"});
}

TEST(Plan, EverySoftmaxKernelIsChosenForSomeProblem) {
  std::set<std::string> chosen;
  for (int64_t rows = 1; rows <= 1000000; rows *= 10) {
    for (int64_t cols = 1; cols <= 1000000; cols *= 10) {
      add_choices(softmax(rows, cols), &chosen);
      add_choices(softmax_backward(rows, cols, MYGEMM_R_16F), &chosen);
      add_choices(causal(softmax(rows, cols)), &chosen);
    }
  }
  check_reachable<SoftmaxProblem>(chosen, {"naive", "masked_naive", "host_naive"});
}

TEST(Plan, EveryCrossEntropyKernelIsChosenForSomeProblem) {
  std::set<std::string> chosen;
  for (int64_t rows = 1; rows <= 1000000; rows *= 10) {
    for (int64_t cols = 1; cols <= 1000000; cols *= 10) {
      add_choices(cross_entropy(rows, cols), &chosen);
      add_choices(cross_entropy(rows, cols, MYGEMM_R_16F), &chosen);
    }
  }
  check_reachable<CrossEntropyProblem>(chosen, {"naive"});
}

TEST(Plan, EveryTransposeKernelIsChosenForSomeProblem) {
  std::set<std::string> chosen;
  for (int64_t rows = 1; rows <= 100000; rows *= 10) {
    for (int64_t cols = 1; cols <= 100000; cols *= 10) {
      add_choices(transpose(4, rows, cols), &chosen);
      add_choices(transpose_in_place(4, rows, cols), &chosen);
    }
  }
  add_choices(transpose(4, 3, 10000000), &chosen);
  add_choices(transpose(1, 16385, 16384), &chosen);
  add_choices(transpose(16, 4001, 4003), &chosen);
  add_choices(transpose_in_place(8, 64, 64), &chosen);
  add_choices(transpose_in_place(4, 8191, 8191), &chosen);
  check_reachable<TransposeProblem>(chosen, {"naive", "tma", "square_in_place"});
}

TEST(Plan, TheBitsOfASoftmaxDoNotDependOnHowManyRowsThereAre) {
  for_random_problems<SoftmaxProblem>(8, 1500, [](SoftmaxProblem problem, const auto& device) {
    std::set<std::string> orders;
    for (const int64_t rows : {1, 7, 130, 5000, 10000000}) {
      problem.rows = rows;
      for (const size_t workspace : {size_t{0}, SIZE_MAX}) {
        const auto plan = planned(problem, device, workspace);
        const bool wide = !plan.kernel->on_host() && plan.config.rows.runs > 0;
        const std::string kernel = plan.kernel->name;
        orders.insert(wide ? "wide, " + std::to_string(plan.config.rows.tiles) + " tiles in " +
                                 std::to_string(plan.config.rows.runs) + " runs"
                      : kernel == "block_cluster" ? "block"
                                                  : kernel);
      }
    }
    EXPECT_EQ(orders.size(), 1u) << *orders.begin() << " and " << *orders.rbegin();
  });
}

// All kernels that are chosen sum in one order; the naive one, which does not, is never chosen.
TEST(Plan, TheBitsOfACrossEntropyDoNotEither) {
  for_random_problems<CrossEntropyProblem>(8, 1500, [](auto problem, const auto& device) {
    if (device.cc == 0) return;
    std::set<std::string> orders;
    for (const int64_t rows : {1, 7, 130, 5000, 10000000}) {
      problem.rows = rows;
      const auto plan = planned(problem, device, SIZE_MAX);
      const auto& config = plan.config;
      EXPECT_TRUE(config.rows.runs > 0 || config.narrow.elements > 0) << plan.kernel->name;
      orders.insert(config.rows.runs > 0
                        ? std::to_string(config.rows.tiles) + " tiles in " +
                              std::to_string(config.rows.runs) + " runs"
                        : std::to_string(config.narrow.elements) + " elements of " +
                              std::to_string(1 << config.narrow.log2_lanes) + " lanes");
    }
    EXPECT_EQ(orders.size(), 1u) << *orders.begin() << " and " << *orders.rbegin();
  });
}

}  // namespace
}  // namespace mygemm
