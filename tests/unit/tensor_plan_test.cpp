// Unit tests: when the plan uses tensor cores.
#include <gtest/gtest.h>

#include <string>

#include "kernels/gemm/bf16x6/bf16x6.h"
#include "kernels/gemm/tf32x3/tf32x3.h"
#include "plan/plan.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

constexpr size_t kWorkspace = size_t{32} << 20;

bool on_tensor_cores(const GemmKernel& kernel) {
  return std::string(kernel.name).starts_with("tf32x3_") ||
         std::string(kernel.name).starts_with("bf16x6_");
}

const GemmKernel& choice(const GemmProblem& p, const DeviceTraits& device,
                         const PlanOptions& options = {kWorkspace, nullptr}) {
  Plan<GemmProblem> plan;
  EXPECT_EQ(make_plan(p, device, options, &plan), MYGEMM_STATUS_SUCCESS);
  return *plan.kernel;
}

const DeviceTraits& h200() { return *find_device("H200"); }

TEST(TensorPlan, LargeProductsUseThemInDefaultMathOnHopperAlone) {
  for (const bool transa : {false, true}) {
    for (const bool transb : {false, true}) {
      for (const int64_t size : {1024, 2048, 4096, 8192, 16384}) {
        const GemmProblem p = gemm(transa, transb, size, size, size);
        for (const DeviceTraits& device : known_devices()) {
          EXPECT_EQ(on_tensor_cores(choice(p, device)), device.cc == 90) << device.name;
        }
        EXPECT_FALSE(on_tensor_cores(choice(strict(p), h200()))) << size;
      }
    }
  }
}

TEST(TensorPlan, WithoutAWorkspaceToo) {
  EXPECT_TRUE(on_tensor_cores(choice(gemm(false, false, 4096, 4096, 4096), h200(), {})));
}

TEST(TensorPlan, StrictMathRefusesThemByName) {
  const GemmProblem p = gemm(false, false, 4096, 4096, 4096);
  for (const char* name : {"tf32x3_128x192", "bf16x6_128x128"}) {
    const PlanOptions forced{kWorkspace, name};
    EXPECT_FALSE(configured(gemm_kernel(name), strict(p), h200(), forced)) << name;
    EXPECT_TRUE(configured(gemm_kernel(name), fast(p), h200(), forced)) << name;
  }
}

// Default math takes no kernel that loses bits of operands, not even by name.
TEST(TensorPlan, ThreeTf32ProductsAreForFastMathAlone) {
  int refused = 0;
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    const PlanOptions forced{kWorkspace, kernel.name};
    const GemmProblem p = gemm(false, false, 4096, 4096, 1024);
    if (!std::string(kernel.name).starts_with("tf32x3_")) continue;
    EXPECT_FALSE(configured(kernel, p, h200(), forced)) << kernel.name;
    EXPECT_FALSE(configured(kernel, p, h200(), {kWorkspace, nullptr})) << kernel.name;
    ++refused;
  }
  EXPECT_EQ(refused, 5);
  const GemmProblem large = gemm(false, false, 8192, 8192, 8192);
  EXPECT_TRUE(std::string(choice(fast(large), h200()).name).starts_with("tf32x3_"));
}

TEST(TensorPlan, MoreFreedomIsNeverSlower) {
  for (const int64_t k : {32, 300, 800, 2000, 9000}) {
    for (const int64_t size : {40, 500, 1000, 3000}) {
      double before = 0;
      for (const mygemmMathMode_t math :
           {MYGEMM_MATH_FAST, MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT}) {
        GemmProblem p = gemm(false, true, size, size, k);
        p.math = math;
        Plan<GemmProblem> plan;
        ASSERT_EQ(make_plan(p, h200(), {kWorkspace, nullptr}, &plan), MYGEMM_STATUS_SUCCESS);
        EXPECT_GE(plan.config.seconds, before) << size << ", " << k << ", mode " << math;
        before = plan.config.seconds;
      }
    }
  }
}

// Below a kernel's least k a chain of multiply-adds is more accurate; a user who forces the kernel
// accepts that.
TEST(TensorPlan, ShortSumsAreLeftToMultiplyAddsUnlessForced) {
  int tested = 0;
  const auto test = [&](const GemmKernel& kernel, int64_t least_k, auto in_mode) {
    ++tested;
    const GemmProblem shorter = in_mode(gemm(false, false, 1600, 1600, least_k - 1));
    const GemmProblem p = in_mode(gemm(false, false, 1600, 1600, least_k));
    const PlanOptions planned{kWorkspace, nullptr}, forced{kWorkspace, kernel.name};
    EXPECT_FALSE(configured(kernel, shorter, h200(), planned)) << kernel.name;
    EXPECT_TRUE(configured(kernel, p, h200(), planned)) << kernel.name;
    EXPECT_TRUE(configured(kernel, shorter, h200(), forced)) << kernel.name;
  };
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    if (!on_tensor_cores(kernel)) continue;
    const std::string name = kernel.name;
    if (name.starts_with("bf16x6_")) {
      test(kernel, Bf16x6_128x128::kLeastK, [](const GemmProblem& p) { return p; });
      const bool stream_k = name.find("streamk") != std::string::npos;  // for longer k
      if (!stream_k) test(kernel, Bf16x6_128x128::kLeastKFast, fast);
    } else {
      test(kernel,
           name.ends_with("128x192")   ? int64_t{Tensor128x192::kLeastKFast}
           : name.ends_with("128x128") ? int64_t{Tensor128x128::kLeastKFast}
                                       : int64_t{Tensor128x64::kLeastKFast},
           fast);
    }
  }
  EXPECT_EQ(tested, 5 + 4 + 2);
}

// C = A^T B^T is computed as its transposed, so that its tiles lie the other way.
TEST(TensorPlan, CountsTheTilesOfTheTransposedWhereThatIsComputed) {
  const GemmKernel& kernel = gemm_kernel("tf32x3_128x192");
  const auto seconds = [&](bool trans, int64_t m, int64_t n) {
    const auto config =
        configured(kernel, fast(gemm(trans, trans, m, n, 4096)), h200(), {kWorkspace, kernel.name});
    EXPECT_EQ(config->transposed, trans);
    return config->seconds;
  };
  // 132 tiles of 128 x 192 for 132 multiprocessors; one more row and column are a second round.
  const double one_round = seconds(true, 192 * 11, 128 * 12);
  EXPECT_DOUBLE_EQ(one_round, seconds(false, 128 * 12, 192 * 11));
  EXPECT_GT(seconds(true, 192 * 11 + 1, 128 * 12 + 1), 1.8 * one_round);
  EXPECT_GT(seconds(false, 192 * 11, 128 * 12), 1.8 * one_round);
  const GemmProblem p = gemm(true, true, 300, 500, 40), q = transposed(p);
  EXPECT_FALSE(q.transa || q.transb);
  EXPECT_EQ(q.m, 500);
  EXPECT_EQ(q.n, 300);
  EXPECT_EQ(q.a.data, p.b.data);
  EXPECT_EQ(q.b.ld, p.a.ld);
}

TEST(TensorPlan, ExplainSaysWhyTheyAreNotUsed) {
  const PlanOptions options{kWorkspace, nullptr};
  const GemmProblem p = gemm(false, false, 4096, 4096, 60);
  EXPECT_NE(explain(p, h200(), options).find("k is too short for tensor cores"), std::string::npos);
  EXPECT_NE(explain(strict(p), h200(), options).find("strict math"), std::string::npos);
  EXPECT_NE(explain(p, h200(), options).find("for fast math alone"), std::string::npos);
}

}  // namespace
}  // namespace mygemm_tests
