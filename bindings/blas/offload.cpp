// The process's one pipeline to a GPU. See offload.h.
#include "offload.h"

#include <atomic>
#include <mutex>
#include <new>
#include <string>

#include "../drop_in/messages.h"
#include "fork.h"
#include "pipeline.h"
#include "settings.h"

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
std::atomic<int> device{-1};
Pipeline* pipeline = nullptr;  // never destroyed: CUDA may be gone when the process exits

int choose_device(int devices) {
  const DeviceChoice choice = device_choice();
  int current = 0;
  if (choice.kind != DeviceChoice::kCurrent) return choice.number % devices;
  check(cudaGetDevice(&current));
  return current;
}

// False where there is no GPU, which is not worth a word.
bool start() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    cudaGetLastError();  // the program's next call would report it
    return false;
  }
  const int chosen = choose_device(devices);
  device = chosen;
  const CurrentDevice current(chosen);
  PipelineLimits limits = kLimits;
  limits.processes = processes_on_a_device(devices);
  pipeline = new Pipeline(limits);
  return true;
}

void give_up(const std::string& why) {
  if (failed.exchange(true)) return;
  drop_in::say("mygemm: " + drop_in::this_process() + ", device " + std::to_string(device) +
               ": the GPU is lost: " + why + "; products are computed on the host from now on\n");
}

}  // namespace

bool offload_is_built() { return true; }
int offload_device() { return device; }
bool offload_is_possible() { return !failed && !cuda_context.lost(); }

bool multiply_on_gpu(const Product& product) {
  // A child must not wait for a lock that its parent held.
  if (!offload_is_possible()) return false;
  cuda_context.mark_used();
  const std::lock_guard guard(one_call_at_a_time);
  if (failed) return false;
  try {
    const RelaxedCapture relaxed;
    if (pipeline == nullptr && !start()) {
      failed = true;
      return false;
    }
    const bool done = pipeline->multiply(product);
    if (pipeline->broken()) give_up(pipeline->why_broken());
    return done;
  } catch (const GpuFailure& failure) {  // before anything was written
    give_up(failure.why);
  } catch (const std::bad_alloc&) {  // for a list of tiles, also before
    give_up("no host memory");
  }
  return false;
}

}  // namespace mygemm::blas
