// Matrix products: what each row can run, and how long it should take.
//
// The cost of a tiled row is the time of the busiest multiprocessor: the block tiles that fall to
// it, each at the row's measured share of FFMA peak, or at the latency of its k steps where they
// are too short to hide it; never less than the time to move each operand once. The constants are
// H200 measurements (bench/results/); other GPUs scale by their peaks.
#include <algorithm>
#include <cmath>

#include "kernels/gemm/columns.h"
#include "kernels/gemm/sliced.h"
#include "kernels/gemm/splitk.h"
#include "kernels/gemm/streamk.h"
#include "kernels/gemm/thin.h"
#include "plan/plan.h"

namespace mygemm {
namespace {

// How fast tiles can be read from L2, as a multiple of the copy bandwidth of device memory.
constexpr double kL2OverMemory = 2.0;
// The share of the shorter of products and bytes that the longer does not hide. H200, warptiled:
// 64^3 and 128^3 in batches, 65536 x 64 x 64 and 100000 x 100 x 100, within 6 %.
constexpr double kUnhidden = 0.5;
// How many times as long the first loads and the last stores take where nothing is aligned.
constexpr double kMisalignedFill = 2.0;
// What every round of blocks after the first takes besides its k steps, to begin and to end.
constexpr double kRoundSeconds = 1.2e-6;
// What a block takes to begin and to end besides, where several share a multiprocessor.
constexpr double kBlockSeconds = 0.3e-6;
// TMA-fed rows: what storing a tile takes that no products hide, a tile and an element.
constexpr double kStoreSeconds = 1.6e-6, kStoreElementSeconds = 1.5e-10;
// What cut tiles take besides, once: the flags, the pieces' way through memory.
constexpr double kCutSeconds = 4.2e-6, kCutElementSeconds = 2.3e-10;
// What each piece of a tile adds.
constexpr double kPieceElementSeconds = 3e-11;
// What a copy of 4 bytes takes, in multiply-adds of the multiprocessor; and where it is misaligned.
constexpr double kDepthCopy = 7.5, kShiftedCopy = 8.5;
// Their kernels count rows, columns and k with 32 bits, a tile past the end.
constexpr int64_t kMostFedExtent = (int64_t{1} << 31) - 1025;
// Host: what one product costs besides its arithmetic, 16^3 on one core.
constexpr double kHostCallSeconds = 0.5e-6, kCblasCallSeconds = 0.1e-6;

double effective_k(const GemmProblem& p) {
  return p.scales_only() ? 0.0 : static_cast<double>(p.k);
}

double area(const GemmProblem& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.batch_count);
}

// Bytes that must move at least: A and B once, C written and, with beta, read.
double least_bytes(const GemmProblem& p) {
  const double inputs =
      p.scales_only() ? 0.0
                      : effective_k(p) * (static_cast<double>(p.m) + static_cast<double>(p.n)) *
                            static_cast<double>(p.batch_count);
  return 4.0 * (inputs + area(p) * (p.beta.is(0.0f) ? 1.0 : 2.0));
}

// Seconds for `tiles` block tiles of `k` deep products on the whole GPU. A k step of a multi-
// processor with r tiles takes step_seconds where r = 1, its share of FFMA peak where it is full
// (r tiles reside), and lies on the line between for other r: within 10 % of what was measured
// from 128^3 to 8192^3.
double tile_seconds(const GemmRow& row, const GemmProblem& p, double tiles, double k,
                    const DeviceTraits& device) {
  const bool aligned = columns_aligned(p.a, p.batch_count) && columns_aligned(p.b, p.batch_count);
  const double factor = aligned ? 1.0 : row.misaligned;
  const double step_flops = 2.0 * row.block_m * row.block_n * row.block_k;
  const double tile_step =
      step_flops / (device.fp32_flops / device.num_sms * row.efficiency) * factor;
  const double step_seconds = row.step_seconds * factor;
  const double lone = std::max(step_seconds, tile_step);
  const int resident = row.blocks_per_sm * row.tiles_per_block;
  const double full = std::max(step_seconds, resident * tile_step);
  const double per_round = static_cast<double>(device.num_sms) * resident;
  const double rounds = std::floor(tiles / per_round);
  const double rest = std::ceil((tiles - rounds * per_round) / device.num_sms);
  double last = 0.0;
  if (rest > 0) {
    last = lone + (full - lone) * (rest - 1.0) / std::max(1, resident - 1);
  }
  const bool sliced = row.most_slices > 0;
  const double steps = sliced ? k / row.block_k : std::ceil(k / row.block_k);
  const double l2_bytes = tiles * (row.block_m + row.block_n) * k * 4.0;
  const double fill = row.fill_steps * (sliced ? row.step_seconds : step_seconds) *
                      (aligned || sliced ? 1.0 : kMisalignedFill);
  const double begin =
      rounds * kRoundSeconds + std::max(0.0, rest / row.tiles_per_block - 1.0) * kBlockSeconds;
  return std::max(fill + begin + steps * (rounds * full + last),
                  l2_bytes / (device.memory_bandwidth * kL2OverMemory));
}

// What a k step of a TMA-fed row takes longer where producers copy an operand 4 bytes at a time:
// one that is contiguous along k, or both where one is misaligned.
double feed_factor(const GemmRow& row, const GemmProblem& p) {
  const bool shifted = has_shifted_operand(p);
  const double copied =
      (p.transa || shifted ? row.block_m : 0) + (!p.transb || shifted ? row.block_n : 0);
  return 1.0 + (shifted ? kShiftedCopy : kDepthCopy) * copied / row.block_m / row.block_n;
}

// The same on tensor cores, which take operands as they lie but for one case, in which B must be
// transposed. Where one has no tensor map, both are copied 4 bytes at a time.
double tensor_factor(const GemmRow& row, const GemmProblem& p) {
  const bool mapped = has_tensor_map(p.a, p.batch_count) && has_tensor_map(p.b, p.batch_count);
  return (mapped ? 1.0 : row.misaligned) * (!p.transa && p.transb ? row.transposing : 1.0);
}

// Seconds of a TMA-fed row, whose blocks have a multiprocessor each: as many rounds of whole tiles
// as it takes, or equal shares of all k steps. H200, 250 shapes: rows differ from it by 4 to 12 %.
double fed_seconds(const GemmRow& row, const GemmProblem& p, double tiles,
                   const DeviceTraits& device) {
  const double elements = static_cast<double>(row.block_m) * row.block_n;
  const double step =
      2.0 * elements * row.block_k / (device.fp32_flops / device.num_sms * row.efficiency) *
      ((row.needs & kNeedsTensorCores) ? tensor_factor(row, p) : feed_factor(row, p));
  const double steps = std::ceil(static_cast<double>(p.k) / row.block_k);
  const double store = kStoreSeconds + kStoreElementSeconds * elements;
  const double l2_bytes = tiles * (row.block_m + row.block_n) * steps * row.block_k * 4.0;
  double computing;
  if (row.needs & kNeedsPieces) {
    // Of a tile, of which every block has the least share at least.
    const double shares =
        std::max(tiles / device.num_sms, std::min(1.0, WorkShares::kLeastShare / steps));
    computing = shares * steps * step + std::max(1.0, shares) * store + kCutSeconds +
                kCutElementSeconds * elements +
                std::max(1.0, 1.0 / shares) * kPieceElementSeconds * elements;
  } else {
    computing = std::ceil(tiles / device.num_sms) * (steps * step + store);
  }
  return std::max(computing, l2_bytes / (device.memory_bandwidth * kL2OverMemory));
}

double together(double products, double bytes) {
  return std::max(products, bytes) + kUnhidden * std::min(products, bytes);
}

double block_tiles(const GemmRow& row, const GemmProblem& p) {
  // On tensor cores the transposed of a TT product is computed.
  const bool transposed = (row.needs & kNeedsTensorCores) && p.transa && p.transb;
  return static_cast<double>(ceil_div(transposed ? p.n : p.m, row.block_m)) *
         static_cast<double>(ceil_div(transposed ? p.m : p.n, row.block_n)) *
         static_cast<double>(p.batch_count);
}

}  // namespace

