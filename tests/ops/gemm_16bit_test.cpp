// Ops tests of products of FP16 and BF16 operands, and of an FP32 and a BF16 one: every kernel of
// the backend forced on every kind of shape, layout, form and epilogue, and results of each element
// type. Kernels that do not take such operands refuse all of them.
#include <bit>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_16bit_case.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;  // enough for every kernel
constexpr mygemmOperation_t kOperations[] = {MYGEMM_OP_N, MYGEMM_OP_T};

constexpr mygemmDataType_t kF32 = MYGEMM_R_32F, kF16 = MYGEMM_R_16F, kBf16 = MYGEMM_R_16BF;

struct Types {
  mygemmDataType_t a, b, out;
};
constexpr Types k16BitTypes[] = {
    {kF16, kF16, kF16},    {kBf16, kBf16, kF32}, {kF16, kF16, kBf16},
    {kBf16, kBf16, kBf16}, {kF16, kF16, kF32},   {kBf16, kBf16, kF16},
};
constexpr Types kMixedTypes[] = {{kF32, kBf16, kF32}, {kBf16, kF32, kF32}};

struct Shape {
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {
    {1, 1, 1},     {2, 3, 4},    {15, 17, 16},  {32, 31, 33},   {64, 64, 64},   {65, 63, 15},
    {127, 129, 9}, {5, 7, 520},  {1, 150, 40},  {150, 1, 40},   {129, 257, 65}, {97, 89, 53},
    {33, 17, 0},   {128, 64, 8}, {66, 35, 777}, {328, 70, 136}, {100, 84, 60},
};

struct Layout {
  int64_t padding;
  size_t offset;
};
// (padding, offset): packed; columns at odd addresses; bases at multiples of 2 and of 4 alone;
// aligned columns with gaps.
constexpr Layout kLayouts[] = {{0, 0}, {3, 0}, {0, 2}, {8, 4}, {8, 0}};

// Each case once with operands of 16 bits and once with mixed ones: kernels may take either. Of
// each, a case has other element types than the one before, and a turn through the types begins
// one further and is aligned, or not, so that cases added in pairs meet both with each type.
class Cases {
 public:
  void add(const Gemm16BitCase& gemm) {
    of_16_bits_.add(gemm);
    mixed_.add(gemm);
    ++size_;
  }
  void add_mixed(const Gemm16BitCase& gemm) { mixed_.add(gemm); }
  void add_each_type(const Gemm16BitCase& gemm) {
    for (List* list : {&of_16_bits_, &mixed_}) {
      for (size_t i = 0; i < list->types.size(); ++i) list->add(gemm);
    }
    ++size_;
  }
  size_t size() const { return size_; }
  const std::vector<Gemm16BitCase>& of_16_bits() const { return of_16_bits_.cases; }
  const std::vector<Gemm16BitCase>& mixed() const { return mixed_.cases; }

 private:
  struct List {
    std::span<const Types> types;
    std::vector<Gemm16BitCase> cases = {};

