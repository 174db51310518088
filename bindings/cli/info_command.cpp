// mygemm info: version, device and settings from the environment.
#include <cstdio>
#include <cstdlib>

#include "commands.h"
#include "session.h"

namespace mygemm::cli {
namespace {

constexpr const char* kVariables[] = {"MYGEMM_BACKEND",       "MYGEMM_MATH",
                                      "MYGEMM_LOG",           "MYGEMM_FORCE_GEMM",
                                      "MYGEMM_FORCE_SOFTMAX", "MYGEMM_FORCE_TRANSPOSE"};

void run_info() {
  const int version = mygemm_version();
  std::printf("library:  %d.%d.%d (command built for %d.%d.%d)\n", version / 10000,
              version / 100 % 100, version % 100, MYGEMM_VERSION_MAJOR, MYGEMM_VERSION_MINOR,
              MYGEMM_VERSION_PATCH);

  const Session session;
  const bool on_device = session.memory() == Memory::kDevice;
  std::printf("backend:  %s%s\n", on_device ? "CUDA" : "host",
              has_device_memory() ? "" : " (this command was built without CUDA)");
  const std::string plan = explanation([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_transpose(session.handle(), nullptr, sizeof(float), 1, 1, nullptr, 1, 0,
                                    nullptr, 1, 0, 1, text, capacity, length);
  });
  std::printf("device:   %s\n", line_of(plan, "device: ").c_str());
  if (on_device) std::printf("CUDA:     %s\n", describe_device().c_str());

  std::printf("environment:\n");
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    std::printf("  %-22s %s\n", name, value != nullptr && *value != '\0' ? value : "(not set)");
  }
}

}  // namespace

void add_info(CLI::App& app) {
  app.add_subcommand("info", "The library's version, its backend and device, the environment.")
      ->callback(run_info);
}

}  // namespace mygemm::cli
