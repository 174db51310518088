// Reads the environment of the drop-in BLAS. See settings.h.
#include "settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "../drop_in/messages.h"
#include "host/host.h"
#include "offload.h"

namespace mygemm::blas {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void complain(const char* name, std::string_view value, const char* choices, const char* taken_as) {
  drop_in::say("mygemm: " + std::string(name) + " = " + std::string(value) +
               " is none of: " + choices + "; taken as " + taken_as + "\n");
}

std::optional<int> read_number(std::string_view text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

OffloadChoice read_offload_choice() {
  const std::string_view value = variable("MYGEMM_BLAS_OFFLOAD");
  if (value == "always") return OffloadChoice::kAlways;
  if (value == "by-size") return OffloadChoice::kBySize;
  if (value == "never") return OffloadChoice::kNever;
  if (value.empty() && variable("MYGEMM_BACKEND") == "host") return OffloadChoice::kNever;
  if (!value.empty() && value != "auto") {
    complain("MYGEMM_BLAS_OFFLOAD", value, "auto, by-size, always, never", "auto");
  }
  return OffloadChoice::kAuto;
}

DeviceChoice read_device_choice() {
  const int local_rank = drop_in::place().local_rank;
  const DeviceChoice by_rank{
      .number = std::max(0, local_rank), .others_too = false, .by_rank = true};
  const DeviceChoice all{.number = local_rank, .others_too = true, .by_rank = false};
  const DeviceChoice unset = local_rank >= 0 ? by_rank : all;
  const std::string_view value = variable("MYGEMM_DEVICE");
  if (value.empty()) return unset;
  if (value == "local-rank") return by_rank;
  if (value == "all") return all;
  constexpr int kMost = 1'000'000;
  if (const auto number = read_number(value, kMost)) return {*number, false, false};
  complain("MYGEMM_DEVICE", value, "a number, local-rank, all",
           local_rank >= 0 ? "local-rank" : "all");
  return unset;
}

int read_pblas_block() {
  const bool to_gpu = offload_is_built() && offload_choice() != OffloadChoice::kNever;
  const int unset = to_gpu ? 4096 : 0;
  const std::string_view value = variable("MYGEMM_PBLAS_BLOCK");
  if (value.empty()) return unset;
  constexpr int kMost = 65536;
  if (const auto number = read_number(value, kMost)) return *number;
  complain("MYGEMM_PBLAS_BLOCK", value, "numbers from 0 to 65536", std::to_string(unset).c_str());
  return unset;
}

// Before the first loop, and before a process that forks has any thread.
[[gnu::constructor]] void share_node() {
  host::share_node(drop_in::place().local_size, drop_in::place().processors);
}

}  // namespace

OffloadChoice offload_choice() {
  static const OffloadChoice choice = read_offload_choice();
  return choice;
}

DeviceChoice device_choice() {
  static const DeviceChoice choice = read_device_choice();
  return choice;
}

int processes_on_a_device(int devices) {
  const int processes = std::max(1, drop_in::place().local_size);
  return device_choice().by_rank ? (processes + devices - 1) / devices : processes;
}

int pblas_block() {
  static const int block = read_pblas_block();
  return block;
}

}  // namespace mygemm::blas
