// Products of 16-bit matrices: see sixteen_bit.h.
#include "sixteen_bit.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../drop_in/messages.h"
#include "device.h"

namespace mygemm::cublas {
namespace {

enum class Take { kAuto, kAlways, kNever };

Take read_choice() {
  const char* value = std::getenv("MYGEMM_TAKE_16BIT");
  if (!value || !*value || std::strcmp(value, "auto") == 0) return Take::kAuto;
  if (std::strcmp(value, "always") == 0) return Take::kAlways;
  if (std::strcmp(value, "never") == 0) return Take::kNever;
  static std::once_flag told;
  std::call_once(told, [&] {
    drop_in::say(drop_in::print(
        "mygemm: MYGEMM_TAKE_16BIT = %s is none of: auto, always, never; taken as auto\n", value));
  });
  return Take::kAuto;
}

// Two kinds of products are as fast as cuBLAS's or faster (H200, time of torch.mm and torch.bmm
// over mygemm's): large ones, which are as fast as the power supply lets them, 1.01 (38 products,
// 0.97 to 1.13); and those of few multiplications for each result, which are bound by the stores of
// D, 1.05 (23 products, 0.84 to 1.28). 389 others, of all sizes, together had 0.91.
constexpr double kLargeFlop = 2e12;
constexpr int64_t kFewMultiplications = 64, kLeastSide = 1000;
constexpr double kManyResults = 16e6;
constexpr int kMeasuredCapability = 90;

double results_of(const ProductSizes& sizes) {
  return static_cast<double>(sizes.m) * static_cast<double>(sizes.n) *
         static_cast<double>(sizes.batch_count);
}

bool is_faster(const ProductSizes& sizes) {
  return flop_of(sizes) >= kLargeFlop ||
         (sizes.k <= kFewMultiplications && sizes.m >= kLeastSide && sizes.n >= kLeastSide &&
          results_of(sizes) >= kManyResults);
}

}  // namespace

double flop_of(const ProductSizes& sizes) {
  return 2 * results_of(sizes) * static_cast<double>(sizes.k);
}

bool is_16bit(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

Outcome judge_types(cudaDataType a, cudaDataType b, cudaDataType c) {
  const bool known = a == b && (a == CUDA_R_32F || is_16bit(a));
  return known && (c == a || c == CUDA_R_32F) ? kTaken : kOtherTypes;
}

Outcome judge_16bit(const ProductSizes& sizes) {
  thread_local const Take take = read_choice();
  switch (take) {
    case Take::kAlways: return kTaken;
    case Take::kNever: return kNo16Bit;
    case Take::kAuto: break;
  }
  const bool faster =
      is_faster(sizes) && compute_capability(current_device()) == kMeasuredCapability;
  return faster ? kTaken : kFast16Bit;
}

}  // namespace mygemm::cublas
