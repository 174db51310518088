// See gpu.h.
#include "gpu.h"

#include <new>
#include <utility>

namespace mygemm::blas {

// Calls work(pipeline), unless the GPU is lost.
template <class Work>
void Gpu::attempt(const Work& work) {
  if (lost_) return;
  try {
    const RelaxedCapture relaxed;
    if (current_device() != device_) check(cudaSetDevice(device_));
    if (!pipeline_) pipeline_.emplace(limits_);
    work(*pipeline_);
  } catch (GpuFailure& failure) {
    lost_ = true;
    why_lost_ = std::move(failure.why);  // throws nothing
  } catch (const std::bad_alloc&) {
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
    if (pipeline.make_room(product, tiling)) pipeline.compute(product, tiling, shares, worker);
  });
}

}  // namespace mygemm::blas
