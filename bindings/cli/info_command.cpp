// mygemm info: version, device and settings from the environment; the devices that have a name.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "commands.h"
#include "session.h"

namespace mygemm::cli {
namespace {

constexpr const char* kVariables[] = {"MYGEMM_BACKEND",        "MYGEMM_MATH",
                                      "MYGEMM_INVARIANCE",     "MYGEMM_LOG",
                                      "MYGEMM_FORCE_GEMM",     "MYGEMM_FORCE_GROUPED",
                                      "MYGEMM_FORCE_SOFTMAX",  "MYGEMM_FORCE_CROSS_ENTROPY",
                                      "MYGEMM_FORCE_TRANSPOSE"};

std::string device_line(const Session& session, const char* device) {
  const std::string plan = explanation([&](char* text, size_t capacity, size_t* length) {
    return mygemm_explain_transpose(session.handle(), device, sizeof(float), 1, 1, nullptr, 1, 0,
                                    nullptr, 1, 0, 1, text, capacity, length);
  });
  const std::string line = line_of(plan, "device: ");
  return line.substr(0, line.rfind("; workspace "));
}

// The library names them in the sentence on a device that it does not know: "... none of: A, B".
void list_devices() {
  const Session session = Session::for_questions();
  mygemm_explain_transpose(session.handle(), "?", sizeof(float), 1, 1, nullptr, 1, 0, nullptr, 1, 0,
                           1, nullptr, 0, nullptr);
  std::istringstream names(line_of(mygemm_last_error(), " none of: "));
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const std::string line = device_line(session, name.c_str());
    std::printf("%-10s %s\n", name.c_str(), line.c_str());
  }
}

void run_info() {
  const int version = mygemm_version();
  std::printf("library:  %d.%d.%d (command built for %d.%d.%d)\n", version / 10000,
              version / 100 % 100, version % 100, MYGEMM_VERSION_MAJOR, MYGEMM_VERSION_MINOR,
              MYGEMM_VERSION_PATCH);

  const Session session;
  const bool on_device = session.memory() == Memory::kDevice;
  std::printf("backend:  %s%s\n", on_device ? "CUDA" : "host",
              has_device_memory() ? "" : " (this command was built without CUDA)");
  std::printf("device:   %s\n", device_line(session, nullptr).c_str());
  if (on_device) std::printf("CUDA:     %s\n", describe_device().c_str());

  std::printf("environment:\n");
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    std::printf("  %-26s %s\n", name, value != nullptr && *value != '\0' ? value : "(not set)");
  }
}

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("info", "The library's version, its backend and device, the environment.");
  const auto devices = std::make_shared<bool>(false);
  command->add_flag("--devices", *devices, "list what explain --device takes instead");
  command->callback([devices] { *devices ? list_devices() : run_info(); });
}

}  // namespace mygemm::cli
