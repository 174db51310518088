// Reads the environment. The only file of the library that calls getenv.
#include "environment.h"

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "plan/plan.h"

namespace mygemm {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

template <class Enum>
Status read_choice(const char* name, std::initializer_list<std::pair<const char*, Enum>> choices,
                   Enum* result) {
  const std::string value = variable(name);
  if (value.empty()) return MYGEMM_STATUS_SUCCESS;
  std::string names;
  for (const auto& [text, meaning] : choices) {
    if (value == text) {
      *result = meaning;
      return MYGEMM_STATUS_SUCCESS;
    }
    names += names.empty() ? text : std::string(", ") + text;
  }
  return fail(MYGEMM_STATUS_INVALID_VALUE, "%s = %s is none of: %s", name, value.c_str(),
              names.c_str());
}

template <class Problem>
Status read_kernel(std::string* result) {
  const Problem any{};
  const char* name = force_variable(any);
  *result = variable(name);
  if (result->empty()) return MYGEMM_STATUS_SUCCESS;
  for (const auto& kernel : kernels_for(any)) {
    if (*result == kernel.name) return MYGEMM_STATUS_SUCCESS;
  }
  return fail(MYGEMM_STATUS_INVALID_VALUE, "%s = %s is not the name of a kernel", name,
              result->c_str());
}

}  // namespace

Status read_environment(Environment* environment) {
  RETURN_IF_ERROR(read_choice(
      "MYGEMM_BACKEND",
      {{"auto", MYGEMM_BACKEND_AUTO}, {"cuda", MYGEMM_BACKEND_CUDA}, {"host", MYGEMM_BACKEND_HOST}},
      &environment->backend));
  RETURN_IF_ERROR(read_choice("MYGEMM_MATH",
                              {{"default", MYGEMM_MATH_DEFAULT},
                               {"strict", MYGEMM_MATH_STRICT},
                               {"fast", MYGEMM_MATH_FAST}},
                              &environment->math));
  RETURN_IF_ERROR(read_choice(
      "MYGEMM_INVARIANCE", {{"none", MYGEMM_INVARIANCE_NONE}, {"batch", MYGEMM_INVARIANCE_BATCH}},
      &environment->invariance));
  RETURN_IF_ERROR(read_kernel<GemmProblem>(&environment->force_gemm));
  RETURN_IF_ERROR(read_kernel<GroupedProblem>(&environment->force_grouped));
  RETURN_IF_ERROR(read_kernel<SoftmaxProblem>(&environment->force_softmax));
  RETURN_IF_ERROR(read_kernel<CrossEntropyProblem>(&environment->force_cross_entropy));
  RETURN_IF_ERROR(read_kernel<TransposeProblem>(&environment->force_transpose));
  environment->log = variable("MYGEMM_LOG");
  return MYGEMM_STATUS_SUCCESS;
}

const Place& place_of_process() {
  static const Place place =
      read_place([](const char* name) -> const char* { return std::getenv(name); });
  return place;
}

}  // namespace mygemm