    void add(Gemm16BitCase gemm) {
      const size_t number = cases.size(), turn = number / types.size();
      const Types& of = types[(number + turn) % types.size()];
      gemm.a = of.a, gemm.b = of.b, gemm.out = of.out;
      gemm.aligned |= std::popcount(turn) % 2 != 0;
      gemm.seed = number + 1;
      cases.push_back(gemm);
    }
  };
  List of_16_bits_{k16BitTypes}, mixed_{kMixedTypes};
  size_t size_ = 0;
};

class Gemm16BitRow : public RowTest {
 protected:
  void run(const Cases& cases) {
    Handle handle(Family::kGemm, GetParam(), kWorkspace);
    // Kernels that take no such operands refuse all of a list for that reason.
    RowTally of_16_bits(GetParam()), mixed(GetParam());
    for (const auto& [list, tally] :
         {std::pair{&cases.of_16_bits(), &of_16_bits}, std::pair{&cases.mixed(), &mixed}}) {
      for (const Gemm16BitCase& gemm : *list) {
        run_16bit(handle, gemm, tally);
        if (HasFailure()) return;
      }
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    (of_16_bits.ran_some() ? of_16_bits : mixed).finish();
  }
};

TEST_P(Gemm16BitRow, ShapesOperationsAndLayouts) {
  Cases cases;
  int number = 0;
  for (const Shape& shape : kShapes) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        for (const Layout& layout : kLayouts) {
          if (kBuild == Build::kEmulated && ++number % 3 != 0) continue;
          Gemm16BitCase gemm{.transa = transa, .transb = transb};
          gemm.m = shape.m, gemm.n = shape.n, gemm.k = shape.k;
          gemm.padding = layout.padding, gemm.offset = layout.offset;
          // Without C, results need not go through the epilogue.
          if (cases.size() % 5 < 3) gemm.beta = 0;
          cases.add(gemm);
        }
      }
    }
  }
  run(cases);
}

// Blocks share the k of a tile.
TEST_P(Gemm16BitRow, LongK) {
  Cases cases;
  for (const mygemmOperation_t transa : kOperations) {
    for (const mygemmOperation_t transb : kOperations) {
      Gemm16BitCase gemm{.transa = transa, .transb = transb, .m = 168, .n = 20, .k = 1100};
      gemm.aligned = true;
      cases.add(gemm);
      gemm.bias = transa == transb;
      gemm.beta = 0;
      cases.add(gemm);
    }
  }
  // A block of a cluster has more k steps than stages.
  Gemm16BitCase deep{.transa = MYGEMM_OP_T, .m = 40, .n = 20, .k = 5000};
  deep.aligned = true;
  cases.add(deep);
  run(cases);
}

// Tiles that are not square lie along D where that takes fewer rounds of an H200's multiprocessors.
TEST_P(Gemm16BitRow, TilesAlongEitherSide) {
  Cases cases;
  for (const bool wide : {false, true}) {
    Gemm16BitCase gemm{.m = wide ? 8 : 240, .n = wide ? 260 : 8, .k = 8};
    gemm.form = Form::kStrided;
    gemm.batch = 45;
    gemm.aligned = true;
    cases.add(gemm);
    gemm.beta = 0;  // not through the epilogue
    cases.add(gemm);
  }
  run(cases);
}

// Results of exact sums are rounded once, to nearest even.
TEST_P(Gemm16BitRow, IntegersAreRoundedOnce) {
  Cases cases;
  for (const Shape& shape : kShapes) {
    Gemm16BitCase gemm{.m = shape.m, .n = shape.n, .k = shape.k, .alpha = 2, .beta = -3};
    gemm.values = Values::kIntegers;
    cases.add(gemm);
    gemm.bias = true;
    gemm.own_c = true;
    gemm.activation = MYGEMM_ACTIVATION_RELU;
    cases.add(gemm);
  }
  run(cases);
}

TEST_P(Gemm16BitRow, InfinitiesNanAndSubnormalNumbers) {
  Cases cases;
  for (const mygemmOperation_t trans : kOperations) {
    Gemm16BitCase gemm{.transa = trans, .m = 40, .n = 70, .k = 45};
    gemm.values = Values::kSpecial;
    cases.add_each_type(gemm);
    gemm.beta = 0x1p-6f;
    gemm.own_c = true;
    gemm.bias = true;
    gemm.activation = MYGEMM_ACTIVATION_RELU;
    cases.add_each_type(gemm);
  }
  run(cases);
}

constexpr Shape kMixedShapes[] = {{72, 40, 24}, {9, 150, 333}, {150, 4, 200}, {1, 140, 300}};

