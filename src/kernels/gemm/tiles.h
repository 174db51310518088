// The tile shapes of the matrix-product kernels: what the table of rows and the kernels share.
// Plain structs, so that a build without CUDA can explain plans too.
#pragma once

#include <cstdint>

#include "problem.h"

namespace mygemm {

// Block tiles computed by warps of 8 x 4 lanes. A lane holds kQuadsM x kQuadsN quads of 4 x 4
// results; quads of a lane are 32 rows (16 columns) apart, so that the 16-byte shared-memory loads
// of a warp touch 8 (4) neighbouring quads: conflict-free.
//   warp tile: 32 kQuadsM x 16 kQuadsN
template <int kBlockM_, int kBlockN_, int kBlockK_, int kQuadsM_, int kQuadsN_, int kStages_,
          int kBlocksPerSm_>
struct WarpTile {
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kBlockK_;
  static constexpr int kQuadsM = kQuadsM_, kQuadsN = kQuadsN_;
  static constexpr int kStages = kStages_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kWarpM = 32 * kQuadsM, kWarpN = 16 * kQuadsN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  // 4 floats of padding shift each k by 4 banks: an operand that is contiguous along k is written
  // by 8 x 4 lanes (k, m) to 32 different banks, and rows stay 16-byte aligned.
  static constexpr int kPitchM = kBlockM + 4, kPitchN = kBlockN + 4;

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kBlockK % 8 == 0, "operands contiguous along k are loaded 8 k at a time");
  static_assert(kStages >= 2, "loads overlap the products of another stage");

  struct SharedStorage {
    alignas(16) float a[kStages][kBlockK][kPitchM];
    alignas(16) float b[kStages][kBlockK][kPitchN];
  };
};

// Large products: 8 x 8 results per thread, 256 threads, 25 KB; 2 blocks fit the registers.
using Tile128x128 = WarpTile<128, 128, 8, 2, 2, 3, 2>;
// Short sums, whose blocks load and store much of their time: half the tile, so that twice as many
// blocks take turns at the memory.
using Tile128x64 = WarpTile<128, 64, 8, 2, 2, 5, 4>;
// Small ones, where 128 x 128 would leave multiprocessors idle: 8 x 4 results, 128 threads.
using Tile64x64 = WarpTile<64, 64, 16, 2, 1, 3, 4>;

// Tiles that single warps compute, each with a ring of its own: kLanesM x kLanesN lanes, which hold
// kQuadsM quads of rows and kRunsN runs of kRunN columns, all lanes apart from each other.
template <int kLanesM_, int kQuadsM_, int kRunN_, int kRunsN_, int kBlocksPerSm_>
struct SmallTile {
  static constexpr int kLanesM = kLanesM_, kLanesN = 32 / kLanesM;
  static constexpr int kQuadsM = kQuadsM_, kRunN = kRunN_, kRunsN = kRunsN_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kThreadM = 4 * kQuadsM, kThreadN = kRunN * kRunsN;
  static constexpr int kBlockM = kLanesM * kThreadM, kBlockN = kLanesN * kThreadN, kBlockK = 16;
  static constexpr int kStages = 2;
  static constexpr int kTilesPerBlock = 4, kThreads = 32 * kTilesPerBlock;

  struct Ring {
    alignas(16) float a[kStages][kBlockM * kBlockK];
    alignas(16) float b[kStages][kBlockN * kBlockK];
    alignas(16) float exchange[32][4];  // see store_quads
  };
  struct SharedStorage {
    Ring rings[kTilesPerBlock];
  };
};

// Two stages: 4 for 16 x 16 were no faster on an H200 (k = 58: 4.6 us), and make fewer warps.
using Tile16x16 = SmallTile<4, 1, 2, 1, 6>;  // 4 x 2 results a lane
using Tile32x32 = SmallTile<8, 1, 4, 2, 5>;  // 4 x 8
using Tile64x32 = SmallTile<8, 2, 4, 2, 4>;  // 8 x 8

// Block tiles of the TMA-fed kernels: a warpgroup of producers, then kGroups groups of consumer
// warps that take the k steps in turn and add up at the end. A lane holds kThreadM x kThreadN
// results, in quads of 4 that lie kLanesM (kLanesN) quads apart.
template <int kBlockM_, int kBlockN_, int kBlockK_, int kWarpM_, int kWarpN_, int kThreadM_,
          int kThreadN_, int kGroups_, int kStages_>
struct FedTile {
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kBlockK_;
  static constexpr int kWarpM = kWarpM_, kWarpN = kWarpN_;
  static constexpr int kThreadM = kThreadM_, kThreadN = kThreadN_;
  static constexpr int kGroups = kGroups_;
  static constexpr int kStages = kStages_;  // k steps ready to be multiplied, or on the way
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kGroupWarps = kWarpsM * kWarpsN;
  static constexpr int kGroupThreads = 32 * kGroupWarps;
  static constexpr int kConsumerWarps = kGroups * kGroupWarps;
  static constexpr int kProducerWarps = 4;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  static constexpr int kResults = kThreadM * kThreadN;
  // The registers of a multiprocessor are 168 for each of 384 threads; 16 x 8 results need more,
  // and producers less: 128 * (168 - 56) = 256 * (224 - 168).
  static constexpr bool kMovesRegisters = kResults >= 128;
  static constexpr int kProducerRegisters = 56, kConsumerRegisters = 224;
  static constexpr int kBlocksPerSm = 1;

