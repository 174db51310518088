// The parts of `mygemm explain` that all its subcommands share: the device that a question is
// about, a handle to ask, and the shape of the answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "command_line.h"
#include "explanation.h"
#include "session.h"

namespace mygemm::cli {

using Extent = std::optional<int64_t>;

inline int64_t at_least_1(int64_t extent) { return std::max<int64_t>(1, extent); }

// The stride of a batch of densely packed matrices; the library refuses one that does not fit.
inline int64_t packed(int64_t ld, int64_t vectors, int64_t batch) {
  int64_t stride = 0;
  if (batch <= 1) return stride;
  return __builtin_mul_overflow(ld, vectors, &stride) ? INT64_MAX : stride;
}

// The options that all subcommands share. An empty device is that of this machine.
struct Question {
  std::string device;
  Settings settings;
  bool json = false, bars = false;

  Session session() const {
    return device.empty() ? Session(settings) : Session::for_questions(settings);
  }
  const char* device_or_null() const { return device.empty() ? nullptr : device.c_str(); }

  void print(const std::string& text) const {
    const std::string shown = json ? to_json(text) : bars ? to_bars(text) : text;
    std::printf("%s%s", shown.c_str(), shown.ends_with('\n') ? "" : "\n");
  }
};

template <class Asked>
std::shared_ptr<Asked> add_question(CLI::App* explain, CLI::App** command, const char* name,
                                    Family family, const char* description) {
  const auto question = std::make_shared<Asked>();
  *command = explain->add_subcommand(name, description);
  CLI::Option* device =
      (*command)->add_option("--device", question->device,
                             "a GPU by name (H200, \"RTX 4090\") or architecture (sm_86), or "
                             "host; `mygemm info --devices` lists them; default: what this "
                             "machine would use");
  add_settings(*command, &question->settings, family);
  (*command)->get_option("--backend")->excludes(device);
  CLI::Option* json = (*command)->add_flag("--json", question->json, "the explanation as JSON");
  (*command)
      ->add_flag("--plot", question->bars, "a bar for each kernel, as long as it is fast")
      ->excludes(json);
  (*command)->callback([question] { question->answer(); });
  return question;
}

// The subcommands that ask about products.
void add_product_questions(CLI::App* explain);

}  // namespace mygemm::cli
