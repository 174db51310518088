// How a cluster of blocks shares a wide row, and the ring of tiles that each of its warps has in
// shared memory. Pure.
#pragma once

#include "kernels/softmax/storage.h"

namespace mygemm {

constexpr int kClusterWarps = 16;  // of a block
constexpr int kClusterThreads = 32 * kClusterWarps;
constexpr int kMostLog2Blocks = 4;  // of a cluster
constexpr int kMostRunsOfWarp = 2;

// A cluster holds one row in its shared memory, each warp one or two runs of it, in a ring of
// slots. A slot holds one tile of each input.
struct ClusterRing {
  int log2_blocks;   // of the cluster
  int runs_of_warp;  // one or two
  int tiles;         // of a warp's runs, at most
  int slots = 0;     // of a warp; 0: no row fits
  int held;          // tiles of a warp that are held in registers, where its slots are too few
  int slot_bytes;
  int tile_bytes_in;  // of x or y; dy follows it in the slot
  int shared_bytes;   // of a block
};

// Bulk copies move multiples of 16 bytes between addresses that are multiples of 16: packs of
// 16-bit elements beside FP32 ones have 8 bytes and must come in pairs.
inline bool bulk_copies_fit(const SoftmaxProblem& p, const RowShape& shape) {
  if (shape.layout == Layout::kAny) return false;
  if (shape.widths != Widths::kMixed) return true;
  const auto pairs = [](const TypedMatrix& matrix) {
    return reinterpret_cast<uintptr_t>(matrix.data) % 16 == 0 && matrix.ld % 8 == 0;
  };
  return shape.layout == Layout::kPacks && p.cols % 8 == 0 && pairs(p.in) &&
         (!p.backward || pairs(p.dy));
}

// Why kernels whose bulk copies do not fit refuse a call.
constexpr const char* kNotAlikeReason = "the rows of the matrices do not lie alike";

// Tiles that a warp can hold in registers: one of y and dy, and more of fp32 x, whose exponentials
// are not computed twice.
constexpr int held_tiles(Widths widths, bool backward) {
  if (backward) return 1;
  return widths == Widths::kFp32 ? 3 : 2;
}

}  // namespace mygemm
