// Ops tests of the general product: every kernel of the backend forced with every operand of an
// activation; sums, which kernels of the plan's choice make behind the product.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gemm_aux_case.h"
#include "gemm_epilogue_rows.h"

namespace mygemm_tests {
namespace {

using Case = EpilogueCase;

class GemmEpilogueAux : public EpilogueRows {};

constexpr mygemmActivation_t kActivations[] = {MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU,
                                               MYGEMM_ACTIVATION_RELU_GRADIENT,
                                               MYGEMM_ACTIVATION_GELU_GRADIENT};

Case with_aux(const int64_t (&shape)[3], mygemmActivation_t activation) {
  Case gemm = shaped(shape);
  gemm.activation = activation;
  gemm.leaves_aux = !gemm.is_gradient();
  return gemm;
}

TEST_P(GemmEpilogueAux, OfEveryActivation) {
  std::vector<Case> cases;
  size_t number = 0;
  for (const auto& shape : kShapes) {
    for (const mygemmActivation_t activation : kActivations) {
      Case gemm = with_aux(shape, activation);
      gemm.bias = number % 3 != 1;
      gemm.transa = number % 2 == 0 ? MYGEMM_OP_N : MYGEMM_OP_T;
      gemm.transb = number % 4 < 2 ? MYGEMM_OP_N : MYGEMM_OP_T;
      gemm.beta = kBetas[number % 3];
      gemm.padding = number % 5 == 3 ? 3 : number % 5 == 4 ? 8 : 0;
      gemm.aux_padding = static_cast<int64_t>(number % 7 % 3);
      gemm.offset = number % 7 == 6 ? 4 : 0;
      cases.push_back(gemm);
      ++number;
    }
  }
  run(cases);
}

TEST_P(GemmEpilogueAux, OfAnotherC) {
  std::vector<Case> cases;
  for (const auto& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
    for (const mygemmActivation_t activation : kActivations) {
      Case gemm = with_aux({shape[0], shape[1], shape[2]}, activation);
      gemm.own_c = true;
      gemm.bias = cases.size() % 2 == 0;
      gemm.beta = kBetas[cases.size() % 3];
      gemm.padding = cases.size() % 2 == 0 ? 0 : 3;
      gemm.aux_padding = cases.size() % 3 == 0 ? 4 : 0;
      cases.push_back(gemm);
    }
  }
  run(cases);
}

TEST_P(GemmEpilogueAux, OfBatches) {
  std::vector<Case> cases;
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    for (const mygemmActivation_t activation : kActivations) {
      for (const int step : {-1, 0, 1}) {
        // One activation is enough for long sums, which blocks may share.
        const bool is_long = step == 1 && activation == MYGEMM_ACTIVATION_GELU;
        Case gemm = with_aux({35, 66, is_long ? 525 : 18}, activation);
        if (step == 0 && gemm.leaves_aux) continue;
        gemm.form = form;
        gemm.batch = 3;
        gemm.aux_step = step;
        gemm.bias_step = -step;
        gemm.aux_padding = step == 0 ? 1 : 0;
        gemm.own_c = cases.size() % 2 == 1;
        gemm.pointer_mode =
            cases.size() % 3 == 0 ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
        cases.push_back(gemm);
      }
    }
    Case many = with_aux({5, 7, 9}, MYGEMM_ACTIVATION_RELU);
    many.form = form;
    many.batch = 37;
    cases.push_back(many);
  }
  run(cases);
}

TEST_P(GemmEpilogueAux, WithoutSums) {
  std::vector<Case> cases;
  for (const bool alpha_is_zero : {false, true}) {
    for (const mygemmActivation_t activation : kActivations) {
      Case gemm = with_aux({70, 67, alpha_is_zero ? 9 : 0}, activation);
      gemm.bias = cases.size() % 3 != 0;
      gemm.alpha = alpha_is_zero ? 0.0f : 1.0f;
      gemm.beta = kBetas[cases.size() % 3];
      gemm.own_c = cases.size() % 4 > 1;
      gemm.padding = 1;
      gemm.null_inputs = true;
      cases.push_back(gemm);
    }
  }
  cases.push_back(with_aux({33, 66, 530}, MYGEMM_ACTIVATION_GELU));  // for kernels of deep products
  run(cases);
}

TEST_P(GemmEpilogueAux, OfScalarsOnTheDevice) {
  std::vector<Case> cases;
  for (const float alpha : {0.0f, -1.75f}) {
    for (const mygemmActivation_t activation : kActivations) {
      Case gemm = with_aux(kShapes[cases.size() % 3], activation);
      gemm.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
      gemm.alpha = alpha;
      gemm.beta = kBetas[cases.size() % 3];
      gemm.own_c = cases.size() % 2 == 1;
      cases.push_back(gemm);
    }
  }
  run(cases);
}

TEST_P(GemmEpilogueAux, OfInfinitiesAndNan) {
  std::vector<Case> cases;
  for (const mygemmActivation_t activation : kActivations) {
    Case gemm = with_aux(kShapes[cases.size() % 3], activation);
    gemm.beta = 1;
    gemm.special = true;
    gemm.own_c = cases.size() % 2 == 1;
    cases.push_back(gemm);
  }
  run(cases);
}

// Sums behind whatever kernel made D.
TEST_P(GemmEpilogueAux, WithSums) {
  std::vector<Case> cases;
  for (const auto& shape : kShapes) {
    Case gemm = with_aux(shape, kActivations[cases.size() % 4]);
    gemm.sums_of = MYGEMM_SUMS_OF_D;
    gemm.padding = cases.size() % 2 == 0 ? 0 : 3;
    cases.push_back(gemm);
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmEpilogueAux, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

// ---- by kernels of the plan's choice ------------------------------------------------------------

class GemmEpiloguePlanned : public BackendTest {
 protected:
  void run(const std::vector<Case>& cases) {
    Handle handle(kWorkspace);
    for (const Case& gemm : cases) {
      run_epilogue(handle, gemm, nullptr);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  }
};

constexpr mygemmSums_t kSums[] = {MYGEMM_SUMS_OF_D, MYGEMM_SUMS_OF_A, MYGEMM_SUMS_OF_B};

Case with_sums(const int64_t (&shape)[3], mygemmSums_t of) {
  Case gemm = shaped(shape);
  gemm.bias = false;
  gemm.sums_of = of;
  gemm.calls = 2;
  return gemm;
}

// A line or a column at least, lengths on either side of a vector's, long lines of few.
constexpr int64_t kSummedShapes[][3] = {{1, 1, 1},    {1, 130, 37}, {129, 1, 5}, {3, 5, 4099},
                                        {70, 67, 33}, {2, 4099, 3}, {515, 9, 64}};

TEST_F(GemmEpiloguePlanned, SumsOfEveryMatrix) {
  std::vector<Case> cases;
  for (const auto& shape : kSummedShapes) {
    for (const mygemmSums_t of : kSums) {
      for (const bool trans : {false, true}) {
        Case gemm = with_sums(shape, of);
        gemm.transa = trans ? MYGEMM_OP_T : MYGEMM_OP_N;
        gemm.transb = trans ? MYGEMM_OP_C : MYGEMM_OP_N;
        gemm.padding = cases.size() % 3 == 0 ? 0 : cases.size() % 3 == 1 ? 1 : 4;
        gemm.offset = cases.size() % 5 == 4 ? 4 : 0;
        gemm.bias = cases.size() % 2 == 0;
        cases.push_back(gemm);
      }
    }
  }
  run(cases);
}

TEST_F(GemmEpiloguePlanned, SumsOfBatches) {
  std::vector<Case> cases;
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    for (const mygemmSums_t of : kSums) {
      for (const int step : {-1, 1}) {
        Case gemm = with_sums({35, 66, 525}, of);
        gemm.form = form;
        gemm.batch = 3;
        gemm.sums_step = step;
        gemm.transa = step < 0 ? MYGEMM_OP_T : MYGEMM_OP_N;
        gemm.transb = step < 0 ? MYGEMM_OP_N : MYGEMM_OP_T;
        cases.push_back(gemm);
      }
    }
  }
  run(cases);
}

// A and B are read for their sums although the product has none, unless they are empty.
TEST_F(GemmEpiloguePlanned, SumsWhereNothingIsMultiplied) {
  std::vector<Case> cases;
  for (const int64_t k : {0, 19}) {
    for (const mygemmSums_t of : kSums) {
      for (const float beta : {0.0f, 1.0f}) {
        Case gemm = with_sums({37, 29, k}, of);
        gemm.alpha = 0;
        gemm.beta = beta;
        gemm.null_inputs = k == 0 || of == MYGEMM_SUMS_OF_D;
        gemm.pointer_mode =
            cases.size() % 4 == 2 ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
        if (gemm.pointer_mode == MYGEMM_POINTER_MODE_DEVICE) gemm.null_inputs = false;
        cases.push_back(gemm);
      }
    }
  }
  run(cases);
}

TEST_F(GemmEpiloguePlanned, SumsOfInfinitiesAndNan) {
  std::vector<Case> cases;
  for (const mygemmSums_t of : kSums) {
    for (const mygemmActivation_t activation : {MYGEMM_ACTIVATION_NONE, MYGEMM_ACTIVATION_RELU}) {
      Case gemm = with_sums(kShapes[cases.size() % 3], of);
      gemm.activation = activation;
      gemm.leaves_aux = activation == MYGEMM_ACTIVATION_RELU;
      gemm.bias = gemm.special = true;
      gemm.beta = 1;
      cases.push_back(gemm);
    }
  }
  run(cases);
}

// Lengths on either side of what a thread of the pass over D has in flight, and of what a warp
// takes.
TEST_F(GemmEpiloguePlanned, BitsOfLongColumns) {
  std::vector<Case> cases;
  for (const int64_t m : {255, 257, 1024, 1025, 2100}) {
    Case gemm = with_aux({m, 5, 3}, MYGEMM_ACTIVATION_RELU);
    gemm.aux_padding = static_cast<int64_t>(cases.size() % 2);
    gemm.padding = static_cast<int64_t>(cases.size() % 3);
    if (m == 1025) {
      gemm.form = Form::kStrided;
      gemm.batch = 3;
    }
    cases.push_back(gemm);
  }
  run(cases);
}

// D = 1 * g(x) for x in [-20, 20].
TEST_F(GemmEpiloguePlanned, FactorsOfGeluGradients) {
  const int64_t kRows = 256, kColumns = kBuild == Build::kEmulated ? 64 : 1024;
  std::vector<float> x(kRows * kColumns), ones(x.size(), 1.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(40 * (static_cast<double>(i) + 0.5) / static_cast<double>(x.size()) -
                              20);
  }
  const DeviceBuffer aux(x.data(), x.size() * sizeof(float), 0);
  const DeviceBuffer d(ones.data(), ones.size() * sizeof(float), 0);
  const float one = 1;
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.m = call.lda = call.ldd = call.ldaux = kRows;
  call.n = kColumns;
  call.ldb = 1;
  call.alpha = call.beta = &one;
  call.D = d.data();
  call.aux = aux.data();
  call.activation = MYGEMM_ACTIVATION_GELU_GRADIENT;
  Handle handle(kWorkspace);
  ASSERT_EQ(mygemm_gemm(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  std::vector<float> got(x.size());
  d.download(got.data());
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::fabs(got[i] - gelu_derivative(x[i])));
  }
  RecordProperty("worst error in units of 2^-24", std::to_string(worst * 0x1p24));
  EXPECT_LE(worst, kGeluDerivativeError);
}

}  // namespace
}  // namespace mygemm_tests
