// One GPU that multiplies host matrices: started by its first product, used until it fails.
#pragma once

#include <optional>
#include <string>

#include "pipeline.h"

namespace mygemm::blas {

// Used by one thread at a time, whose device it makes current. Nothing throws: a GPU that fails is
// lost, and does nothing more.
class Gpu {
 public:
  Gpu(int device, const PipelineLimits& limits) : device_(device), limits_(limits) {}

  int device() const { return device_; }
  bool is_lost() const { return lost_; }
  const std::string& why_lost() const { return why_lost_; }
  // It has taken a tile, of any product.
  bool has_computed() const { return pipeline_ && pipeline_->has_computed(); }

  // Pipeline::choose_tiling(); empty also where the GPU is lost.
  std::optional<Tiling> choose_tiling(const Product& product);
  // Pipeline::compute(), where there is memory for such tiles.
  void compute(const Product& product, const Tiling& tiling, TileShares* shares, int worker);

 private:
  template <class Work>
  void attempt(const Work& work);

  int device_;
  PipelineLimits limits_;
  std::optional<Pipeline> pipeline_;
  bool lost_ = false;
  std::string why_lost_;
};

}  // namespace mygemm::blas