  // Results of one group leave a part at a time, of several all at once.
  static constexpr int kResultsAtOnce = kGroups == 1 ? 32 : kResults;
  // The most that a block needs, which is where both operands are contiguous along k: stages and
  // results, and what alignment and barriers add.
  static constexpr int kSharedBytes =
      4 * (kStages * kBlockK * (kBlockM + kBlockN + 8) + kGroups * kResultsAtOnce * kGroupThreads +
           kConsumerWarps * 32 * 4) +
      kStages * 16 + 256;

  static_assert(kLanesM * kLanesN == 32 && kThreadM % 4 == 0 && kThreadN % 4 == 0);
  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kBlockK % 8 == 0 && kBlockN % 32 == 0, "what the copies of a warp cover");
  static_assert(kProducerWarps <= kStages && kGroups <= kStages);
  // A producer that waits for a stage must find its last phase over or running, not the one before
  // that, which looks like it. What was in the stage kStages steps ago was copied by the same warp,
  // or was read before what this warp copied last: by the same group.
  static_assert(kGroups == 1 || kStages % kProducerWarps == 0 ||
                (kStages - kProducerWarps) % kGroups == 0);
};

using Fed256x128 = FedTile<256, 128, 16, 64, 64, 16, 8, 1, 7>;
// Where those leave multiprocessors idle.
using Fed128x128 = FedTile<128, 128, 16, 64, 32, 8, 8, 1, 8>;
using Fed128x64 = FedTile<128, 64, 16, 64, 32, 8, 8, 2, 8>;
using Fed64x32 = FedTile<64, 32, 16, 64, 32, 8, 8, 8, 16>;
using Fed32x32 = FedTile<32, 32, 16, 32, 32, 8, 4, 8, 24>;

// Block tiles of the products on tensor cores: a warpgroup or two that feed, then two that
// multiply, 64 rows each. Shared memory holds kStages k steps of both operands and two of B's low
// plane. Where B must be transposed, it holds two of both of B's planes, and B itself only until it
// is split: two steps less.
template <int kBlockN_, int kStages_, int kTogether_, int kProducerWarps_, int kProducerRegisters_>
struct TensorTile {
  static constexpr int kBlockM = 128, kBlockN = kBlockN_, kBlockK = 32;
  static constexpr int kStages = kStages_, kPlanes = 2;
  // k that a warp gives the tensor cores at once, and that feeders and consumers hand over.
  static constexpr int kTogether = kTogether_, kParts = kBlockK / kTogether;
  static constexpr int kConsumerWarps = 8, kProducerWarps = kProducerWarps_;
  static constexpr int kThreads = 32 * (kProducerWarps + kConsumerWarps);
  // What a multiprocessor has for each thread at launch, by eights; then consumers share what
  // producers give up.
  static constexpr int kLaunchRegisters = 65536 / kThreads / 8 * 8;
  static constexpr int kProducerRegisters = kProducerRegisters_;
  static constexpr int kConsumerRegisters =
      (kThreads / 128 * kLaunchRegisters - kProducerWarps / 4 * kProducerRegisters) / 2 / 8 * 8;
  static constexpr int kBlocksPerSm = 1;
  // From this k on errors are at most cuBLAS's, which are a chain's of multiply-adds, on the data
  // of docs/accuracy.md but those of few products in a sum and a norm of `graded`. The more small
  // products come before the large ones, the earlier.
  static constexpr int kLeastK = kTogether == kBlockK ? 768 : 1024;

  static constexpr int kSharedBytes =
      4 * kBlockK * (kStages * kBlockM + (kStages + kPlanes) * kBlockN) + 2048;
};

using Tensor128x192 = TensorTile<192, 4, 16, 4, 56>;
using Tensor128x128 = TensorTile<128, 5, 32, 8, 56>;
using Tensor128x64 = TensorTile<64, 8, 32, 8, 56>;

// What the blocks of a cluster that share a tile send each other; see cluster_sum.cuh. kMost:
// elements of the largest tile.
template <int kMost>
struct Inbox {
  float sums[kMost];  // of this block's part of the tile, block after block of the cluster
  uint64_t received;
};

// Block tiles of the sliced kernels: kGroups groups of warps share the k of a step and add up at
// the end. A lane holds kThreadM rows, 32 apart, of kThreadN neighbouring columns: a warp then
// stores whole lines of C wherever they begin.
template <int kBlockM_, int kBlockN_, int kThreadM_, int kThreadN_, int kGroups_, int kGroupDepth_,
          int kStages_, int kBlocksPerSm_>
