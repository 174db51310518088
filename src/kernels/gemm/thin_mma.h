// The thin kernels for operands of 16 bits on tensor cores, with sums in FP32: tiles,
// configuration, launch. Pure.
//
// X and Y are as in thin.h. A warp multiplies 16 rows of X at a time by 8 or 16 columns of Y: the
// time of the products is short beside that of X's loads.
#pragma once

#include "kernels/gemm/thin.h"

namespace mygemm {

// The order of k is free, as long as it is the same for both operands: the k of a lane are
// neighbours in memory, and it loads 16 bytes at a time.
template <int kThin_, int kMostRows_, int kRegisterBlocks_>
struct ThinMmaTile {
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kElementBytes = 2;
  static constexpr int kThin = kThin_, kChunk = 1024, kRegisterBlocks = kRegisterBlocks_;
  static constexpr int kQuadElements = 8;          // of 16 bytes
  static constexpr int kColumnGroups = kThin / 8;  // a product has eight columns
  // Rows of a warp. Long operand K-major: those of a product. MN-major: a lane has 16 bytes of
  // them, for four products.
  static constexpr int rows_of_group(bool k_major) { return k_major ? 16 : 64; }
  static constexpr int most_rows(bool) { return kMostRows_; }
  // k of a warp for which all loads are in flight. K-major: quads of a lane, 32 k each, in two
  // rows.
  static constexpr int kQuads = 4;
  static constexpr int stride(bool k_major) { return k_major ? 32 * kQuads : 32; }
  static constexpr int kLeastDepth = 32;  // k of a row that four lanes load at a time
  static constexpr int step(bool k_major, bool, int row_groups) {
    return kWarps / row_groups * stride(k_major);
  }
  static constexpr int kMostElements = kMostRows_ * kThin;
  static constexpr int kMostPasses = 1;
  static constexpr double kProductFactor = 0.05;
  static constexpr ThinSpeed speed(bool) { return {1.0, 1.2, 0.12e-6}; }
  // As in thin.h: 27 to 176 us for 9 x 4099 x 4101 to 15 x 13613 x 13044, packing of Y included.
  static constexpr double misaligned(bool) { return 1.5; }

  // 64 bytes of padding: eight lanes read two columns, which lie in different banks.
  static constexpr int kPitch = kChunk + 32;
  struct SharedStorage {
    union {
      alignas(16) uint16_t y[2][kThin][kPitch];  // (chunk, thin, k): one is read, the next arrives
      float sums[kWarps * 64 * kThin];           // (warp, thin, rows of the warp)
    };
    Inbox<kMostElements> inbox;
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));
  static_assert(kThin % 8 == 0 && kChunk % stride(true) == 0, "chunks are padded with zeros");
};

using ThinMma8 = ThinMmaTile<8, 64, 2>;
using ThinMma16 = ThinMmaTile<16, 64, 2>;

// Time to copy an element of Y by itself. H200: 48 us for 8 x 13608 x 13040, 89 us for 12224 x 16 x
// 8856; beside an X that is not aligned, where fewer copies are in flight, 4 us for 16 x 513 x
// 1027.
constexpr double kThinCopySeconds = 5e-10, kThinCopyBesideMisaligned = 1.5e-9;

template <class Tile>
const char* configure_thin_mma(const GemmKernel& kernel, const GemmFacts& facts,
                               const DeviceTraits& device, const PlanOptions& options,
                               GemmConfig* config) {
  if (facts.freedom == Freedom::kNone) return "strict math: FP32 multiply-adds alone";
  if (const char* reason = configure_thin<Tile>(kernel, facts, device, options, config)) {
    return reason;
  }
  const Operand& y = config->long_is_m ? facts.problem.b : facts.problem.a;
  OperandLoad& load_y = config->long_is_m ? config->load_b : config->load_a;
  // Quads of Y need not be whole at its end. Beside an aligned X there are no registers to
  // transpose them.
  const bool y_along_k = config->long_is_m ? !facts.problem.transb : facts.problem.transa;
  const bool x_aligned =
      (config->long_is_m ? config->load_a : config->load_b) == OperandLoad::kCopy16;
  load_y = columns_aligned(y, facts.problem.batch_count) && (y_along_k || !x_aligned)
               ? OperandLoad::kCopy16
               : OperandLoad::kCopy4;
  if (load_y != OperandLoad::kCopy16) {
    config->seconds += (x_aligned ? kThinCopySeconds : kThinCopyBesideMisaligned) * Tile::kThin *
                       std::min(facts.k, static_cast<double>(config->k_per_split));
  }
  return nullptr;
}

template <class Tile>
constexpr GemmBound thin_mma_bound(const GemmFigures& figures) {
  GemmBound bound = thin_bound<Tile>(figures);
  bound.freedom = Freedom::kOrder;
  return bound;
}

namespace cuda {
template <class Tile>
Status launch_gemm_thin_mma(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
