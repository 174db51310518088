// Messages of a drop-in library on stderr, each one write: the ranks of a job share a terminal.
#pragma once

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "launcher.h"

namespace mygemm::drop_in {

[[gnu::format(printf, 1, 2)]] inline std::string print(const char* format, ...) {
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

inline void say(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

// The place in a parallel job; read once.
inline const Place& place() {
  static const Place found =
      read_place([](const char* name) -> const char* { return std::getenv(name); });
  return found;
}

// "process 4711, rank 3".
inline std::string this_process() {
  std::string text = "process " + std::to_string(getpid());
  if (place().rank >= 0) text += ", rank " + std::to_string(place().rank);
  return text;
}

}  // namespace mygemm::drop_in