const char* unsupported(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
                        const PlanOptions& options) {
  if ((row.needs & kNeedsCblas) && !device.has_cblas) return "no CBLAS was found on this machine";
  if (device.cc == 0) return nullptr;
  if (row.needs & kNeedsThin) {
    if (std::min(p.m, p.n) > row.block_n) return "both m and n are larger than the row's thin side";
    if (thin_cuts(row, p, device, options.workspace_bytes).blocks > 2147483647.0) {
      return "more block tiles than a grid can have";
    }
    return nullptr;
  }
  if (row.block_k > 1 && block_tiles(row, p) > 2147483647.0) {
    return "more block tiles than a grid can have";
  }
  if (row.needs & kNeedsTensorCores) {
    if (p.math == MYGEMM_MATH_STRICT) return "strict math: FP32 multiply-adds alone";
    if (!options.forced && p.k < row.least_k) {
      return "k is too short for tensor cores to be as accurate as a chain";
    }
  }
  if (row.needs & kNeedsTensorMap) {
    if (p.scales_only()) return "nothing is read of A and B";
    if (std::max({p.m, p.n, p.k}) > kMostFedExtent) return "m, n or k of 2^31 - 1024 and more";
  }
  if (row.needs & kNeedsPieces) {
    const double tiles = block_tiles(row, p),
                 steps = static_cast<double>(ceil_div(p.k, row.block_k));
    if (device.num_sms > kMostCutBlocks) return "more multiprocessors than there are flags";
    if (2.0 * device.num_sms * steps > 2147483647.0) return "too many k steps to count";
    if (blocks_to_share(static_cast<int>(tiles), static_cast<int>(steps), device.num_sms) == 0) {
      return "whole tiles fill the GPU, or k is too short to cut";
    }
    if (options.workspace_bytes < workspace_bytes(row, p, device)) {
      return "the workspace is too small";
    }
  }
  if (row.needs & kNeedsWorkspace) {
    const int64_t wanted = splitk_count(row, p, device);
    if (wanted < 2) return "k is too short to split, or the GPU is full without";
    if (splitk_fitting(p, wanted, options.workspace_bytes) < 2) return "the workspace is too small";
  }
  return nullptr;
}

