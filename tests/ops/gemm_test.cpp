// Ops tests of the matrix products: every kernel of the backend forced on every kind of shape,
// layout and form, and the properties that all kernels share. Through the public ABI only.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_case.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;  // enough for every kernel
constexpr mygemmOperation_t kOperations[] = {MYGEMM_OP_N, MYGEMM_OP_T};

struct Shape {
  int64_t m, n, k;
};

// Around the edges of tiles of 16, 32, 64 and 128; one, narrow, deep, prime, nothing to sum.
constexpr Shape kShapes[] = {
    {1, 1, 1},    {2, 3, 4},    {15, 17, 16},  {32, 31, 33},   {63, 65, 17},
    {64, 64, 16}, {65, 63, 15}, {127, 129, 9}, {128, 128, 32}, {129, 127, 31},
    {5, 7, 520},  {1, 150, 40}, {150, 1, 40},  {3, 130, 21},   {130, 2, 21},
    {97, 89, 53}, {33, 17, 0},  {64, 96, 8},   {66, 35, 777},
};

struct Layout {
  int64_t padding;
  size_t offset;
};
// (padding, offset): packed; columns at odd addresses; a misaligned base; aligned columns with
// gaps.
constexpr Layout kLayouts[] = {{0, 0}, {3, 0}, {0, 4}, {8, 0}};

class GemmRow : public RowTest {
 protected:
  // Runs all cases with the parameter's kernel forced.
  void run(const std::vector<GemmCase>& cases) {
    Handle handle(Family::kGemm, GetParam(), kWorkspace);
    RowTally tally(GetParam());
    for (const GemmCase& gemm : cases) {
      run_gemm(handle, gemm, &tally);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

GemmCase shaped(const Shape& shape) {
  GemmCase gemm;
  gemm.m = shape.m;
  gemm.n = shape.n;
  gemm.k = shape.k;
  return gemm;
}

// The cases of every feature test below: within a tile, across tiles, and deep enough for the
// kernels that split k.
std::vector<GemmCase> feature_cases() {
  std::vector<GemmCase> cases;
  for (const Shape shape : {Shape{37, 29, 19}, Shape{70, 130, 33}, Shape{33, 66, 530}}) {
    cases.push_back(shaped(shape));
  }
  return cases;
}

TEST_P(GemmRow, ShapesOperationsAndLayouts) {
  std::vector<GemmCase> cases;
  uint64_t seed = 1;
  for (const Shape& shape : kShapes) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        for (const Layout& layout : kLayouts) {
          // The emulator computes every other one: layouts 0 and 2, or 1 and 3.
          const auto at = (&shape - kShapes) + (&layout - kLayouts) + (transa != transb ? 1 : 0);
          if (kBuild == Build::kEmulated && at % 2 != 0) continue;
          GemmCase gemm = shaped(shape);
          gemm.transa = transa;
          gemm.transb = transb;
          gemm.padding = layout.padding;
          gemm.offset = layout.offset;
          gemm.seed = seed++;
          cases.push_back(gemm);
        }
      }
    }
  }
  run(cases);
}

TEST_P(GemmRow, IntegersAreExact) {
  std::vector<GemmCase> cases;
  for (const Shape& shape : kShapes) {
    GemmCase gemm = shaped(shape);
    gemm.integers = true;
    gemm.alpha = 2;
    gemm.beta = -3;
    cases.push_back(gemm);
  }
  if (kBuild == Build::kGpu) {  // as many splits as there can be; the emulator has few
    cases.push_back(cases.front());
    cases.back().m = 20;
    cases.back().n = 12;
    cases.back().k = 12000;
  }
  run(cases);
}

