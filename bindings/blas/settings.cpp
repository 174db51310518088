// Reads the environment of the drop-in BLAS. See settings.h.
#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mygemm::blas {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

OffloadChoice read_offload_choice() {
  const std::string_view value = variable("MYGEMM_BLAS_OFFLOAD");
  if (value == "always") return OffloadChoice::kAlways;
  if (value == "never") return OffloadChoice::kNever;
  if (value.empty() && variable("MYGEMM_BACKEND") == "host") return OffloadChoice::kNever;
  if (!value.empty() && value != "auto") {
    std::fprintf(stderr,
                 "mygemm: MYGEMM_BLAS_OFFLOAD = %.*s is none of: auto, always, never; taken as "
                 "auto\n",
                 static_cast<int>(value.size()), value.data());
  }
  return OffloadChoice::kAuto;
}

}  // namespace

OffloadChoice offload_choice() {
  static const OffloadChoice choice = read_offload_choice();
  return choice;
}

}  // namespace mygemm::blas
