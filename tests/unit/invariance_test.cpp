// Unit tests: batch-invariant products. Plans keep to one order of sums, which k, the operations,
// the types, the math mode and the device decide.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "host/gemm.h"
#include "kernels/gemm/bf16x6/bf16x6.h"
#include "kernels/gemm/sums.h"
#include "kernels/gemm/tensor16/tensor16.h"
#include "kernels/gemm/tf32x3/tf32x3.h"
#include "plan/triangle.h"
#include "tighten.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

constexpr size_t kWorkspace = size_t{32} << 20;
constexpr size_t kWorkspaces[] = {0, 4096, size_t{1} << 20, kWorkspace, SIZE_MAX};

const DeviceTraits& h200() { return *find_device("H200"); }

const SumOrder* order_of(const GemmProblem& p, const DeviceTraits& device) {
  return GemmFacts(p, device).order;
}

// A kernel that is missing here is one whose order no other may have.
TEST(Invariance, OrdersOfTheTable) {
  const std::map<std::string, const SumOrder*> expected = {
      {"tf32x3_128x128", &tf32x3::kOrder},
      {"tf32x3_128x64", &tf32x3::kOrder},
      {"bf16x6_128x128", &bf16x6::kOrder},
      {"bf16x6_128x64", &bf16x6::kOrder},
      {"tensor16_256x128_2x1", &tensor16::kOrder},
      {"tensor16_224x128_2x1", &tensor16::kOrder},
      {"tensor16_208x128_2x1", &tensor16::kOrder},
      {"tensor16_192x128_4x1", &tensor16::kOrder},
      {"tensor16_160x128_2x2", &tensor16::kOrder},
      {"tensor16_256x128", &tensor16::kOrder},
      {"tensor16_192x128", &tensor16::kOrder},
      {"tensor16_144x128", &tensor16::kOrder},
      {"tensor16_128x128", &tensor16::kOrder},
      {"tensor16_96x128_4x1", &tensor16::kOrder},
      {"tensor16_64x128", &tensor16::kOrder},
      {"tensor16_48x128_1x4", &tensor16::kOrder},
      {"tensor16_256x64_2x1", &tensor16::kOrder},
      {"tensor16_176x64_2x1", &tensor16::kOrder},
      {"tensor16_160x64_4x1", &tensor16::kOrder},
      {"tensor16_144x64_1x2", &tensor16::kOrder},
      {"tensor16_112x64_2x1", &tensor16::kOrder},
      {"tensor16_64x64_4x1", &tensor16::kOrder},
      {"tensor16_32x128", &tensor16::kOrder},
      {"tensor16_lines_128x128", &tensor16::kOrder},
      {"tma_256x128", &kChainOrder},
      {"tma_128x128", &kChainOrder},
      {"short_256x128", &kChainOrder},
      {"short_128x128", &kChainOrder},
      {"warptiled_128x128", &kChainOrder},
      {"warptiled_128x64", &kChainOrder},
      {"warptiled_64x64", &kChainOrder},
      {"warptiled_64x32", &kChainOrder},
      {"warptiled_32x64", &kChainOrder},
      {"warptiled_32x32", &kChainOrder},
      {"mixed_128x128", &tensor16::kMixedOrder},
      {"mixed_64x128", &tensor16::kMixedOrder},
      {"mixed_32x128", &tensor16::kMixedOrder},
      {"mixed_lines_64x128", &tensor16::kMixedOrder},
      {"small_64x32", &kChainOrder},
      {"small_32x32", &kChainOrder},
      {"small_16x16", &kChainOrder},
      {"sliced_64x64", &kChainOrder},
      {"sliced_32x32", &kChainOrder},
      {"tiled", &kChainOrder},
      {"naive", &kChainOrder},
      {"host_blocked", &host::kOrder}};
  size_t found = 0;
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    const auto entry = expected.find(kernel.name);
    const SumOrder* const order = entry == expected.end() ? nullptr : entry->second;
    EXPECT_EQ(kernel.figures.order, order) << kernel.name;
    found += order != nullptr;
  }
  EXPECT_EQ(found, expected.size());
}

