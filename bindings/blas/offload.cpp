// The process's one pipeline to a GPU. See offload.h.
#include "offload.h"

#include <atomic>
#include <mutex>

#include "fork.h"
#include "pipeline.h"

namespace mygemm::blas {
namespace {

// Tiles of 4 GiB in all overlap their transfers for all matrices; pieces of 4 MiB keep both the
// copy engines and 16 threads busy; with 16 panels a sixteenth of the transfers is not overlapped.
constexpr PipelineLimits kLimits{
    .tiling = {.device_floats = int64_t{1} << 30, .min_tile = 256, .panels = 16},
    .staging_floats = int64_t{1} << 20,
    .workspace_bytes = int64_t{64} << 20};

std::mutex one_call_at_a_time;
std::atomic<bool> failed{false};
Pipeline* pipeline = nullptr;  // never destroyed: CUDA may be gone when the process exits

}  // namespace

bool offload_is_possible() { return !failed && !cuda_context.lost(); }

bool multiply_on_gpu(const Product& product) {
  // A child must not wait for a lock that its parent held.
  if (!offload_is_possible()) return false;
  cuda_context.mark_used();
  const std::lock_guard guard(one_call_at_a_time);
  if (failed) return false;
  try {
    const RelaxedCapture relaxed;
    if (pipeline == nullptr) pipeline = new Pipeline(kLimits);
    const bool done = pipeline->multiply(product);
    failed = pipeline->broken();
    return done;
  } catch (...) {  // GpuFailure, or no memory for a list of tiles: before anything was written
    failed = true;
    return false;
  }
}

}  // namespace mygemm::blas