TEST_P(GemmRow, ScalarsOfEveryKindInBothPointerModes) {
  std::vector<GemmCase> cases;
  int number = 0;
  for (GemmCase gemm : feature_cases()) {
    for (const auto mode : {MYGEMM_POINTER_MODE_HOST, MYGEMM_POINTER_MODE_DEVICE}) {
      for (const float alpha : {0.0f, 1.0f, -1.75f}) {
        for (const float beta : {0.0f, 1.0f, 0.375f}) {
          // The emulator computes each with one of the two shapes that are not deep.
          const bool skip = gemm.k < 100 && (number++ + gemm.m) % 2 != 0;
          if (kBuild == Build::kEmulated && skip) continue;
          gemm.pointer_mode = mode;
          gemm.alpha = alpha;
          gemm.beta = beta;
          gemm.poisoned_inputs = alpha == 0;
          gemm.poisoned_c = beta == 0;
          cases.push_back(gemm);
        }
      }
    }
  }
  run(cases);
}

TEST_P(GemmRow, NothingToSumScalesC) {
  std::vector<GemmCase> cases;
  for (const auto mode : {MYGEMM_POINTER_MODE_HOST, MYGEMM_POINTER_MODE_DEVICE}) {
    for (const float beta : {0.0f, 1.0f, 0.5f}) {
      GemmCase gemm = shaped({70, 67, 0});
      gemm.pointer_mode = mode;
      gemm.alpha = beta == 0.5f ? std::numeric_limits<float>::infinity() : NAN;
      gemm.beta = beta;
      gemm.poisoned_c = beta == 0;
      gemm.null_inputs = true;
      gemm.padding = 1;
      cases.push_back(gemm);
      gemm.form = Form::kStrided;
      gemm.batch = 2;
      cases.push_back(gemm);
      gemm.form = Form::kPointers;
      cases.push_back(gemm);
    }
  }
  GemmCase gemm = shaped({70, 67, 9});  // alpha is 0 in host memory
  gemm.alpha = 0;
  gemm.null_inputs = true;
  cases.push_back(gemm);
  cases.push_back(shaped({33, 66, 530}));  // one that kernels for deep products can run
  run(cases);
}

TEST_P(GemmRow, ConjugateTransposeIsTranspose) {
  std::vector<GemmCase> cases = feature_cases();
  for (GemmCase& gemm : cases) {
    gemm.transa = MYGEMM_OP_C;
    gemm.transb = MYGEMM_OP_C;
  }
  run(cases);
}

TEST_P(GemmRow, BatchesOfEveryForm) {
  struct Steps {
    int a, b, c;
  };
  std::vector<GemmCase> cases;
  for (const Steps& steps : {Steps{1, 1, 1}, Steps{0, 1, 1}, Steps{1, 0, 1}, Steps{-1, 1, 1},
                             Steps{1, -1, 1}, Steps{0, 0, 1}, Steps{-1, -1, -1}}) {
    for (const Form form : {Form::kStrided, Form::kPointers}) {
      for (const mygemmOperation_t trans : kOperations) {
        const bool forward = steps.a * steps.b * steps.c == 1;
        GemmCase gemm = shaped({35, 66, forward ? 525 : 18});
        gemm.form = form;
        gemm.batch = 3;
        gemm.a_step = steps.a;
        gemm.b_step = steps.b;
        gemm.c_step = steps.c;
        gemm.transa = trans;
        gemm.padding = trans == MYGEMM_OP_T ? 1 : 0;
        gemm.pointer_mode =
            trans == MYGEMM_OP_T ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
        cases.push_back(gemm);
      }
    }
  }
  run(cases);
}

