// The last-error sentence, one per thread.
#include "status.h"

#include <cstdarg>
#include <cstdio>

namespace mygemm {
namespace {
thread_local char last_error[512] = "";
}

Status fail_with(Status status, const char* format, std::va_list arguments) {
  std::vsnprintf(last_error, sizeof last_error, format, arguments);
  return status;
}

Status fail(Status status, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  fail_with(status, format, arguments);
  va_end(arguments);
  return status;
}

const char* last_error_text() { return last_error; }

}  // namespace mygemm