double cost(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
            const PlanOptions& options) {
  const double k = effective_k(p);
  const double memory = least_bytes(p) / device.memory_bandwidth;
  if (device.cc == 0) {
    const double call = (row.needs & kNeedsCblas) ? kCblasCallSeconds : kHostCallSeconds;
    return call * static_cast<double>(p.batch_count) +
           2.0 * area(p) * k / (device.fp32_flops * row.efficiency) + memory;
  }
  if (row.needs & kNeedsThin) return thin_cuts(row, p, device, options.workspace_bytes).seconds;
  if (row.needs & kNeedsTensorMap) {
    return kLaunchSeconds + together(fed_seconds(row, p, block_tiles(row, p), device), memory);
  }
  if (!(row.needs & kNeedsWorkspace)) {
    const double slices = 1u << log2_slices_of(row, p, device);
    return kLaunchSeconds + (slices > 1 ? kClusterSeconds : 0.0) +
           together(tile_seconds(row, p, block_tiles(row, p) * slices, k / slices, device), memory);
  }
  const int64_t splits = splitk_fitting(p, splitk_count(row, p, device), options.workspace_bytes);
  const double parts = static_cast<double>(splits);
  const double partial_bytes = 8.0 * area(p) * parts;  // written, then read
  return 2 * kLaunchSeconds +
         together(tile_seconds(row, p, block_tiles(row, p) * parts, std::ceil(k / parts), device),
                  memory) +
         partial_bytes / (device.memory_bandwidth * kL2OverMemory);
}

size_t workspace_bytes(const GemmRow& row, const GemmProblem& p, const DeviceTraits& device) {
  if (row.needs & kNeedsThin) return thin_workspace_bytes(row, p, device);
  if (row.needs & kNeedsPieces) return streamk_bytes(device.num_sms, row.block_m, row.block_n);
  if (!(row.needs & kNeedsWorkspace)) return 0;
  return splitk_bytes(p, splitk_count(row, p, device));
}

const char* force_variable(const GemmProblem&) { return "MYGEMM_FORCE_GEMM"; }

}  // namespace mygemm
