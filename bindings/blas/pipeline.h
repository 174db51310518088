// Products of host matrices on a GPU: transfers of tiles in both directions overlap with products
// of other tiles. See tiling.h for the tiles, staging.h for the transfers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda_resources.h"
#include "mygemm/mygemm.h"
#include "staging.h"
#include "tiling.h"

namespace mygemm::blas {

struct PipelineLimits {
  TilingLimits tiling;
  int64_t staging_floats;   // of one pinned buffer; there are 2 * StagingRing::kBuffers
  int64_t workspace_bytes;  // at most, for kernels that use a workspace
  int processes = 1;        // that share the device's memory
};

// Used by one thread at a time.
class Pipeline {
 public:
  // On the current device. Throws GpuFailure.
  explicit Pipeline(const PipelineLimits& limits);
  ~Pipeline() { mygemm_destroy(handle_); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // See multiply_on_gpu().
  bool multiply(const Product& product);
  // The GPU has failed, and must not be used again.
  bool broken() const { return broken_; }
  const std::string& why_broken() const { return why_broken_; }
  // Device memory for tiles, at most.
  int64_t most_device_floats() const { return limits_.tiling.device_floats; }

 private:
  // Device memory for a tile, and the events after which it may be read and overwritten.
  struct Slot {
    DeviceMatrix matrix{};
    int64_t tile = -1;  // the tile in it; -1: none
    Event filled, used;
  };
  // The slots of an operand, in turn.
  struct Operand {
    std::array<Slot, 2> slots;
    int64_t count = 0;
    int64_t turn = 0;
    Slot& current() { return slots[static_cast<size_t>(turn % count)]; }
  };

  bool reserve(const Product& product, std::optional<Tiling>* tiling);
  int64_t workspace_floats(const Product& product, const Tiling& tiling) const;
  void lay_out(const Product& product, const Tiling& tiling);
  void run(const Product& product, const Tiling& tiling, const std::vector<Rect>& tiles);
  void multiply_tile(const Product& product, const Tiling& tiling, const Rect& tile);
  void load(Operand* operand, int64_t tile, const HostMatrix& from);
  void finish_download();
  int64_t pieces_stored() const { return download_ ? download_->pieces_stored() : 0; }
  void finish_on_host(const Product& product, const std::vector<Rect>& tiles);

  PipelineLimits limits_;
  int device_ = 0;
  bool broken_ = false;
  std::string why_broken_;
  mygemmHandle_t handle_ = nullptr;
  Stream up_, compute_, down_;
  StagingRing up_ring_, down_ring_;
  int64_t up_turn_ = 0;
  DeviceMemory arena_;
  int64_t arena_floats_ = 0;
  Operand a_, b_, c_;
  size_t tiles_stored_ = 0;
  std::optional<Download> download_;  // of the tile after those stored
};

}  // namespace mygemm::blas
