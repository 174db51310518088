// Configs and figures of matrix products as text.
#include "kernels/gemm/config.h"

#include <cstdio>

namespace mygemm {
namespace {

void append(std::string* text, const char* format, auto... arguments) {
  char part[160];
  std::snprintf(part, sizeof part, format, arguments...);
  *text += part;
}

const char* name_of(OperandLoad load) {
  switch (load) {
    case OperandLoad::kTensorMap: return "TMA";
    case OperandLoad::kShiftedMaps: return "TMA, shifted";
    case OperandLoad::kCopy16: return "16-byte copies";
    case OperandLoad::kCopy4: return "4-byte copies";
    default: return "transposing copies";
  }
}

long long number(int64_t value) { return static_cast<long long>(value); }

}  // namespace

std::string describe(const GemmConfig& config) {
  std::string text;
  if (config.blocks == 0) return text;  // a host kernel
  if (const PackedParts& parts = config.packed; parts.kernel) {
    append(&text, "%s packed, %s by parts of %lld x %lld x %lld: ",
           !parts.packs_b   ? "A"
           : !parts.packs_a ? "B"
                            : "A and B",
           parts.kernel->name, number(parts.m), number(parts.n), number(parts.matrices));
  }
  append(&text, "%lld x %d threads", number(config.blocks), config.threads);
  if (config.cluster_blocks > 0) append(&text, ", clusters of %d", config.cluster_blocks);
  append(&text, ", %zu bytes shared, %d resident", config.shared_bytes, config.resident);
  append(&text, ", %lld x %lld tiles of %d x %d x %d", number(config.tiles_m),
         number(config.tiles_n), config.block_m, config.block_n, config.block_k);
  if (config.transposed) text += " of the transposed";
  if (config.passes > 1) append(&text, ", %d passes", config.passes);
  switch (config.k_split) {
    case KSplit::kNone: break;
    case KSplit::kWorkspace:
    case KSplit::kCluster:
      append(&text, ", %s %lld x %lld k",
             config.k_split == KSplit::kCluster ? "cluster split-K" : "split-K",
             number(config.splits), number(config.k_per_split));
      break;
    case KSplit::kStreamK:
      append(&text, ", stream-K %d of %d tiles", config.schedule.stream_k_tiles,
             config.schedule.tiles);
      break;
  }
  append(&text, ", A by %s, B by %s", name_of(config.load_a), name_of(config.load_b));
  return text;
}

std::string describe(const GemmFigures& figures) {
  std::string text;
  append(&text, "efficiency %g", figures.efficiency);
  if (figures.step_seconds > 0) append(&text, ", step_seconds %g", figures.step_seconds);
  if (figures.misaligned != 1.0) append(&text, ", misaligned %g", figures.misaligned);
  if (figures.transposing != 1.0) append(&text, ", transposing %g", figures.transposing);
  if (figures.fill_seconds > 0) append(&text, ", fill_seconds %g", figures.fill_seconds);
  if (figures.column_seconds > 0) append(&text, ", column_seconds %g", figures.column_seconds);
  if (figures.store_seconds > 0) append(&text, ", store_seconds %g", figures.store_seconds);
  if (figures.round_seconds > 0) append(&text, ", round_seconds %g", figures.round_seconds);
  return text;
}

}  // namespace mygemm
