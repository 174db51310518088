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
  // Shares of as many are not empty, wherever pieces of fewer go.
  static constexpr int kLeastShare = 2 * kLeastSteps;

  // The first step of a block's range; share_begin(blocks) is the end of the last.
  constexpr int share_begin(int block) const {
    if (cut_tiles == 0) return 0;
    const int at = static_cast<int>(int64_t{cut_tiles} * steps * block / blocks);
    const int within = at % steps;
    if (within < kLeastSteps) return at - within;
    if (steps - within < kLeastSteps) return at - within + steps;
    return at;
  }

  // The first block with a piece of a cut tile. All from there to the one that finishes it have
  // one.
  constexpr int first_block_of(int tile) const {
    const int start = tile * steps;
    auto block = static_cast<int>(int64_t{tile} * blocks / cut_tiles);
    while (share_begin(block) > start) --block;
    while (share_begin(block + 1) <= start) ++block;
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

// How many of num_sms blocks share tiles that are cut; 0 where there is nothing to cut, or too
// little.
constexpr int blocks_to_share(int tiles, int steps, int num_sms) {
  const int64_t most = int64_t{tiles_to_cut(tiles, num_sms)} * steps / WorkShares::kLeastShare;
  const auto blocks = static_cast<int>(most < num_sms ? most : num_sms);
  if (tiles >= num_sms) return blocks == num_sms ? blocks : 0;
  return blocks > tiles ? blocks : 0;
}

// The workspace begins with a flag for each block, which takes this much of it.
constexpr size_t kFlagBytes = 4096;
constexpr int kMostCutBlocks = kFlagBytes / sizeof(unsigned);

// Then comes a piece of a tile for each block: its results, and on tensor cores what each of 256
// threads says of them.
constexpr size_t kPieceNotes = 256 * 2 * sizeof(float);
constexpr size_t streamk_bytes(int blocks, int block_m, int block_n) {
  return kFlagBytes +
         static_cast<size_t>(blocks) *
             (static_cast<size_t>(block_m) * static_cast<size_t>(block_n) * sizeof(float) +
              kPieceNotes);
}

}  // namespace mygemm
