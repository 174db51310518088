// Matrix product, step 4 of the ladder: the main loop of a warp that multiplies. Device only.
//
// Register banks (H200): registers lie in two banks, by parity of their number, and an instruction
// reads one operand from each bank in a clock. One of the three operands of a multiply-add must
// therefore be the register that the instruction before it had in the same place, and the others
// must be of different parity. The order of instructions provides the first. The second is the
// compiler's choice, which depends on everything else in the kernel:
// tests/static/register_banks.py counts the conflicts.
#pragma once

#include "kernels/gemm/tma/feed.cuh"
#include "ptx/math.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"

namespace mygemm::tma {

template <class Tile>
using Results = float[Tile::kThreadN][Tile::kThreadM];

// Row and column of a lane's first quad within the tile.
template <class Tile>
struct LanePlace {
  int i, j;

  __device__ LanePlace(int group_warp, int lane)
      : i(group_warp % Tile::kWarpsM * Tile::kWarpM + lane % Tile::kLanesM * 4),
        j(group_warp / Tile::kWarpsM * Tile::kWarpN + lane / Tile::kLanesM * 4) {}
};

// kCount values of one k, in quads kStride bytes apart.
template <int kStride, int kCount>
__device__ __forceinline__ void load_quads(float (&values)[kCount], unsigned shared) {
#pragma unroll
  for (int q = 0; q < kCount / 4; ++q) {
    const float4 quad = ptx::load_shared_16(shared + q * kStride);
    values[4 * q + 0] = quad.x;
    values[4 * q + 1] = quad.y;
    values[4 * q + 2] = quad.z;
    values[4 * q + 3] = quad.w;
  }
}

// sum += a b. Rows of 16 x 8 results, the last first, or columns of smaller ones, back and forth,
// so that each multiply-add shares one operand with the one before.
template <class Tile>
__device__ __forceinline__ void add_products(Results<Tile>& sum, const float (&a)[Tile::kThreadM],
                                             const float (&b)[Tile::kThreadN]) {
  constexpr bool kByRows = Tile::kThreadM > Tile::kThreadN;
  constexpr int kTurns = kByRows ? Tile::kThreadM : Tile::kThreadN;
  constexpr int kSteps = kByRows ? Tile::kThreadN : Tile::kThreadM;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int across = turn % 2 == 0 ? step : kSteps - 1 - step;
      const int i = kByRows ? kTurns - 1 - turn : across;
      const int j = kByRows ? across : turn;
      ptx::fma_in_order(sum[j][i], a[i], b[j]);
    }
  }
}

// Bits that depend on all quads, for an arrival behind their loads.
template <int kCount>
__device__ __forceinline__ unsigned all_quads(const float (&values)[kCount]) {
  unsigned bits = 0;
#pragma unroll
  for (int q = 0; q < kCount; q += 4) bits ^= __float_as_uint(values[q]);
  return bits;
}

struct NothingBeside {
  __device__ void step() {}
};

// sum += the products of `steps` k steps: the `first` of all that the block has had, and every
// kGroups-th from there. In chunks of 8 k: with 16 the loop and the producers' code outgrow the
// instruction cache (NN at 4096: 50.5 TFLOP/s, against 53.6). A k's values are loaded while the k
// before it is multiplied. A stage is given back behind its last load, by every lane for itself:
// one for all, behind a __syncwarp, was no faster (8192^3: 19.63 ms, against 19.51), and the race
// checker does not see what orders the others.
//
// Calls beside.step() behind the products of each step.
template <class Tile, class Shared, class Beside = NothingBeside>
__device__ __forceinline__ void multiply(Results<Tile>& sum, Shared& s, int first, int steps,
                                         const LanePlace<Tile>& place, Beside&& beside = {}) {
  constexpr int kUnrolled = 8, kChunks = Tile::kBlockK / kUnrolled;
  constexpr int kPitchA = decltype(s.a)::kPitch * 4, kPitchB = decltype(s.b)::kPitch * 4;
  constexpr int kStrideA = 16 * Tile::kLanesM, kStrideB = 16 * Tile::kLanesN;
  constexpr int kBarrier = sizeof(uint64_t);
  constexpr int kLast = (kUnrolled - 1) % 2;
  static_assert(kChunks * kUnrolled == Tile::kBlockK);
  persistent::RingPlace<Tile::kStages> ring{first % Tile::kStages,
                                            static_cast<unsigned>(first / Tile::kStages % 2)};
  const unsigned stages_a = ptx::shared_address(&s.a.stage[0][0][place.i]);
  const unsigned stages_b = ptx::shared_address(&s.b.stage[0][0][place.j]);
  const unsigned full = ptx::shared_address(&s.full[0]);
#pragma unroll 1
  for (int left = steps; left > 0; --left) {
    ptx::mbarrier_wait_at(full + ring.slot * kBarrier, ring.parity);
    unsigned from_a = stages_a + ring.slot * (Tile::kBlockK * kPitchA);
    unsigned from_b = stages_b + ring.slot * (Tile::kBlockK * kPitchB);
    unsigned bits = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      float a[2][Tile::kThreadM], b[2][Tile::kThreadN];  // of this k and the next
      load_quads<kStrideA>(a[0], from_a);
      load_quads<kStrideB>(b[0], from_b);
#pragma unroll
      for (int kk = 0; kk < kUnrolled; ++kk) {
        if (kk + 1 < kUnrolled) {
          load_quads<kStrideA>(a[(kk + 1) % 2], from_a + (kk + 1) * kPitchA);
          load_quads<kStrideB>(b[(kk + 1) % 2], from_b + (kk + 1) * kPitchB);
        }
        add_products<Tile>(sum, a[kk % 2], b[kk % 2]);
      }
      bits = all_quads(a[kLast]) ^ all_quads(b[kLast]);
      from_a += kUnrolled * kPitchA;
      from_b += kUnrolled * kPitchB;
    }
    ptx::mbarrier_arrive_behind(full + sizeof s.full + ring.slot * kBarrier, bits);
    beside.step();
    ring.advance(Tile::kGroups);
  }
}

}  // namespace mygemm::tma
