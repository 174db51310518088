// Facts of a matrix product on a device, worked out once for the estimates of all its kernels; and
// lower bounds of estimates, by which a plan passes over most kernels. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device_traits.h"
#include "kernels/gemm/operands.h"

namespace mygemm {

namespace estimate {

// Fraction of the shorter of compute and transfer time that is not overlapped. H200, warptiled:
// 64^3 and 128^3 in batches, 65536 x 64 x 64 and 100000 x 100 x 100, within 6 %.
constexpr double kNotOverlapped = 0.5;

inline double overlapped(double computing, double moving) {
  return std::max(computing, moving) + kNotOverlapped * std::min(computing, moving);
}

}  // namespace estimate

// The freedom that a math mode gives, or a kernel needs, to depart from chains of multiply-adds.
enum class Freedom : uint8_t {
  kNone,     // FP32 multiply-adds alone
  kOrder,    // other operations and orders, where operands lose no bit
  kLastBits  // operands may lose their last bits
};

constexpr Freedom freedom_of(mygemmMathMode_t math) {
  return math == MYGEMM_MATH_STRICT ? Freedom::kNone
         : math == MYGEMM_MATH_FAST ? Freedom::kLastBits
                                    : Freedom::kOrder;
}

// The elements of A and B that a problem has, or a kernel takes, which are bits: both FP32, both
// FP16 or both BF16, or one FP32 and one BF16. C and D of 16-bit operands have any type, those of
// others are FP32.
enum class Takes : uint8_t { kFp32 = 1, k16Bit = 2, kMixed = 4, kAny = 7 };

constexpr Takes operator|(Takes some, Takes others) {
  return static_cast<Takes>(static_cast<int>(some) | static_cast<int>(others));
}
constexpr Takes operands_of(const GemmProblem& p) {
  const int64_t a = element_bytes(p.a.type), b = element_bytes(p.b.type);
  return a != b ? Takes::kMixed : a == 2 ? Takes::k16Bit : Takes::kFp32;
}

// An order in which kernels add up the products of an element of D, where it depends on k alone:
// kernels that have the same one, the same object, give an element the same bits. The order of
// others depends on m, n, the batch, the workspace or the alignment, or no other kernel has it.
// Batch-invariant products keep to one order: see order_to_keep().
struct SumOrder {
  const char* refusal;               // the reason why kernels of other orders cannot run
  Freedom freedom = Freedom::kNone;  // that it needs
  int64_t least_k = 0;               // with less, other orders are kept to
  int64_t least_k_fast = 0;          // the same in fast math
  int64_t most_k = std::numeric_limits<int64_t>::max();

  constexpr bool serves(Freedom given, int64_t k) const {
    const int64_t least = given >= Freedom::kLastBits ? least_k_fast : least_k;
    return given >= freedom && k >= least && k <= most_k;
  }
};

// One chain of fused multiply-adds in FP32, from 0 on, k ascending; products with zeros may follow.
inline constexpr SumOrder kChainOrder{
    "batch-invariant products of this k sum in another order: one chain of multiply-adds"};

// The order of all batch-invariant products of this k, these types and this math mode on this
// device: the one that the table of kernels has first. It depends on nothing else.
const SumOrder* order_to_keep(const GemmProblem& p, const DeviceTraits& device);

// Sizes are doubles, since their products may exceed every integer type.
struct GemmFacts {
  GemmFacts(const GemmProblem& p, const DeviceTraits& device)
      : problem(p),
        operands(operands_of(p)),
        freedom(freedom_of(p.math)),
        order(p.invariant && !p.scales_only() ? order_to_keep(p, device) : nullptr),
        k(p.scales_only() ? 0.0 : static_cast<double>(p.k)) {
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
    const auto batch = static_cast<double>(p.batch_count);
    const double longer = std::max(m, n);
    thin = std::min(m, n);
    area = m * n * batch * (p.fill == MYGEMM_FILL_FULL ? 1.0 : 0.5);
    sm_flops = device.fp32_flops / device.num_sms;
    flop_seconds = 1.0 / sm_flops;
    sm_matrices = batch / device.num_sms;
    sm_long = longer * sm_matrices;
    sm_area = thin * sm_long * (p.fill == MYGEMM_FILL_FULL ? 1.0 : 0.5);
    a_bytes = static_cast<double>(element_bytes(p.a.type));
    b_bytes = static_cast<double>(element_bytes(p.b.type));
    const double outputs = area * (p.epilogue.beta.is(0.0f) ? 1.0 : 2.0) *
                           static_cast<double>(element_bytes(p.d.type));
    const auto moving_seconds = [&](double bytes_of_k) {
      return (bytes_of_k * k * batch + outputs) / device.memory_bandwidth;
    };
    memory_seconds = moving_seconds(a_bytes * m + b_bytes * n);
    long_seconds = moving_seconds(longer * (m > n   ? a_bytes
                                            : n > m ? b_bytes
                                                    : std::min(a_bytes, b_bytes)));
  }

