// Options that become a handle's settings, see settings.h.
#include "settings.h"

#include <cstdlib>
#include <string>

#include "command_line.h"

namespace mygemm::cli {

void Settings::force_kernel() const {
  if (!force.empty()) ::setenv(force_variable(family), force.c_str(), 1);
}

void add_settings(CLI::App* command, Settings* settings, Family family) {
  settings->family = family;
  constexpr int64_t kMostMiB = int64_t{1} << 30;
  add_choice(command, "--backend", &settings->backend, kBackends,
             "where to compute (default: MYGEMM_BACKEND, else a GPU if there is one)");
  if (is_product(family)) {
    add_choice(command, "--math", &settings->math, kMathModes,
               "math mode (default: MYGEMM_MATH, else default)");
    add_choice(command, "--invariance", &settings->invariance, kInvariances,
               "batch: the bits of a result do not depend on what else is computed (default: "
               "MYGEMM_INVARIANCE, else none)");
  }
  command
      ->add_option("--workspace", settings->workspace_mib,
                   "MiB of workspace on a GPU (default 32; 0: none)")
      ->check(CLI::Range(int64_t{0}, kMostMiB).description(""));
  command
      ->add_option("--force", settings->force,
                   std::string("a kernel to use, by its name in explanations; the same as ") +
                       force_variable(family))
      ->type_name("KERNEL");
}

void add_verbose(CLI::App* command, Settings* settings) {
  command->add_flag("--verbose", settings->verbose,
                    "on standard error: the kernel that ran, its time and its rate");
}

}  // namespace mygemm::cli