TEST(Invariance, KDecidesTheOrder) {
  const auto order = [](auto in_mode, int64_t k) {
    return order_of(invariant(in_mode(gemm(false, false, 300, 200, k))), h200());
  };
  const auto plain = [](const GemmProblem& p) { return p; };
  EXPECT_EQ(order(plain, 255), &kChainOrder);
  EXPECT_EQ(order(plain, 256), &bf16x6::kOrder);
  EXPECT_EQ(order(strict, 100000), &kChainOrder);
  EXPECT_EQ(order(fast, 63), &kChainOrder);
  EXPECT_EQ(order(fast, 64), &bf16x6::kOrder);
  EXPECT_EQ(order(fast, 767), &bf16x6::kOrder);
  EXPECT_EQ(order(fast, 768), &tf32x3::kOrder);
  EXPECT_EQ(order(of_16_bits, 1), &tensor16::kOrder);
  EXPECT_EQ(order(of_16_bits, 100000), &tensor16::kOrder);
  const auto with_fp32 = [](const GemmProblem& p) { return mixed(p, true); };
  EXPECT_EQ(order(with_fp32, 1), &tensor16::kMixedOrder);
  // Tensor cores' kernels count k with 32 bits.
  EXPECT_EQ(order(plain, int64_t{1} << 31), &kChainOrder);
  EXPECT_EQ(order(of_16_bits, int64_t{1} << 31), &kChainOrder);
  for (const DeviceTraits& device : known_devices()) {
    if (device.cc == 90) continue;
    for (const GemmProblem& p :
         {gemm(false, true, 100, 100, 5000), of_16_bits(gemm(false, true, 9, 9, 9)),
          mixed(gemm(false, true, 9, 9, 9), false)}) {
      EXPECT_EQ(order_of(invariant(p), device), &kChainOrder) << device.name;
    }
  }
  for (const bool cblas : {false, true}) {
    EXPECT_EQ(order_of(invariant(gemm(false, false, 9, 9, 9)), host_device(cblas)), &host::kOrder);
  }
}

TEST(Invariance, NoneWithoutTheModeOrWithoutProducts) {
  EXPECT_EQ(order_of(gemm(false, false, 500, 500, 500), h200()), nullptr);
  EXPECT_EQ(order_of(invariant(gemm(false, false, 500, 500, 0)), h200()), nullptr);
  GemmProblem p = invariant(gemm(false, false, 500, 500, 500));
  p.epilogue.alpha = host_scalar(0.0f);
  EXPECT_EQ(order_of(p, h200()), nullptr);
}

// The same product with other sizes, and its matrices elsewhere.
GemmProblem moved_about(const GemmProblem& p, Random& random) {
  const auto size = [&] {
    return random.integer(0, 1) == 0 ? random.integer(1, 70) : int64_t{1} << random.integer(0, 17);
  };
  GemmProblem q = gemm(p.transa, p.transb, size(), size(), p.k, random.integer(1, 9));
  q.math = p.math, q.invariant = true;
  const Operand* const types[] = {&p.a, &p.b, &p.c, &p.d};
  Operand* const operands[] = {&q.a, &q.b, &q.c, &q.d};
  for (size_t i = 0; i < std::size(operands); ++i) {
    Operand& x = *operands[i];
    x.type = types[i]->type;
    if (random.integer(0, 1) == 0) x.ld += random.integer(0, 9);
    if (random.integer(0, 2) == 0) x.data = x.at(random.integer(0, 9));
  }
  q.c = q.d;
  if (random.integer(0, 3) == 0) q = with_epilogue(q);
  return q;
}

TEST(Invariance, PlansKeepToOneOrder) {
  Random random(7);
  std::set<std::string> chosen;
  for (int trial = 0; trial < 400; ++trial) {
    GemmProblem first = invariant(gemm(random.integer(0, 1) == 1, random.integer(0, 1) == 1, 1, 1,
                                       random.integer(1, trial % 2 == 0 ? 400 : 20000)));
    if (random.integer(0, 2) == 0) first = of_16_bits(first);
    constexpr mygemmMathMode_t kModes[] = {MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT,
                                           MYGEMM_MATH_FAST};
    first.math = random.pick(kModes, 3);
    for (const DeviceTraits& device : all_devices()) {
      const SumOrder* const order = order_of(first, device);
      ASSERT_NE(order, nullptr);
      for (int change = 0; change < 8; ++change) {
        const GemmProblem p = tightened(moved_about(first, random));
        const size_t workspace = random.pick(kWorkspaces, std::size(kWorkspaces));
        Plan<GemmProblem> plan;
        ASSERT_EQ(make_plan(p, device, {workspace, nullptr}, &plan), MYGEMM_STATUS_SUCCESS)
            << last_error_text();
        const PackedParts& parts = plan.config.packed;
        const GemmKernel& kernel = parts.kernel ? *parts.kernel : *plan.kernel;
        EXPECT_EQ(kernel.figures.order, order) << kernel.name;
        EXPECT_EQ(plan.config.k_split, KSplit::kNone) << kernel.name;
        EXPECT_EQ(plan.config.workspace_bytes, parts.bytes) << kernel.name;
        // Sums of 16-bit operands do not depend on it.
        if (order != &tensor16::kOrder) {
          EXPECT_EQ(plan.config.transposed,
                    (order == &bf16x6::kOrder || order == &tf32x3::kOrder) && p.transa && p.transb);
        }
        chosen.insert(kernel.name);
        chosen.insert(plan.kernel->name);
      }
    }
  }
  // Tiles of several sizes, so that small products do not wait for large ones'.
  for (const char* name :
       {"bf16x6_128x128", "bf16x6_128x64", "tf32x3_128x128", "tf32x3_128x64", "tensor16_256x128",
        "tensor16_64x128", "tensor16_lines_128x128", "tma_256x128", "small_16x16", "sliced_64x64",
        "packed", "packed16", "host_blocked"}) {
    EXPECT_TRUE(chosen.contains(name)) << name;
  }
}

