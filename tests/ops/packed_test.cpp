// Ops tests of packed products whose workspace does not hold the packed operands whole: D is
// computed in parts. gemm_test.cpp and its siblings have those whose operands fit.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_16bit_case.h"
#include "gemm_epilogue_case.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

constexpr auto kN = MYGEMM_OP_N, kT = MYGEMM_OP_T;
constexpr auto kF32 = MYGEMM_R_32F, kF16 = MYGEMM_R_16F, kBf16 = MYGEMM_R_16BF;
constexpr int64_t kPartRows = 256;  // parts have multiples of these rows and columns

class GemmPacked : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (kBuild == Build::kHost) GTEST_SKIP() << "the host packs nothing";
  }
};

// It holds kPartRows rows of op(A) and columns of op(B), whatever the operation, and no more.
size_t workspace_of_parts(const Gemm16BitCase& gemm) {
  const auto line = static_cast<size_t>(gemm.k + 64);
  return kPartRows * line * ((gemm.a == kF32 ? 4 : 2) + (gemm.b == kF32 ? 4 : 2));
}

const char* packed_row(const Gemm16BitCase& gemm) {
  return gemm.mixed() ? "packed_mixed" : "packed16";
}

void run_in_parts(const Gemm16BitCase& gemm, size_t workspace) {
  Handle handle(Family::kGemm, packed_row(gemm), workspace);
  run_16bit(handle, gemm);
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
}

TEST_F(GemmPacked, PartsOfEveryLayout) {
  for (const auto& [a, b] :
       {std::pair{kBf16, kBf16}, std::pair{kF32, kBf16}, std::pair{kBf16, kF32}}) {
    for (const auto transa : {kN, kT}) {
      for (const auto transb : {kN, kT}) {
        Gemm16BitCase gemm{.a = a, .b = b, .out = kF32, .transa = transa, .transb = transb};
        gemm.m = transa == kN ? 517 : 259, gemm.n = transb == kN ? 261 : 513, gemm.k = 69;
        gemm.beta = transa == transb ? 0.0f : 0.75f;
        run_in_parts(gemm, workspace_of_parts(gemm));
        if (HasFailure()) return;
      }
    }
  }
}

// The other one is read where it lies.
TEST_F(GemmPacked, PartsOfOneOperand) {
  for (const auto transa : {kN, kT}) {
    // Columns of A have m elements, or k; those of B have k, or n.
    Gemm16BitCase gemm{.a = kF16, .b = kF16, .out = kF16, .transa = transa, .transb = transa};
    gemm.m = transa == kN ? 515 : 520, gemm.n = transa == kN ? 264 : 520;
    gemm.k = transa == kN ? 72 : 67;
    if (transa == kT) gemm.m = 264;
    run_in_parts(gemm, workspace_of_parts(gemm) / 2);
    if (HasFailure()) return;
  }
}

// Each part finds its own place in C, in the bias and in what activations leave and read.
TEST_F(GemmPacked, PartsWithEpilogues) {
  for (const auto activation : {MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU,
                                MYGEMM_ACTIVATION_RELU_GRADIENT, MYGEMM_ACTIVATION_GELU_GRADIENT}) {
    Gemm16BitCase gemm{.a = kF16, .b = kF16, .out = kF16, .m = 515, .n = 259, .k = 41};
    gemm.activation = activation;
    gemm.leaves_aux = !gemm.is_gradient();
    gemm.bias = gemm.own_c = true;
    run_in_parts(gemm, workspace_of_parts(gemm));
    if (HasFailure()) return;
  }
}

TEST_F(GemmPacked, SomeMatricesOfABatchAtOnce) {
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    for (const int a_step : {1, 0, -1}) {
      Gemm16BitCase gemm{.a = kBf16, .b = kBf16, .out = kBf16, .m = 37, .n = 29, .k = 43};
      gemm.form = form, gemm.batch = 5, gemm.a_step = a_step;
      gemm.bias = true;
      gemm.activation = MYGEMM_ACTIVATION_GELU;
      gemm.leaves_aux = a_step == 1;
      run_in_parts(gemm, size_t{2} * 2 * (37 + 29 + 16) * (43 + 8));
      if (HasFailure()) return;
    }
  }
}

TEST_F(GemmPacked, PartsOfMatricesOfABatch) {
  Gemm16BitCase gemm{.a = kF16, .b = kF16, .out = kF32, .m = 513, .n = 257, .k = 35};
  gemm.form = Form::kStrided, gemm.batch = 2;
  run_in_parts(gemm, workspace_of_parts(gemm));
}

// Matrices at pointers are packed whole.
TEST_F(GemmPacked, NoPartsOfMatricesAtPointers) {
  Gemm16BitCase gemm{.a = kF16, .b = kF16, .out = kF16, .m = 515, .n = 259, .k = 41};
  gemm.form = Form::kPointers, gemm.batch = 2;
  Handle handle(Family::kGemm, packed_row(gemm), workspace_of_parts(gemm) / 2);
  RowTally tally(packed_row(gemm));
  run_16bit(handle, gemm, &tally);
  EXPECT_FALSE(tally.ran_some());
}

// With alpha = 0, known on the device alone, A and B are not read: here there is nothing at their
// addresses.
TEST_F(GemmPacked, NothingWhereAlphaIsZero) {
  constexpr int64_t m = 37, n = 29, k = 43;
  const float zeros[2] = {};
  const DeviceBuffer scalars(zeros, sizeof zeros, 0);
  std::vector<uint16_t> results(m * n, 1);
  const size_t bytes = results.size() * sizeof results[0];
  const DeviceBuffer d(results.data(), bytes, 2);
  Handle handle(Family::kGemm, "packed16", size_t{1} << 20);
  ASSERT_EQ(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_DEVICE), MYGEMM_STATUS_SUCCESS);
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.m = m, call.n = n, call.k = k;
  call.atype = call.btype = call.ctype = call.dtype = kBf16;
  call.alpha = scalars.data(), call.beta = scalars.as<float>() + 1;
  call.A = reinterpret_cast<const void*>(0x10002), call.lda = m;
  call.B = reinterpret_cast<const void*>(0x20002), call.ldb = k;
  call.D = d.data(), call.ldd = m;
  ASSERT_EQ(mygemm_gemm(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  d.download(results.data());
  EXPECT_EQ(results, std::vector<uint16_t>(m * n, 0));
}

// FP32, by the kernels of each math mode.
TEST_F(GemmPacked, PartsOfFp32) {
  for (const auto math : {MYGEMM_MATH_STRICT, MYGEMM_MATH_DEFAULT}) {
    constexpr int64_t m = 519, n = 263, k = 45;
    Handle handle(Family::kGemm, "packed", size_t{2} * kPartRows * 4 * (k + 32));
    ASSERT_EQ(mygemm_set_math_mode(handle, math), MYGEMM_STATUS_SUCCESS);
    RowTally tally("packed");
    for (const auto transa : {kN, kT}) {
      GemmCase gemm{.transa = transa, .transb = kT, .m = m, .n = n, .k = k};
      run_gemm(handle, gemm, &tally);
      EpilogueCase fused{.m = m, .n = n, .k = k, .transa = transa};
      fused.activation = MYGEMM_ACTIVATION_RELU;
      run_epilogue(handle, fused, &tally);
      EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
      if (HasFailure()) return;
    }
    tally.finish();
  }
}

}  // namespace
}  // namespace mygemm_tests
