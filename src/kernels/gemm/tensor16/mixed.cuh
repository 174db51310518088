// Products of an FP32 and a BF16 operand: the main loop of the consumer warps. A float is the sum
// of three BF16 values of 8 bits each, so a product is three of tensor cores and no bit is lost.
// Rows are of the FP32 operand: a lane loads its elements of them to registers and splits them
// there. Device only.
//
// Tensor cores round every sum towards zero, and with positive operands these errors add up. So
// they sum the products of half a k step alone, the small ones first, and the FP32 units, which
// round to nearest, add these sums up.
#pragma once

#include <cfloat>

#include "kernels/gemm/tensor16/multiply.cuh"
#include "ptx/math.cuh"

namespace mygemm::tensor16 {

constexpr int kPartsOfFloat = 3;
constexpr int kGroupsAtOnce = 2;  // of 16 k, in half a step: whose products the tensor cores sum

// Tensor cores may take parts that are denormal as 0: those of elements below kSmall.
constexpr float kSmall = 0x1p-102f;

// The rows that a lane has results of are those that it loads: row_of_lane() and 8 further on. In
// this order loads of 8 bytes of a K-major operand have no bank conflicts.
template <Major kMajor, class Tile>
class RowsOfFp32 {
 public:
  __device__ __forceinline__ RowsOfFp32(int warp, int lane) {
    const auto row = static_cast<unsigned>(row_of_lane<Tile>(lane)), t = lane % 4u;
    const auto of_warp = static_cast<unsigned>(warp);
    if constexpr (kMajor == Major::kK) {
      first_ = (16 * of_warp + row) * 128 + (t / 2 ^ row) * 16 + t % 2 * 8;
    } else {
      const unsigned chunk = of_warp % 2 * 4 + row / 4;
      first_ = of_warp / 2 * 8192 + 2 * t * 128 + (chunk ^ 2 * t) * 16 + row % 4 * 4;
    }
  }

  // The pairs of neighbours along k of a group of 16 k, in the order in which wgmma_bf16() takes
  // them: the first ones of the pairs, and the second ones. stage: its address.
  __device__ __forceinline__ void load(unsigned (&x)[4], unsigned (&y)[4], unsigned stage,
                                       int group) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned lower = i % 2, eight = i / 2;  // the row 8 further on; 8 k further on
      if constexpr (kMajor == Major::kK) {
        const unsigned half = stage + group / 2 * Tile::kRows * 128 + lower * 8 * 128;
        const uint2 pair = ptx::load_shared_8(half + (first_ ^ (group % 2 * 64 + eight * 32)));
        x[i] = pair.x, y[i] = pair.y;
      } else {
        const unsigned line = stage + (16 * group + 8 * eight) * 128;
        x[i] = ptx::load_shared_4(line + (first_ ^ lower * 32));
        y[i] = ptx::load_shared_4(line + 128 + (first_ ^ (lower * 32 + 16)));
      }
    }
  }

 private:
  unsigned first_;  // bytes from the beginning of the stage: the first row's, at the lane's first k
};

// A lane's elements of some groups of k, split: registers as wgmma_bf16() takes them.
struct SplitRows {
  unsigned part[kPartsOfFloat][kGroupsAtOnce][4];
};

// An element whose parts tensor cores cannot multiply: a small one, or an infinite one, of which
// the second part would be NaN. These are left to FP32 units.
__device__ __forceinline__ bool is_special(float x) {
  return (fabsf(x) < kSmall && x != 0.0f) || fabsf(x) > FLT_MAX;
}

// Whether some of the elements seen are special, by operations of the FP32 pipe, which is idle
// otherwise: not 0 where they are. 2^-24 times a small one is flushed to 0, and infinity less
// infinity is NaN.
struct Specials {
  float lost = 0.0f;

  __device__ __forceinline__ void see(float x) {
    constexpr float kDown = 0x1p-24f, kUp = 0x1p24f;
    static_assert(kSmall * kDown == 0x1p-126f);
    lost += fabsf(fmaf(ptx::multiply_or_flush(x, kDown), -kUp, x));
  }
  __device__ __forceinline__ bool some() const { return !(lost == 0.0f); }
};

