// How the k steps of all block tiles are shared out among the blocks of a persistent grid. Pure;
// used by the plan, the launchers and the kernels.
//
// The first `cut_tiles` tiles are laid end to end and cut into one range of k steps for each block,
// all equally long ("stream-K"): with them, tiles that do not fill the GPU evenly do. The others
// are dealt out whole. A block takes its range first, from the end: its last piece begins a tile
// that the next blocks end, and they find its partial sums when they come to need them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mygemm {

struct WorkShares {
  int tiles;
  int cut_tiles;  // 0 to tiles; cut_tiles * steps < 2^31
  int steps;      // k steps of a tile
  int blocks;

  // A piece of fewer steps costs more than it brings.
  static constexpr int kLeastSteps = 4;

  // The first step of a block's range; share_begin(blocks) is the end of the last.
  constexpr int share_begin(int block) const {
    if (cut_tiles == 0) return 0;
    const int at = static_cast<int>(int64_t{cut_tiles} * steps * block / blocks);
    const int within = at % steps;
    if (within < kLeastSteps) return at - within;
    if (steps - within < kLeastSteps) return at - within + steps;
    return at;
  }

  // Whether the block's last range is not empty: among the blocks of a cut tile, all but those that
  // got nothing have a piece of it.
  constexpr bool has_piece(int block) const { return share_begin(block) < share_begin(block + 1); }

  // The first block with a piece of the tile that `block` finishes.
  constexpr int first_block_of(int tile, int block) const {
    while (share_begin(block) > tile * steps) --block;
    return block;
  }
};

// Steps [begin, end) of a tile.
struct WorkItem {
  int tile, begin, end;
};

// A block's items, in the order in which it takes them.
class WorkList {
 public:
  constexpr WorkList(const WorkShares& shares, int block)
      : shares_(shares),
        begin_(shares.share_begin(block)),
        end_(shares.share_begin(block + 1)),
        whole_(shares.cut_tiles + block) {}

  constexpr bool next(WorkItem* item) {
    if (begin_ < end_) {
      const int tile = (end_ - 1) / shares_.steps, start = tile * shares_.steps;
      const int first = begin_ > start ? begin_ : start;
      *item = {tile, first - start, end_ - start};
      end_ = first;
      return true;
    }
    if (whole_ >= shares_.tiles) return false;
    *item = {whole_, 0, shares_.steps};
    whole_ += shares_.blocks;
    return true;
  }

 private:
  WorkShares shares_;
  int begin_, end_;  // of the cut tiles' steps, those not yet taken
  int whole_;        // the next whole tile
};

// Tiles to cut so that all blocks get the same: none where whole tiles do; else those of the last
// round, and where these are few, and would be in many pieces, those of the round before too.
constexpr int tiles_to_cut(int tiles, int blocks) {
  const int rest = tiles % blocks;
  return rest == 0 || tiles < blocks || 2 * rest >= blocks ? rest : rest + blocks;
}

// The workspace begins with a flag for each block, which takes this much of it.
constexpr size_t kFlagBytes = 4096;
constexpr int kMostCutBlocks = kFlagBytes / sizeof(unsigned);

// Then come two pieces of a tile for each block: one that it finishes, and one for others.
constexpr size_t streamk_bytes(int blocks, int block_m, int block_n) {
  return kFlagBytes + size_t{2} * static_cast<size_t>(blocks) * static_cast<size_t>(block_m) *
                          static_cast<size_t>(block_n) * sizeof(float);
}

}  // namespace mygemm