// Many more matrices than a block computes at once, of any alignment.
TEST_P(GemmRow, BatchesOfSmallMatrices) {
  std::vector<GemmCase> cases;
  for (const Shape shape : {Shape{16, 16, 16}, Shape{5, 7, 3}, Shape{33, 20, 18}}) {
    for (const Form form : {Form::kStrided, Form::kPointers}) {
      for (const mygemmOperation_t transa : kOperations) {
        for (const mygemmOperation_t transb : kOperations) {
          // The emulator computes every other one, each form with all operations.
          const bool skip = (shape.m + static_cast<int>(form) + transa + transb) % 2 != 0;
          if (kBuild == Build::kEmulated && skip) continue;
          GemmCase gemm = shaped(shape);
          gemm.form = form;
          gemm.batch = 37;
          gemm.transa = transa;
          gemm.transb = transb;
          cases.push_back(gemm);
        }
      }
    }
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmRow, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

// ---- the plan's choice -------------------------------------------------------------------------

using Gemm = BackendTest;

TEST_F(Gemm, RightWithAnyWorkspace) {
  for (const Shape shape : {Shape{64, 64, 700}, Shape{17, 9, 1200}, Shape{130, 66, 40}}) {
    Handle handle;
    size_t wanted = 0;
    ASSERT_EQ(mygemm_sgemm_workspace_size(handle, MYGEMM_OP_N, MYGEMM_OP_N, shape.m, shape.n,
                                          shape.k, 1, &wanted),
              MYGEMM_STATUS_SUCCESS);
    for (const size_t bytes : {size_t{0}, size_t{256}, wanted / 2, wanted}) {
      handle.set_workspace(bytes);
      run_gemm(handle, shaped(shape));
      EXPECT_TRUE(handle.workspace_bands_intact()) << bytes << " bytes of workspace";
    }
  }
}

TEST_F(Gemm, RightInStrictMode) {
  Handle handle(kWorkspace);
  ASSERT_EQ(mygemm_set_math_mode(handle, MYGEMM_MATH_STRICT), MYGEMM_STATUS_SUCCESS);
  for (const GemmCase& gemm : feature_cases()) run_gemm(handle, gemm);
}

// Runs m x n x k of ones with the first element of A replaced.
std::vector<float> product_with(float first, const Shape& shape) {
  Handle handle;
  std::vector<float> a(static_cast<size_t>(shape.m * shape.k), 1.0f);
  const std::vector<float> b(static_cast<size_t>(shape.k * shape.n), 1.0f);
  a[0] = first;
  const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
  const DeviceBuffer b_buffer(b.data(), b.size() * sizeof(float), 0);
  std::vector<float> c(static_cast<size_t>(shape.m * shape.n));
  const DeviceBuffer c_buffer(c.size() * sizeof(float));
  const float alpha = 1;
  const float beta = 0;
  EXPECT_EQ(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, shape.m, shape.n, shape.k, &alpha,
                         a_buffer.as<float>(), shape.m, b_buffer.as<float>(), shape.k, &beta,
                         c_buffer.as<float>(), shape.m),
            MYGEMM_STATUS_SUCCESS);
  synchronize();
  c_buffer.download(c.data());
  return c;
}

TEST_F(Gemm, NanAndInfinityReachTheirRowAndNoOther) {
  constexpr Shape kShape = {66, 33, 20};
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> c = product_with(special, kShape);
    for (int64_t i = 0; i < kShape.m; ++i) {
      for (int64_t j = 0; j < kShape.n; ++j) {
        const float element = c[static_cast<size_t>(i + j * kShape.m)];
        if (i > 0) {
          EXPECT_EQ(element, 20.0f);
        } else {
          EXPECT_EQ(std::isnan(element), std::isnan(special));
          EXPECT_FALSE(std::isfinite(element));
        }
      }
    }
  }
}

TEST_F(Gemm, SubnormalsAreKept) {
  constexpr float kSubnormal = 0x1p-140f;
  EXPECT_EQ(product_with(kSubnormal, {1, 1, 1})[0], kSubnormal);
}

TEST_F(Gemm, NothingToDoSucceedsWithoutPointers) {
  Handle handle;
  const auto call = [&](int64_t m, int64_t n, int64_t batch) {
    return mygemm_sgemm_strided_batched(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, 4, nullptr, nullptr,
                                        4, 0, nullptr, 4, 0, nullptr, nullptr, 4, 0, batch);
  };
  EXPECT_EQ(call(0, 4, 1), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(4, 0, 1), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(call(4, 4, 0), MYGEMM_STATUS_SUCCESS);
}

}  // namespace
}  // namespace mygemm_tests
