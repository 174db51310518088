// See compare.h.
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "values.h"

namespace bench {
namespace {

constexpr size_t kWindowBytes = size_t{2} << 20;
constexpr size_t kWindows = 16;

float element(const std::byte* data, mygemmDataType_t type) {
  if (type == MYGEMM_R_32F) {
    float value;
    std::memcpy(&value, data, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, data, sizeof(bits));
  return type == MYGEMM_R_16F ? from_half(bits) : from_bfloat16(bits);
}

// Whether an element is as it was before the call: all bits are 1.
bool poisoned(const std::byte* data, size_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte byte) { return byte == std::byte{0xff}; });
}

}  // namespace

std::vector<std::byte> sample(const Machine& machine, const std::byte* data, size_t bytes) {
  machine.wait();
  const bool whole = bytes <= kWindows * kWindowBytes;
  std::vector<std::byte> result(whole ? bytes : kWindows * kWindowBytes);
  if (whole) {
    machine.copy_to_host(result.data(), data, bytes);
    return result;
  }
  // Offsets are multiples of 16, so that windows begin with whole elements; the last ends the data.
  const size_t last = bytes - kWindowBytes;
  for (size_t i = 0; i < kWindows; ++i) {
    const size_t offset = i + 1 == kWindows ? last : last / (kWindows - 1) * i / 16 * 16;
    machine.copy_to_host(result.data() + i * kWindowBytes, data + offset, kWindowBytes);
  }
  return result;
}

double largest_difference(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs,
                          mygemmDataType_t type) {
  double difference = 0, magnitude = 0;
  const size_t step = type_bytes(type);
  for (size_t i = 0; i + step <= ours.size(); i += step) {
    if (std::memcmp(&ours[i], &theirs[i], step) == 0) {
      const double value = std::fabs(element(&theirs[i], type));
      magnitude = std::isfinite(value) ? std::max(magnitude, value) : magnitude;
      continue;
    }
    const double a = element(&ours[i], type), b = element(&theirs[i], type);
    if (std::isnan(a) && std::isnan(b) && !poisoned(&ours[i], step) &&
        !poisoned(&theirs[i], step)) {
      continue;
    }
    if (std::isnan(a - b)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    difference = std::max(difference, std::fabs(a - b));
    magnitude = std::isfinite(b) ? std::max(magnitude, std::fabs(b)) : magnitude;
  }
  return difference == 0 ? 0 : difference / magnitude;
}

double share_of_different_bytes(const std::vector<std::byte>& ours,
                                const std::vector<std::byte>& theirs) {
  size_t different = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    different += ours[i] != theirs[i] ? 1 : 0;
  }
  return static_cast<double>(different) / static_cast<double>(std::max<size_t>(ours.size(), 1));
}

}  // namespace bench
