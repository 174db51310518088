// Stream-K: how the k steps of all block tiles are distributed over the blocks of a persistent
// grid. Pure; used by configure(), the kernels and tests.
//
// The first stream_k_tiles tiles are laid end to end, and every block gets a range of their k
// steps, all ranges equally long: so tiles that do not fill the GPU evenly do. The other,
// data-parallel tiles are dealt out whole. A block computes its range first, from the end: its last
// work item begins a tile that later blocks end. Those blocks add its partial tile to theirs (the
// fix-up).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mygemm {

struct StreamK {
  int tiles;
  int stream_k_tiles;  // 0 to tiles; stream_k_tiles * steps < 2^31
  int steps;           // k steps of a tile
  int blocks;

  // Fewest steps of a work item: with fewer its fixed overhead exceeds its gain.
  static constexpr int kLeastSteps = 4;
  // Fewest steps of a range: it is not empty after its ends are moved to tile boundaries.
  static constexpr int kLeastRange = 2 * kLeastSteps;

  // The first step of a block's range; range_begin(blocks) is the end of the last.
  constexpr int range_begin(int block) const {
    if (stream_k_tiles == 0) return 0;
    const int at = static_cast<int>(int64_t{stream_k_tiles} * steps * block / blocks);
    const int within = at % steps;
    if (within < kLeastSteps) return at - within;
    if (steps - within < kLeastSteps) return at - within + steps;
    return at;
  }

  // The first block with steps of a stream-K tile. All from there to the one that finishes it have
  // some.
  constexpr int first_block_of(int tile) const {
    const int start = tile * steps;
    auto block = static_cast<int>(int64_t{tile} * blocks / stream_k_tiles);
    while (range_begin(block) > start) --block;
    while (range_begin(block + 1) <= start) ++block;
    return block;
  }
};

// Steps [begin, end) of a tile.
struct WorkItem {
  int tile, begin, end;
};

// A block's items, in the order in which it computes them.
class WorkList {
 public:
  constexpr WorkList(const StreamK& schedule, int block)
      : schedule_(schedule),
        begin_(schedule.range_begin(block)),
        end_(schedule.range_begin(block + 1)),
        whole_(schedule.stream_k_tiles + block) {}

  constexpr bool next(WorkItem* item) {
    if (begin_ < end_) {
      const int tile = (end_ - 1) / schedule_.steps, start = tile * schedule_.steps;
      const int first = begin_ > start ? begin_ : start;
      *item = {tile, first - start, end_ - start};
      end_ = first;
      return true;
    }
    if (whole_ >= schedule_.tiles) return false;
    *item = {whole_, 0, schedule_.steps};
    whole_ += schedule_.blocks;
    return true;
  }

 private:
  StreamK schedule_;
  int begin_, end_;  // steps of the block's range that are not yet taken
  int whole_;        // the next data-parallel tile
};

// The number of stream-K tiles with which all blocks get equally much: none where whole tiles do;
// else those of the last round, and where these are few, and would be shared by many blocks each,
// those of the round before too.
constexpr int stream_k_tiles(int tiles, int blocks) {
  const int rest = tiles % blocks;
  return rest == 0 || tiles < blocks || 2 * rest >= blocks ? rest : rest + blocks;
}

// The number of blocks, of num_sms, that share stream-K tiles; 0 where there is nothing to share,
// or too little.
constexpr int stream_k_blocks(int tiles, int steps, int num_sms) {
  const int64_t most = int64_t{stream_k_tiles(tiles, num_sms)} * steps / StreamK::kLeastRange;
  const auto blocks = static_cast<int>(most < num_sms ? most : num_sms);
  if (tiles >= num_sms) return blocks == num_sms ? blocks : 0;
  return blocks > tiles ? blocks : 0;
}

// The beginning of a stream-K product's workspace, all 0 when the product begins.
struct StreamKFlags {
  static constexpr int kMostBlocks = 1023;

  unsigned ready[kMostBlocks];  // by block: 1 once its partial tile is there
  unsigned next_block;          // the number of the block that starts next
};

// Then comes a partial tile for each block: its sums, and on tensor cores a value of the guard for
// each of 256 threads.
constexpr size_t kPartialTileGuardBytes = 256 * sizeof(float);
constexpr size_t stream_k_workspace(int blocks, int block_m, int block_n) {
  return sizeof(StreamKFlags) +
         static_cast<size_t>(blocks) *
             (static_cast<size_t>(block_m) * static_cast<size_t>(block_n) * sizeof(float) +
              kPartialTileGuardBytes);
}

}  // namespace mygemm