// No bit of an FP32 operand is lost, whatever parts it is split into.
TEST_P(Gemm16BitRow, AllBitsOfFp32) {
  Cases cases;
  for (const Shape& shape : kMixedShapes) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        Gemm16BitCase gemm{.transa = transa, .transb = transb, .alpha = -2, .beta = 0};
        gemm.m = shape.m, gemm.n = shape.n, gemm.k = shape.k;
        gemm.values = Values::kAllBits;
        cases.add_mixed(gemm);
        cases.add_mixed(gemm);
      }
    }
  }
  run(cases);
}

TEST_P(Gemm16BitRow, Fp32OfAllMagnitudes) {
  Cases cases;
  for (const Shape& shape : kMixedShapes) {
    for (const mygemmOperation_t trans : kOperations) {
      Gemm16BitCase gemm{.transa = trans, .transb = trans};
      gemm.m = shape.m, gemm.n = shape.n, gemm.k = shape.k;
      gemm.values = Values::kWide;
      for (int i = 0; i < 4; ++i) {
        gemm.beta = i < 2 ? 0.0f : -0.5f;  // small results are seen without C
        cases.add_mixed(gemm);
      }
    }
  }
  run(cases);
}

TEST_P(Gemm16BitRow, ScalarsOfEveryKindInBothPointerModes) {
  Cases cases;
  for (const auto mode : {MYGEMM_POINTER_MODE_HOST, MYGEMM_POINTER_MODE_DEVICE}) {
    for (const float alpha : {0.0f, 1.0f, -1.75f}) {
      for (const float beta : {0.0f, 1.0f, 0.375f}) {
        Gemm16BitCase gemm{.m = 150, .n = 130, .k = 33, .alpha = alpha, .beta = beta};
        gemm.pointer_mode = mode;
        cases.add(gemm);
        gemm.own_c = gemm.aligned = true;
        cases.add(gemm);
      }
    }
  }
  run(cases);
}

TEST_P(Gemm16BitRow, Epilogues) {
  Cases cases;
  for (const Shape& shape : {Shape{37, 29, 19}, Shape{150, 130, 33}, Shape{33, 66, 0}}) {
    for (const auto activation :
         {MYGEMM_ACTIVATION_NONE, MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU,
          MYGEMM_ACTIVATION_RELU_GRADIENT, MYGEMM_ACTIVATION_GELU_GRADIENT}) {
      for (const bool bias : {true, false}) {
        Gemm16BitCase gemm{.m = shape.m, .n = shape.n, .k = shape.k};
        gemm.activation = activation;
        gemm.bias = bias;
        gemm.padding = bias ? 1 : 0;
        cases.add(gemm);
        gemm.own_c = true;
        gemm.offset = 2;
        cases.add(gemm);
        gemm.beta = 0;
        gemm.leaves_aux =
            activation == MYGEMM_ACTIVATION_GELU || activation == MYGEMM_ACTIVATION_RELU;
        cases.add(gemm);
        gemm.form = Form::kStrided;
        gemm.batch = 3;
        cases.add(gemm);
      }
    }
  }
  run(cases);
}

TEST_P(Gemm16BitRow, Batches) {
  Cases cases;
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    for (const Shape& shape : {Shape{37, 29, 19}, Shape{64, 64, 64}, Shape{70, 130, 33}}) {
      for (const int a_step : {1, 0, -1}) {
        Gemm16BitCase gemm{.m = shape.m, .n = shape.n, .k = shape.k};
        gemm.transb = a_step == 0 ? MYGEMM_OP_T : MYGEMM_OP_N;
        gemm.form = form;
        gemm.batch = 3;
        gemm.a_step = a_step, gemm.b_step = a_step == 0 ? 1 : 0;
        gemm.d_step = a_step == -1 ? -1 : 1;
        gemm.padding = a_step == 0 ? 5 : 0;
        cases.add(gemm);
        gemm.bias = true;
        gemm.own_c = true;
        gemm.offset = 2;
        cases.add(gemm);
      }
    }
  }
  run(cases);
}

