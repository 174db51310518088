// Products of 16-bit matrices: see sixteen_bit.h.
#include "sixteen_bit.h"

#include <algorithm>
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

// Two kinds of aligned products have cuBLAS's speed on average (H200, bench/torch_products.py, time
// of torch.mm and torch.bmm over mygemm's): large ones, which are as fast as the power supply lets
// them, 0.99 (34 products, 0.90 to 1.15); and those of few multiplications for each result, which
// are bound by the stores of D, 1.03 (33 products, 0.80 to 1.33). 188 others together have 0.95.
// With columns that begin anywhere cuBLAS takes several times as long: 2.2 times the time of mygemm
// (79 products of these sizes on an H100, 0.99 to 6.8).
constexpr double kLargeFlop = 2e12;
constexpr int64_t kFewMultiplications = 64, kLeastSide = 1000;
constexpr double kManyResults = 16e6;
constexpr double kMisalignedFlop = 2e9;
constexpr int64_t kLeastMisalignedSide = 128;
// Rows and columns of D that are computed at once, of those that the workspace must hold: with
// fewer the GPU is not full (1646 x 1044 x 13036 in 32 MiB: 0.7 of cuBLAS's speed).
constexpr int64_t kLinesAtOnce = 2048;
constexpr int kMeasuredCapability = 90;

double results_of(const ProductSizes& sizes) {
  return static_cast<double>(sizes.m) * static_cast<double>(sizes.n) *
         static_cast<double>(sizes.batch_count);
}

bool is_large(const ProductSizes& sizes) { return flop_of(sizes) >= kLargeFlop; }

bool has_short_sums(const ProductSizes& sizes) {
  return sizes.k <= kFewMultiplications && sizes.m >= kLeastSide && sizes.n >= kLeastSide &&
         results_of(sizes) >= kManyResults;
}

// Columns of A and B are copied to the workspace.
bool pays_misaligned(const ProductSizes& sizes, size_t workspace_bytes) {
  constexpr double kElementBytes = 2;
  const auto lines = static_cast<double>(std::min(sizes.m + sizes.n, kLinesAtOnce));
  return flop_of(sizes) >= kMisalignedFlop &&
         std::min({sizes.m, sizes.n, sizes.k}) >= kLeastMisalignedSide &&
         kElementBytes * lines * static_cast<double>(sizes.k) <=
             static_cast<double>(workspace_bytes);
}

Take choice() {
  thread_local const Take take = read_choice();
  return take;
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

bool is_aligned(cudaDataType type, const void* matrix, int64_t ld, int64_t stride,
                int64_t batch_count) {
  const int64_t elements = is_16bit(type) ? 8 : 4;  // of 16 bytes
  return reinterpret_cast<uintptr_t>(matrix) % 16 == 0 && ld % elements == 0 &&
         (batch_count == 1 || stride % elements == 0);
}

Outcome judge_16bit(const ProductSizes& sizes) {
  switch (choice()) {
    case Take::kAlways: return kTaken;
    case Take::kNever: return kNo16Bit;
    case Take::kAuto: break;
  }
  const bool some_form_pays =
      is_large(sizes) || has_short_sums(sizes) || pays_misaligned(sizes, SIZE_MAX);
  return some_form_pays ? kTaken : kFast16Bit;
}

// Columns that begin anywhere are packed first, and matrices at pointers too, but cuBLAS is fast
// with those. An epilogue, or C, takes the stores of D from the accelerator.
Outcome judge_16bit(const ProductSizes& sizes, const ProductForm& form) {
  const Outcome outcome = judge_16bit(sizes);
  if (outcome != kTaken || choice() == Take::kAlways) return outcome;
  const bool measured = compute_capability(current_device()) == kMeasuredCapability;
  if (!measured || !form.strided) return kFast16Bit;
  const bool pays = form.aligned ? is_large(sizes) || (form.plain && has_short_sums(sizes))
                                 : form.plain && pays_misaligned(sizes, form.workspace_bytes);
  return pays ? kTaken : kFast16Bit;
}

}  // namespace mygemm::cublas
