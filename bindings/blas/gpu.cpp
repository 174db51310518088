// See gpu.h.
#include "gpu.h"

#include <new>

namespace mygemm::blas {

// Calls work(pipeline), with the device as the current one, unless the GPU is lost.
template <class Work>
void Gpu::attempt(const Work& work) {
  if (lost_) return;
  try {
    const RelaxedCapture relaxed;
    const CurrentDevice current(device_);
    if (!pipeline_) pipeline_.emplace(limits_);
    work(*pipeline_);
  } catch (const GpuFailure& failure) {
    lost_ = true;
    why_lost_ = failure.why;
  } catch (const std::bad_alloc&) {  // of a list of tiles
    lost_ = true;
    why_lost_ = "no host memory";
  }
}

std::optional<Tiling> Gpu::choose_tiling(const Product& product) {
  std::optional<Tiling> tiling;
  attempt([&](Pipeline& pipeline) { tiling = pipeline.choose_tiling(product); });
  return lost_ ? std::nullopt : tiling;
}

void Gpu::compute(const Product& product, const Tiling& tiling, TileShares* shares, int worker) {
  attempt([&](Pipeline& pipeline) {
    if (!pipeline.make_room(product, tiling)) return;
    if (pipeline.compute(product, tiling, shares, worker)) has_computed_ = true;
  });
}

}  // namespace mygemm::blas
