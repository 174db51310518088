// The tiles of a product's result, dealt out to the GPUs that compute it, its workers. Each has a
// share of its own, in which neighbours have operands in common, and takes from the end of another
// when that is done: GPUs that start late, or are slower, compute fewer tiles.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "product.h"

namespace mygemm::blas {

// Workers call it at the same time.
class TileShares {
 public:
  // The tiles of each worker, in the order in which it computes them.
  explicit TileShares(std::vector<std::vector<Rect>> shares);

  // The next tile of the worker's share, else one that was given back, else the last of the largest
  // share, unless its own worker is about to take that. Empty: there is none.
  std::optional<Rect> take(int worker);
  // For a tile that was taken and of which nothing has been stored: another worker may take it.
  void give_back(const Rect& tile);
  // Gives back what is left of the worker's share.
  void leave(int worker);

  bool all_are_taken() const;
  // All are there to be taken: none has been, or those have been given back.
  bool none_is_taken() const;

 private:
  struct Share {
    std::vector<Rect> tiles;
    size_t next = 0;
    size_t size() const { return tiles.size() - next; }
  };
  size_t tiles_to_take() const;

  mutable std::mutex mutex_;
  std::vector<Share> shares_;
  size_t all_ = 0;  // tiles
  std::vector<Rect> given_back_;
};

}  // namespace mygemm::blas
