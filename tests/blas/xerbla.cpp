// Tests of the drop-in BLAS: an xerbla_ and a cblas_xerbla of the program, which keep the report.
// The drop-in finds them by name, as it finds those of any program.
#include "blas.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

namespace mygemm_tests {
namespace {
Report last_report;
}  // namespace

Report take_report() { return std::exchange(last_report, {}); }

}  // namespace mygemm_tests

extern "C" {

void xerbla_(const char* routine, const int* position, size_t length) {
  mygemm_tests::last_report = {std::string(routine, length), *position, ""};
}

void cblas_xerbla(int position, const char* routine, const char* form, ...) {
  char text[200];
  std::va_list arguments;
  va_start(arguments, form);
  std::vsnprintf(text, sizeof text, form, arguments);
  va_end(arguments);
  mygemm_tests::last_report = {routine, position, text};
}
}