TEST_P(Gemm16BitRow, EveryMathMode) {
  Cases cases;
  for (const auto math : {MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT, MYGEMM_MATH_FAST}) {
    for (const int64_t n : {65, 5}) {
      Gemm16BitCase gemm{.m = 72, .n = n, .k = 300};
      gemm.math = math;
      cases.add_each_type(gemm);
    }
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Rows, Gemm16BitRow, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

// ---- the plan's choice, and steps behind a product ---------------------------------------------

class Gemm16Bit : public BackendTest {
 protected:
  void run(const Cases& cases, size_t workspace = kWorkspace) {
    Handle handle(workspace);
    for (const auto* list : {&cases.of_16_bits(), &cases.mixed()}) {
      for (const Gemm16BitCase& gemm : *list) {
        run_16bit(handle, gemm);
        if (HasFailure()) return;
      }
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  }
};

TEST_F(Gemm16Bit, OfManyShapes) {
  Cases cases;
  for (const Shape& shape : kShapes) {
    Gemm16BitCase gemm{.m = shape.m, .n = shape.n, .k = shape.k};
    cases.add_each_type(gemm);
  }
  run(cases);
  if (kBuild != Build::kEmulated) run(cases, 0);
}

TEST_F(Gemm16Bit, Sums) {
  Cases cases;
  for (const auto sums : {MYGEMM_SUMS_OF_D, MYGEMM_SUMS_OF_A, MYGEMM_SUMS_OF_B}) {
    for (const mygemmOperation_t trans : kOperations) {
      Gemm16BitCase gemm{.transa = trans, .transb = trans, .m = 70, .n = 45, .k = 100};
      gemm.sums_of = sums;
      cases.add_each_type(gemm);
      gemm.form = Form::kStrided;
      gemm.batch = 3;
      gemm.padding = 1;
      gemm.offset = 2;
      cases.add_each_type(gemm);
    }
  }
  run(cases);
}

TEST_F(Gemm16Bit, BitsOfRelu) {
  Cases cases;
  for (const int64_t m : {1, 31, 33, 70, 1030}) {
    Gemm16BitCase gemm{.m = m, .n = 9, .k = 20};
    gemm.activation = MYGEMM_ACTIVATION_RELU;
    gemm.leaves_aux = true;
    gemm.bias = m % 2 == 0;
    cases.add_each_type(gemm);
    gemm.padding = 3;
    gemm.form = Form::kStrided;
    gemm.batch = 2;
    cases.add_each_type(gemm);
  }
  run(cases);
}

TEST_F(Gemm16Bit, Triangles) {
  Cases cases;
  for (const int64_t n : {1, 33, 70, 129, 300}) {
    for (const auto fill : {MYGEMM_FILL_LOWER, MYGEMM_FILL_UPPER}) {
      Gemm16BitCase gemm{.m = n, .n = n, .k = 35};
      gemm.transb = MYGEMM_OP_T;
      gemm.fill = fill;
      gemm.padding = n % 3;
      gemm.own_c = fill == MYGEMM_FILL_UPPER;
      cases.add(gemm);
      cases.add(gemm);
      gemm.form = n % 2 == 0 ? Form::kStrided : Form::kPointers;
      gemm.batch = n > 200 ? 1 : 3;
      gemm.own_c = !gemm.own_c;
      cases.add(gemm);
      gemm.k = 0;
      cases.add(gemm);
    }
  }
  run(cases);
  run(cases, size_t{512} << 10);
}

// Sides and depths beyond the blocks of host kernels, and more blocks than threads.
TEST_F(Gemm16Bit, LargerThanBlocks) {
  if (kBuild == Build::kEmulated) GTEST_SKIP() << "takes minutes";
  Cases cases;
  cases.add({.m = 500, .n = 300, .k = 900});
  cases.add({.transa = MYGEMM_OP_T, .m = 1100, .n = 130, .k = 400, .bias = true});
  cases.add({.transb = MYGEMM_OP_T, .m = 130, .n = 1100, .k = 390, .own_c = true});
  run(cases);
}

}  // namespace
}  // namespace mygemm_tests