// Splits the elements of the groups from `first` on: each part is what is left, cut to BF16. kAll:
// special ones too, and it returns whether there are some; otherwise these are left out.
template <bool kAll, class Rows>
__device__ __forceinline__ bool split_rows(SplitRows& to, const Rows& rows, unsigned stage,
                                           int first) {
  Specials seen;
#pragma unroll
  for (int g = 0; g < kGroupsAtOnce; ++g) {
    unsigned x[4], y[4];
    rows.load(x, y, stage, first + g);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float pair[2] = {__uint_as_float(x[i]), __uint_as_float(y[i])};
#pragma unroll
      for (float& element : pair) {
        if (kAll) {
          seen.see(element);
        } else if (is_special(element)) {
          element = 0.0f;
        }
      }
#pragma unroll
      for (int part = 0; part < kPartsOfFloat; ++part) {
        const unsigned bits[2] = {__float_as_uint(pair[0]), __float_as_uint(pair[1])};
        to.part[part][g][i] = __byte_perm(bits[0], bits[1], 0x7632);
        if (part + 1 == kPartsOfFloat) break;
#pragma unroll
        for (int e = 0; e < 2; ++e) pair[e] -= __uint_as_float(bits[e] & 0xffff0000u);
      }
    }
  }
  return seen.some();
}

// Adds the products of the special elements of a stage, whose rows and columns are at these
// addresses.
template <class Operands, class Tile>
__device__ __forceinline__ void add_special(Results<Tile>& sum, unsigned a, unsigned b, int warp,
                                            int lane) {
  const int row = 16 * warp + row_of_lane<Tile>(lane), t = lane % 4;
#pragma unroll 1
  for (int k = 0; k < Tile::kBlockK; ++k) {
    const int of_k = Operands::kB == Major::kK ? k * 2 & ~3 : k * 128 + 4 * t;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int in_a = Operands::kA == Major::kK
                           ? (k / 32 * Tile::kRows + row + 8 * half) * 128 + k % 32 * 4
                           : (row / 32 * 64 + k) * 128 + (row + 8 * half) % 32 * 4;
      const float x =
          __uint_as_float(ptx::load_shared_4(a + static_cast<unsigned>(swizzle_128b(in_a))));
      if (!is_special(x)) continue;
#pragma unroll
      for (int pair = 0; pair < Tile::kColumns / 8; ++pair) {
        // Two columns lie one behind the other, or each beside the next k.
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int in_b = Operands::kB == Major::kK
                               ? swizzle_128b((2 * t + e) * 128 + of_k) + pair * 1024
                               : (swizzle_128b(of_k) ^ pair % 8 * 16) + pair / 8 * 8192;
          const unsigned bits = ptx::load_shared_4(b + static_cast<unsigned>(in_b));
          const bool upper = (Operands::kB == Major::kK ? k : e) % 2 != 0;
          ptx::fma_in_order(sum[4 * pair + 2 * half + e], x,
                            __uint_as_float(upper ? bits & 0xffff0000u : bits << 16));
        }
      }
    }
  }
}

// The products of a warpgroup in flight.
template <class Operands, class Tile>
class PendingSums {
 public:
  explicit __device__ __forceinline__ PendingSums(unsigned b) : b_(b) {
#pragma unroll
    for (float& x : chunk_) x = 0.0f;
  }

