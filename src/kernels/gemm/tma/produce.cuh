// Matrix product, step 4 of the ladder: the producer warps, which bring k steps of both operands
// into a ring of shared-memory stages, ahead of the consumer warps. Device only.
#pragma once

#include "kernels/gemm/tma/feed.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/warp.cuh"

namespace mygemm::tma {

using persistent::Args;
using persistent::OperandMap;

// The work of a producer warp, until all k steps of the block are in its stages. The warps take the
// k steps in turn: one alone is too slow for 4-byte copies, and for the accelerator's where tiles
// are small (512^3 NT on an H200: 12.4 us, against 8.9).
template <class Tile, class Shared>
__device__ __forceinline__ void produce(Shared& s, const Args& args, const OperandMap& a,
                                        const OperandMap& b, const StreamK& schedule, int warp,
                                        int lane) {
  constexpr bool kMapA = Shared::kMapA, kMapB = Shared::kMapB;
  constexpr int kWarps = Tile::kProducerWarps;
  const GemmProblem& p = args.p;
  persistent::StepCursor<Tile> at(schedule, ptx::warp_uniform(s.block), args.order);
  if (at.valid()) at.advance(warp, args.order);
  persistent::RingPlace<Tile::kStages> place;
  place.advance(warp);
  for (; at.valid(); at.advance(kWarps, args.order)) {
    const int stage = place.slot, k = at.k();
    const auto& [i, j, batch] = at.position;
    uint64_t* full = &s.full[stage];
    ptx::mbarrier_wait(&s.empty[stage], place.parity ^ 1);  // the first round waits for nothing
    if (Shared::kHasMaps && ptx::elect_one()) {
      ptx::mbarrier_arrive_expect_tx(
          full, (kMapA ? decltype(s.a)::kBytes : 0) + (kMapB ? decltype(s.b)::kBytes : 0));
      if constexpr (kMapA) {
        ptx::tma_load_3d(s.a.stage[stage], &a.map, full, i, k, batch * a.batch_step);
      }
      if constexpr (kMapB) {
        ptx::tma_load_3d(s.b.stage[stage], &b.map, full, j, k, batch * b.batch_step);
      }
    }
    if constexpr (Shared::kHasCopies) {
      const int depth = static_cast<int>(p.k) - k;
      if constexpr (!kMapA) {
        copy_step<Shared::kLoadA, Tile::kBlockM>(
            s.a.stage[stage], p.a, {batch, i, static_cast<int>(p.m) - i, k, depth}, lane);
      }
      if constexpr (!kMapB) {
        copy_step<Shared::kLoadB, Tile::kBlockN>(
            s.b.stage[stage], p.b, {batch, j, static_cast<int>(p.n) - j, k, depth}, lane);
      }
      ptx::cp_async_arrive(full);
    }
    place.advance(kWarps);
  }
  if constexpr (Shared::kHasCopies) ptx::cp_async_wait_all();
}

}  // namespace mygemm::tma
