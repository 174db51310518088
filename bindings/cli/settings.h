// The settings of a handle that subcommands take as options, in the words of mygemm-bench. Without
// an option the environment's setting holds, or the library's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "library_words.h"
#include "mygemm/mygemm.h"

// Declared, not included: the header takes seconds to compile, in every source with a session.
namespace CLI {
class App;
}

namespace mygemm::cli {

struct Settings {
  Family family = Family::kGemm;
  mygemmBackend_t backend = MYGEMM_BACKEND_AUTO;
  std::optional<mygemmMathMode_t> math;
  std::optional<mygemmInvariance_t> invariance;
  std::optional<int64_t> workspace_mib;
  std::string force;  // a kernel's name, or empty
  bool verbose = false;

  // Sets the variable that forces the kernel, if there is one; handles read it when they are made.
  void force_kernel() const;
};

// --backend, --workspace, --force for kernels of the family, and of products --math and
// --invariance.
void add_settings(CLI::App* command, Settings* settings, Family family);
// --verbose, of subcommands that compute.
void add_verbose(CLI::App* command, Settings* settings);

}  // namespace mygemm::cli
