// See tile_shares.h.
#include "tile_shares.h"

#include <algorithm>
#include <utility>

namespace mygemm::blas {

TileShares::TileShares(std::vector<std::vector<Rect>> shares) {
  for (std::vector<Rect>& tiles : shares) {
    all_ += tiles.size();
    shares_.push_back({std::move(tiles)});
  }
  given_back_.reserve(all_);  // giving back must not fail for want of memory
}

std::optional<Rect> TileShares::take(int worker) {
  const std::lock_guard lock(mutex_);
  Share& own = shares_[static_cast<size_t>(worker)];
  if (own.size() > 0) return own.tiles[own.next++];
  if (!given_back_.empty()) {
    const Rect tile = given_back_.back();
    given_back_.pop_back();
    return tile;
  }
  const auto smaller = [](const Share& one, const Share& other) {
    return one.size() < other.size();
  };
  Share& largest = *std::max_element(shares_.begin(), shares_.end(), smaller);
  if (largest.size() < 2) return std::nullopt;
  const Rect tile = largest.tiles.back();
  largest.tiles.pop_back();
  return tile;
}

void TileShares::give_back(const Rect& tile) {
  const std::lock_guard lock(mutex_);
  given_back_.push_back(tile);
}

void TileShares::leave(int worker) {
  const std::lock_guard lock(mutex_);
  Share& own = shares_[static_cast<size_t>(worker)];
  while (own.size() > 0) given_back_.push_back(own.tiles[own.next++]);
}

size_t TileShares::tiles_to_take() const {
  const std::lock_guard lock(mutex_);
  size_t tiles = given_back_.size();
  for (const Share& share : shares_) tiles += share.size();
  return tiles;
}

bool TileShares::all_are_taken() const { return tiles_to_take() == 0; }

bool TileShares::none_is_taken() const { return tiles_to_take() == all_; }

}  // namespace mygemm::blas
