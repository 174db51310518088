// Ops tests of the general product: every kernel of the backend forced with every epilogue.
#include <vector>

#include "gemm_epilogue_rows.h"

namespace mygemm_tests {
namespace {

using Case = EpilogueCase;

class GemmEpilogue : public EpilogueRows {};

struct Kind {
  bool bias;
  mygemmActivation_t activation;
};
constexpr Kind kKinds[] = {{true, MYGEMM_ACTIVATION_NONE},
                           {false, MYGEMM_ACTIVATION_RELU},
                           {false, MYGEMM_ACTIVATION_GELU},
                           {true, MYGEMM_ACTIVATION_RELU},
                           {true, MYGEMM_ACTIVATION_GELU}};

void set_kind(const Kind& kind, Case* gemm) {
  gemm->bias = kind.bias;
  gemm->activation = kind.activation;
}

TEST_P(GemmEpilogue, OfEveryKind) {
  std::vector<Case> cases;
  size_t number = 0;
  for (const auto& shape : kShapes) {
    for (const Kind& kind : kKinds) {
      Case gemm = shaped(shape);
      set_kind(kind, &gemm);
      gemm.transa = number % 2 == 0 ? MYGEMM_OP_N : MYGEMM_OP_T;
      gemm.transb = number % 4 < 2 ? MYGEMM_OP_N : MYGEMM_OP_T;
      gemm.beta = kBetas[number % 3];
      gemm.padding = number % 5 == 3 ? 3 : number % 5 == 4 ? 8 : 0;
      gemm.offset = number % 7 == 6 ? 4 : 0;
      cases.push_back(gemm);
      ++number;
    }
  }
  run(cases);
}

TEST_P(GemmEpilogue, OfAnotherC) {
  constexpr Kind kNone = {false, MYGEMM_ACTIVATION_NONE};
  std::vector<Case> cases;
  for (const auto& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
    for (const float beta : kBetas) {
      Case gemm = shaped({shape[0], shape[1], shape[2]});
      gemm.own_c = true;
      gemm.beta = beta;
      set_kind(beta == 1 ? kNone : kKinds[cases.size() % 5], &gemm);
      gemm.c_padding = cases.size() % 2 == 0 ? 5 : 0;
      gemm.padding = cases.size() % 2 == 0 ? 0 : 3;
      cases.push_back(gemm);
    }
  }
  // All columns but those of the second C are whole quads.
  for (const int64_t c_padding : {4, 5}) {
    Case gemm = shaped({132, 36, 40});
    gemm.own_c = true;
    gemm.beta = -0.5f;
    set_kind(kKinds[3], &gemm);
    gemm.c_padding = c_padding;
    cases.push_back(gemm);
  }
  run(cases);
}

TEST_P(GemmEpilogue, OfBatches) {
  std::vector<Case> cases;
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    for (const bool own_c : {false, true}) {
      for (const int bias_step : {-1, 0, 1}) {
        Case gemm = shaped({35, 66, own_c && bias_step == 1 ? 525 : 18});
        set_kind(kKinds[3 + cases.size() % 2], &gemm);
        gemm.form = form;
        gemm.batch = 3;
        gemm.own_c = own_c;
        gemm.bias_step = bias_step;
        gemm.transa = own_c ? MYGEMM_OP_T : MYGEMM_OP_N;
        gemm.pointer_mode = bias_step == 0 ? MYGEMM_POINTER_MODE_DEVICE : MYGEMM_POINTER_MODE_HOST;
        cases.push_back(gemm);
      }
    }
    Case many = shaped({5, 7, 9});
    many.activation = MYGEMM_ACTIVATION_RELU;
    many.form = form;
    many.batch = 37;
    cases.push_back(many);
  }
  run(cases);
}

TEST_P(GemmEpilogue, OfScalarsOnTheDevice) {
  std::vector<Case> cases;
  for (const float alpha : {0.0f, 1.0f, -1.75f}) {
    for (const float beta : kBetas) {
      Case gemm = shaped(kShapes[cases.size() % 3]);
      set_kind(kKinds[cases.size() % 5], &gemm);
      gemm.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
      gemm.alpha = alpha;
      gemm.beta = beta;
      gemm.own_c = cases.size() % 2 == 1;
      cases.push_back(gemm);
    }
  }
  run(cases);
}

TEST_P(GemmEpilogue, WithoutSums) {
  std::vector<Case> cases;
  for (const bool alpha_is_zero : {false, true}) {
    for (const Kind& kind : kKinds) {
      Case gemm = shaped({70, 67, alpha_is_zero ? 9 : 0});
      set_kind(kind, &gemm);
      gemm.alpha = alpha_is_zero ? 0.0f : 1.0f;
      gemm.beta = kBetas[cases.size() % 3];
      gemm.own_c = cases.size() % 4 > 1;
      gemm.padding = 1;
      gemm.null_inputs = true;
      cases.push_back(gemm);
    }
  }
  cases.push_back(shaped({33, 66, 530}));  // one that kernels for deep products can run
  run(cases);
}

TEST_P(GemmEpilogue, OfInfinitiesAndNan) {
  std::vector<Case> cases;
  for (const Kind& kind : kKinds) {
    Case gemm = shaped(kShapes[cases.size() % 3]);
    set_kind(kind, &gemm);
    gemm.beta = 1;
    gemm.special = true;
    gemm.own_c = cases.size() % 2 == 1;
    cases.push_back(gemm);
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GemmEpilogue, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

}  // namespace
}  // namespace mygemm_tests