TEST(Invariance, ForcedKernelsMustHaveTheOrder) {
  const GemmProblem p = invariant(gemm(false, false, 500, 500, 1000));
  const auto forced = [&](const char* name) {
    return configured(gemm_kernel(name), p, h200(), {kWorkspace, name}).has_value();
  };
  EXPECT_TRUE(forced("bf16x6_128x128"));
  EXPECT_TRUE(forced("bf16x6_128x64"));
  EXPECT_FALSE(forced("bf16x6_streamk_128x128"));
  EXPECT_FALSE(forced("warptiled_64x64"));
  Plan<GemmProblem> plan;
  EXPECT_EQ(make_plan(p, h200(), {kWorkspace, "naive"}, &plan), MYGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(last_error_text(),
               "MYGEMM_FORCE_GEMM = naive cannot run this call: batch-invariant products of this k "
               "sum in another order: six BF16 products");
}

TEST(Invariance, ExplainSaysWhichOrderIsKept) {
  const std::string text =
      explain(invariant(gemm(false, false, 500, 500, 1000)), h200(), {kWorkspace, nullptr});
  EXPECT_TRUE(text.starts_with("chosen: bf16x6_")) << text;
  EXPECT_NE(text.find("--invariance batch"), std::string::npos) << text;
  EXPECT_NE(text.find("cannot run: batch-invariant products of this k sum in another order: six "
                      "BF16 products\n"),
            std::string::npos)
      << text;
}

// Copies of 4 bytes instead: the maps bring k in another order.
TEST(Invariance, ShiftedMapsAreNotUsed) {
  const GemmProblem p = with_odd_lds(gemm(false, false, 2000, 2000, 1000));
  const GemmKernel& kernel = gemm_kernel("bf16x6_128x128");
  EXPECT_EQ(configured(kernel, p, h200(), {})->load_a, OperandLoad::kShiftedMaps);
  EXPECT_EQ(configured(kernel, invariant(p), h200(), {})->load_a, OperandLoad::kCopy4);
}

// By steps, whatever the workspace is: the kernels of triangles sum in another order.
TEST(Invariance, TrianglesAreDivided) {
  for (const int64_t k : {int64_t{20}, int64_t{64}, int64_t{2048}}) {
    for (const int64_t n : {1, 50, 300, 5000, 70000}) {
      GemmProblem p = invariant(of_16_bits(gemm(false, true, n, n, k)));
      p.fill = MYGEMM_FILL_LOWER;
      for (const size_t workspace : {size_t{1} << 20, kWorkspace}) {
        EXPECT_GT(divide_triangle(p, h200(), {workspace, nullptr}).block, 0) << n << ", " << k;
      }
      EXPECT_GT(divide_triangle(p, host_device(true), {}).block, 0) << n << ", " << k;
    }
  }
  GemmProblem p = invariant(gemm(false, true, 500, 500, 2048));
  p.fill = MYGEMM_FILL_LOWER;
  Plan<GemmProblem> plan;
  EXPECT_EQ(divide_triangle(p, h200(), {0, nullptr}).block, 0);
  EXPECT_EQ(make_plan(p, h200(), {0, nullptr}, &plan), MYGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(make_plan(strict(p), h200(), {0, nullptr}, &plan), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(plan.kernel->figures.order, &kChainOrder);
}

TEST(Invariance, SumsOfRowsKeepToAnOrderToo) {
  GemmProblem p = invariant(gemm(false, false, 500, 300, 2048));
  p.sums = {MYGEMM_SUMS_OF_D, address<float>(8), 0};
  EXPECT_EQ(order_of(sums_as_product(p, address<void>(9)), h200()), &kChainOrder);
  EXPECT_EQ(order_of(sums_as_product(of_16_bits(p), address<void>(9)), h200()), &tensor16::kOrder);
}

// More than a grid has tiles for is refused, and not left to another order.
TEST(Invariance, TooLargeProductsAreRefused) {
  Plan<GemmProblem> plan;
  const GemmProblem p = gemm(false, false, int64_t{1} << 31, 1, 1000);
  EXPECT_EQ(make_plan(p, h200(), {}, &plan), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(make_plan(invariant(p), h200(), {}, &plan), MYGEMM_STATUS_NOT_SUPPORTED);
}

}  // namespace
}  // namespace mygemm_tests