struct SlicedTile {
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kGroups_ * kGroupDepth_;
  static constexpr int kThreadM = kThreadM_, kThreadN = kThreadN_;
  static constexpr int kGroups = kGroups_, kGroupDepth = kGroupDepth_;
  static constexpr int kStages = kStages_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kWarpM = 32 * kThreadM, kWarpN = kThreadN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kGroupWarps = kWarpsM * kWarpsN;
  static constexpr int kThreads = 32 * kGroupWarps * kGroups;
  static constexpr int kElements = kBlockM * kBlockN;
  // Blocks of a cluster that may share a tile: where results go through shared memory anyhow.
  static constexpr int kMostSlices = kGroups == 1 ? 1 : kPortableCluster;

  // Room for either layout of an operand; see Stage in sliced.cuh.
  struct Stage {
    alignas(16) float a[kBlockM * (kBlockK + 4)];
    alignas(16) float b[kBlockN * (kBlockK + 4)];
  };
  struct SharedStorage {
    union {
      Stage stages[kStages];
      float sums[kGroups][kBlockN][kBlockM];
    };
    Inbox<kMostSlices == 1 ? 1 : kElements> inbox;
  };

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kThreadN % 4 == 0 && kGroupDepth % 4 == 0, "products take quads");
};

// Sums for their latency: as many groups as make the most of a multiprocessor for one tile.
using Sliced32x16 = SlicedTile<32, 16, 1, 16, 8, 16, 2, 2>;
// Short ones, and a large C for few k, which leaves straight from registers.
using Sliced32x32 = SlicedTile<32, 32, 1, 8, 1, 64, 2, 4>;
using Sliced64x64 = SlicedTile<64, 64, 2, 16, 1, 32, 2, 4>;

// Products with a thin side of at most kThin. A block streams its part of the long operand from
// global memory to registers; what it needs of the thin one, kChunk k of it, lies in shared memory.
struct ThinWarps {
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;
  static constexpr int kRows = 4;           // of the long operand that a lane works on
  static constexpr int kTile = 32 * kRows;  // those of a warp, where they are contiguous
  static constexpr int kStride = 32 * 4;    // k that a warp loads at once where k is contiguous
};

template <int kThin_, int kChunk_, int kBatch_, int kBlocksPerSm_>
struct ThinTile : ThinWarps {
  static constexpr int kThin = kThin_, kChunk = kChunk_, kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kBatch =
      kBatch_;  // columns that a lane loads ahead, where k is not contiguous
  // Where k is contiguous, a lane has the next values' registers beside this one's. Sixteen columns
  // leave none; there a warp's products take long enough for the loads of others.
  static constexpr bool kTwoSets = kThin < 16;
  static constexpr int kSums = kRows * kThin;  // of a lane
  static constexpr int kMostElements = kTile * kThin;
  // 4 floats of padding spread the rows of the thin operand, along k or along the thin side, over
  // the banks.
  static constexpr int kPitch = kChunk + 4, kPitchThin = kThin < 16 ? kThin : kThin + 4;
  // Of the thin side, what the warps' sums are added up for at a time.
  static constexpr int kThinAtOnce = kThin < 8 ? kThin : 8;

  static_assert(kThin == 1 || kThin % 4 == 0, "the thin operand is read in quads");
  static_assert(kChunk % kStride == 0 && kChunk % kBatch == 0, "chunks are padded with zeros");

  // Long operand contiguous along the long side.
  union TileStorage {
    alignas(16) float y[kChunk][kPitchThin];
    float sums[kWarps][kThinAtOnce][kTile];
  };
  // Long operand contiguous along k.
  struct DepthStorage {
    alignas(16) float y[kThin][kPitch];
    float sums[kWarps][kSums];
  };
  struct SharedStorage {
    union {
      TileStorage tile;
      DepthStorage depth;
    };
    Inbox<kMostElements> inbox;
  };
};

using Thin1 = ThinTile<1, 4096, 8, 3>;
using Thin4 = ThinTile<4, 1024, 8, 2>;
using Thin16 = ThinTile<16, 512, 4, 2>;

// The textbook kernel: one 32 x 32 tile, 32 x 8 threads, 4 results each.
struct TileShared {
  static constexpr int kBlockM = 32, kBlockN = 32, kBlockK = 32;
  static constexpr int kStages = 1;
  static constexpr int kThreads = 256;
  static constexpr int kResults = kBlockM * kBlockN / kThreads;
  static constexpr int kBlocksPerSm = 6;
  struct SharedStorage {
    float a[kBlockK][kBlockM + 1];
    float b[kBlockK][kBlockN + 1];
  };
};

// One result per thread, one k at a time, no shared memory.
struct TileNaive {
  static constexpr int kBlockM = 32, kBlockN = 8, kBlockK = 1;
  static constexpr int kStages = 1;
  static constexpr int kThreads = kBlockM * kBlockN;
  static constexpr int kBlocksPerSm = 8;
  struct SharedStorage {};
};

}  // namespace mygemm