  // Starts the products of the groups from `first` on of a stage.
  __device__ __forceinline__ void start(const SplitRows& rows, int slot, int first) {
    const unsigned stage = b_ + static_cast<unsigned>(slot * (Tile::kStageB / 16));
    // Products take the place of sums that have been added. The compiler may not know it: it would
    // have them write to other registers while these are added, and there are none. gridDim.z is 1
    // in every grid of ours.
    const bool adds = gridDim.z > 1;
    ptx::wgmma_fence();
#pragma unroll
    for (int part = kPartsOfFloat - 1; part >= 0; --part) {
#pragma unroll
      for (int g = 0; g < kGroupsAtOnce; ++g) {
        ptx::wgmma_bf16<Tile::kColumns, kMNMajor, ptx::kWgmmaMatrix>(
            chunk_, rows.part[part][g], stage + (first + g) * kNext,
            part < kPartsOfFloat - 1 || g > 0 || adds);
      }
    }
    ptx::wgmma_commit();
  }
  // Adds the sums that are in flight to `sum`.
  __device__ __forceinline__ void finish(Results<Tile>& sum) {
    ptx::wgmma_wait(chunk_);
#pragma unroll
    for (int r = 0; r < Tile::kColumns / 2; ++r) ptx::add_in_order(sum[r], chunk_[r]);
  }

 private:
  static constexpr bool kMNMajor = Operands::kB == Major::kMN;
  // From one group of k to the next, in units of 16 bytes.
  static constexpr int kNext = (kMNMajor ? 16 * Tile::kLineBytes : 32) / 16;

  unsigned b_;  // the first stage, as wgmma_matrix_16() describes it
  Results<Tile> chunk_;
};

// Adds the products of `steps` k steps to `sum`, those in the ring of `s` from `place` on. A
// warpgroup that has started its products splits the rows of the next half of a step while the
// tensor cores have those of the other one. So warpgroups take turns: a warp waits where it starts
// products until they are under way, and without turns both would wait and then both would split
// (4096^3 on an H200: 765 us).
template <class Operands, class Tile, class Shared>
__device__ __forceinline__ void multiply_mixed(Results<Tile>& sum, Shared& s,
                                               persistent::RingPlace<Tile::kStages>& place,
                                               int steps, int warp, int lane) {
  static_assert(2 * 16 * kGroupsAtOnce == Tile::kBlockK);
  const RowsOfFp32<Operands::kA, Tile> rows(warp, lane);
  const unsigned a = ptx::shared_address(s.a);
  PendingSums<Operands, Tile> pending(ptx::in_uniform_register(
      ptx::wgmma_matrix_16<Operands::kB == Major::kMN>(ptx::shared_address(s.b))));
  const StageFreeing<Tile> free_stage(lane);
  SplitRows split[2];  // by half
  // Splits rows of a stage; whether some of their elements are special.
  const auto split_half = [&](int half, int slot) {
    const unsigned stage = a + static_cast<unsigned>(slot * Tile::kStageA);
    const int first = half * kGroupsAtOnce;
    const bool special = __any_sync(~0u, split_rows<true>(split[half], rows, stage, first));
    if (special) split_rows<false>(split[half], rows, stage, first);
    return special;
  };
  // Every item has two turns a step: the parity of a turn's phase is that of the half.
  const auto start = [&](int half, int slot) {
    const int group = warp / 4;
    ptx::mbarrier_wait(&s.turn[group], static_cast<unsigned>(group == 0 ? 1 - half : half));
    pending.start(split[half], slot, half * kGroupsAtOnce);
    if (lane == 0) ptx::mbarrier_arrive(&s.turn[1 - group]);
  };
  bool special = false;
  if (steps > 0) {
    ptx::mbarrier_wait(&s.full[place.slot], place.parity);
    special = split_half(0, place.slot);
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int slot = place.slot;
    start(0, slot);
    special |= split_half(1, slot);
    pending.finish(sum);
    start(1, slot);
    place.advance(1);
    bool special_next = false;
    if (step + 1 < steps) {
      ptx::mbarrier_wait(&s.full[place.slot], place.parity);
      special_next = split_half(0, place.slot);
    }
    pending.finish(sum);
    if (special) {
      add_special<Operands, Tile>(
          sum, a + static_cast<unsigned>(slot * Tile::kStageA),
          ptx::shared_address(s.b) + static_cast<unsigned>(slot * Tile::kStageB), warp, lane);
    }
    special = special_next;
    free_stage(&s.free[slot]);
  }
  if (steps == 0) {
    free_stage(&s.free[place.slot]);
    place.advance(1);
  }
}

}  // namespace mygemm::tensor16