  const GemmProblem& problem;
  Takes operands;           // kFp32, k16Bit or kMixed
  Freedom freedom;          // of the math mode
  const SumOrder* order;    // that the kernel must have; nullptr: any
  double k;                 // 0 where A and B are not read
  double area;              // elements of D that are computed
  double thin;              // the smaller of m and n
  double a_bytes, b_bytes;  // of an element of A, of B
  // For each multiprocessor: elements of D, lengths of its longer side, matrices.
  double sm_area, sm_long, sm_matrices;
  double sm_flops, flop_seconds;  // FFMA peak of a multiprocessor, and its inverse
  double memory_seconds;          // least time of the traffic: A, B once, D written, C if read
  double long_seconds;            // the same without the operand of the smaller side
};

// The constants of a lower bound of a kernel's estimate, which follow from its tile and its
// figures. The default holds for kernels that move each operand at least once. Times in seconds.
struct GemmBound {
  double launches = 0;                   // not overlapped with memory traffic
  double fill = 0;                       // of the first block, whatever the k
  double tile_fixed = 0;                 // the same for each tile of a multiprocessor ...
  double least_tiles = 0;                // ... and for no fewer tiles than these
  double per_element = 0, per_long = 0;  // tiles for each element of D, and along its longer side
  double tile_flops = 0;                 // that FFMA peak does in the time of a k of a tile
  double k_seconds = 0;                  // of a k of a tile alone, where that is longer
  double lone_share = 1;                 // least share of a tile's k that a block computes
  double most_k = kNoLimit;              // the most k of a tile that a block is sure to compute
  double moving = 1;                     // factor of the time of the memory traffic ...
  bool moves_long = false;               // ... of which the operand of the smaller side is no part
  Freedom freedom = Freedom::kNone;      // that the kernel needs
  double not_overlapped = estimate::kNotOverlapped;
  double least_k = 0;           // with less the kernel refuses
  double most_thin = kNoLimit;  // with a larger smaller side the kernel refuses

  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
};

// The lower bound; infinite where the kernel is known to refuse. There are no divisions here, since
// a plan asks it of every kernel. The tests hold it against the estimates.
inline double least_seconds(const GemmBound& bound, const GemmFacts& facts) {
  if (facts.k < bound.least_k || facts.thin > bound.most_thin || facts.freedom < bound.freedom) {
    return GemmBound::kNoLimit;
  }
  if (facts.area == 0.0) return 0.0;
  // Not std::max: of references, for which the compiler makes branches.
  const auto larger = [](double x, double y) { return x > y ? x : y; };
  const auto smaller = [](double x, double y) { return x < y ? x : y; };
  const double tiles = larger(
      larger(facts.sm_area * bound.per_element, facts.sm_long * bound.per_long), facts.sm_matrices);
  const double k_seconds = bound.tile_flops * facts.flop_seconds;
  const double lone =
      smaller(facts.k * bound.lone_share, bound.most_k) * larger(k_seconds, bound.k_seconds);
  const double computing = bound.fill + larger(tiles, bound.least_tiles) * bound.tile_fixed +
                           larger(tiles * facts.k * k_seconds, lone);
  const double moving =
      bound.moving * (bound.moves_long ? facts.long_seconds : facts.memory_seconds);
  constexpr double kMargin = 1.0 - 1e-9;  // estimates are rounded in other places
  return kMargin * (bound.launches + larger(computing, moving) +
                    bound.not_overlapped * smaller(computing, moving));
}

}  // namespace mygemm
