// Emulator of the CUDA runtime: the order in which clusters start. See start_order.h.
#include "start_order.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>

namespace emulator {
namespace {

constexpr const char* kStart = "MYGEMM_EMULATED_START";
constexpr const char* kResident = "MYGEMM_EMULATED_RESIDENT";

unsigned number(const char* variable, const char* text, unsigned least) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > 0xffffffff) {
    std::fprintf(stderr, "emulator: %s: \"%s\" is no number from %u on\n", variable, text, least);
    std::exit(1);
  }
  return static_cast<unsigned>(value);
}

}  // namespace

unsigned emulated_seed() {
  const char* text = std::getenv("MYGEMM_EMULATED_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

StartOrder::StartOrder(const Grid& grid)
    : grid_(grid.blocks), cluster_blocks_(grid.cluster_blocks), setting_("ascending") {
  order_.resize(size_t{grid.blocks.x / grid.cluster_blocks} * grid.blocks.y * grid.blocks.z);
  std::iota(order_.begin(), order_.end(), 0u);

  const char* resident = std::getenv(kResident);
  resident_ = resident ? number(kResident, resident, 1) : 1;
  resident_ = static_cast<unsigned>(std::min(size_t{resident_}, order_.size()));

  constexpr std::string_view kRandom = "random";
  const char* variable = std::getenv(kStart);
  const std::string_view asked = variable ? variable : kRandom;
  if (asked == setting_) return;
  const std::string_view seed_text = asked.substr(std::min(asked.size(), kRandom.size()));
  if (!asked.starts_with(kRandom) || (!seed_text.empty() && seed_text[0] != ':')) {
    std::fprintf(stderr, "emulator: %s: \"%s\" is neither ascending nor random[:SEED]\n", kStart,
                 variable);
    std::exit(1);
  }
  const unsigned seed =
      seed_text.empty() ? emulated_seed() : number(kStart, seed_text.data() + 1, 0);
  setting_ = "random:" + std::to_string(seed);
  std::mt19937 chance(seed);
  std::shuffle(order_.begin(), order_.end(), chance);
}

uint3 StartOrder::next() {
  const unsigned cluster = order_[next_++];
  const unsigned along_x = grid_.x / cluster_blocks_;
  return {cluster % along_x * cluster_blocks_, cluster / along_x % grid_.y,
          cluster / along_x / grid_.y};
}

std::string StartOrder::description() const {
  return std::string(kStart) + "=" + setting_ + " " + kResident + "=" + std::to_string(resident_) +
         ": " + std::to_string(order_.size() - next_) + " of " + std::to_string(order_.size()) +
         (cluster_blocks_ > 1 ? " clusters" : " blocks") + " have not started";
}

}  // namespace emulator
