// Settings of the library as words of a command line, shared by mygemm and mygemm-bench.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mygemm/mygemm.h"

namespace mygemm::cli {

inline const std::vector<std::pair<std::string, mygemmBackend_t>> kBackends = {
    {"auto", MYGEMM_BACKEND_AUTO}, {"cuda", MYGEMM_BACKEND_CUDA}, {"host", MYGEMM_BACKEND_HOST}};
inline const std::vector<std::pair<std::string, mygemmMathMode_t>> kMathModes = {
    {"default", MYGEMM_MATH_DEFAULT}, {"fast", MYGEMM_MATH_FAST}, {"strict", MYGEMM_MATH_STRICT}};
inline const std::vector<std::pair<std::string, mygemmInvariance_t>> kInvariances = {
    {"none", MYGEMM_INVARIANCE_NONE}, {"batch", MYGEMM_INVARIANCE_BATCH}};

// Operations. A variable of the environment forces a kernel of each; handles read it when they are
// made.
enum class Family { kGemm, kGrouped, kSoftmax, kCrossEntropy, kTranspose };

// Products have a math mode and an invariance.
constexpr bool is_product(Family family) {
  return family == Family::kGemm || family == Family::kGrouped;
}

constexpr const char* force_variable(Family family) {
  switch (family) {
    case Family::kGemm: return "MYGEMM_FORCE_GEMM";
    case Family::kGrouped: return "MYGEMM_FORCE_GROUPED";
    case Family::kSoftmax: return "MYGEMM_FORCE_SOFTMAX";
    case Family::kCrossEntropy: return "MYGEMM_FORCE_CROSS_ENTROPY";
    case Family::kTranspose: return "MYGEMM_FORCE_TRANSPOSE";
  }
  return "";
}

}  // namespace mygemm::cli
