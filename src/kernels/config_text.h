// The parts of Configs as text that the operations share. Pure.
#pragma once

#include <cstdio>
#include <string>

#include "kernels/kernel.h"

namespace mygemm {

// As printf; at most 159 characters.
template <class... Arguments>
std::string text(const char* format, Arguments... arguments) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, arguments...);
  return buffer;
}

// The grid of a kernel that has one.
inline std::string grid_text(const LaunchConfig& config) {
  std::string result =
      text("grid %lld x %d threads", static_cast<long long>(config.blocks), config.threads);
  if (config.cluster_blocks > 0) result += text(", clusters of %d", config.cluster_blocks);
  if (config.shared_bytes > 0) result += text(", %zu bytes shared", config.shared_bytes);
  return result;
}

}  // namespace mygemm
