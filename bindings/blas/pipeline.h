// Products of host matrices on one GPU: transfers of tiles in both directions overlap with products
// of other tiles. See tiling.h for the tiles, staging.h for the transfers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "cuda_resources.h"
#include "mygemm/mygemm.h"
#include "staging.h"
#include "tile_shares.h"
#include "tiling.h"

namespace mygemm::blas {

struct PipelineLimits {
  TilingLimits tiling;
  int64_t staging_floats;   // of one pinned buffer; there are 2 * StagingRing::kBuffers
  int64_t workspace_bytes;  // at most, for kernels that use a workspace
  int processes = 1;        // that share the device's memory
};

// Used by one thread at a time, with the device current that it was made on. Everything may throw
// GpuFailure or std::bad_alloc, after which it must not be used again.
class Pipeline {
 public:
  explicit Pipeline(const PipelineLimits& limits);
  ~Pipeline() { mygemm_destroy(handle_); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Tiles for the product that device memory is there for, smaller ones where little is free. Empty
  // where even the smallest do not fit.
  std::optional<Tiling> choose_tiling(const Product& product);
  // Allocates device memory for such tiles. False where there is too little.
  bool make_room(const Product& product, const Tiling& tiling);
  // Computes the tiles that the worker is given, until all have been taken. Where it throws, it has
  // given back what others can compute, and the host has computed the rest of a tile that was
  // partly stored.
  void compute(const Product& product, const Tiling& tiling, TileShares* shares, int worker);
  // It has been given a tile, of any product.
  bool has_computed() const { return has_computed_; }
  // Device memory for tiles, at most.
  int64_t most_device_floats() const { return limits_.tiling.device_floats; }

 private:
  // Device memory for a tile, and the events after which it may be read and overwritten.
  struct Slot {
    DeviceMatrix matrix{};
    int64_t tile = -1;  // the tile in it; -1: none
    Event filled, used;
  };
  // The slots of an operand. Tiles have them in turn.
  struct Operand {
    std::array<Slot, kMostPanels + 1> slots;
    int64_t count = 0;
    int64_t turn = 0;
    Slot& next() { return slots[static_cast<size_t>(turn++ % count)]; }
  };

  int64_t workspace_floats(const Product& product, const Tiling& tiling) const;
  void lay_out(const Product& product, const Tiling& tiling);
  Slot& multiply_tile(const Product& product, const Tiling& tiling, const Rect& tile);
  Slot& find_or_load(Operand* operand, int64_t tile, const HostMatrix& from);
  void load(Slot* slot, const HostMatrix& from);
  void upload(const HostMatrix& from, const DeviceMatrix& to);
  void begin_download(const Product& product);
  void finish_download(const Product& product);
  void abandon_downloads(const Product& product, TileShares* shares);

  PipelineLimits limits_;
  bool has_computed_ = false;
  mygemmHandle_t handle_ = nullptr;
  Stream up_, compute_, down_;
  StagingRing up_ring_, down_ring_;
  DeviceMemory arena_;
  int64_t arena_floats_ = 0;
  Operand a_, b_, c_;
  struct Computed {
    Slot* slot;
    Rect tile;
  };
  std::deque<Computed> computed_;     // or enqueued: tiles of C not yet on the host
  std::optional<Download> download_;  // of the first of them
};

}  // namespace mygemm::blas
