// The GPUs of the process, and which of them compute a product. See offload.h.
#include "offload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "../drop_in/call_report.h"
#include "../drop_in/messages.h"
#include "dealing.h"
#include "fork.h"
#include "offload_cost.h"
#include "settings.h"

namespace mygemm::blas {
namespace {

constexpr PipelineLimits kLimits{.tiling = {.device_floats = int64_t{2} << 30,
                                            .min_tile = 256,
                                            .panels = kMostPanels,
                                            .elements_of_c = int64_t{2048} * 2048},
                                 .staging_floats = int64_t{1} << 20,
                                 .workspace_bytes = int64_t{64} << 20};

std::mutex one_call_at_a_time;
std::atomic<bool> possible{true};
std::atomic<uint64_t> devices_used{0};
std::vector<Gpu*>* gpus = nullptr;  // those not lost. Never destroyed: when the process exits, CUDA
                                    // may be gone

int first_device(const DeviceChoice& choice, int devices) {
  if (choice.number >= 0) return choice.number % devices;
  int current = 0;
  check(cudaGetDevice(&current));
  return current;
}

// Where kernels and plans, and so the bits of a tile, are the same.
bool are_of_one_model(int one, int other) {
  cudaDeviceProp of_one, of_other;
  check(cudaGetDeviceProperties(&of_one, one));
  check(cudaGetDeviceProperties(&of_other, other));
  return std::strcmp(of_one.name, of_other.name) == 0 &&
         of_one.multiProcessorCount == of_other.multiProcessorCount;
}

// The first one computes every product, the others those that are worth it. Empty where there is no
// GPU, which is not worth a word.
std::vector<Gpu*> find_gpus() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    cudaGetLastError();  // the program's next call would report it
    return {};
  }
  const DeviceChoice choice = device_choice();
  const int first = first_device(choice, devices);
  PipelineLimits limits = kLimits;
  limits.processes = processes_on_a_device(devices);
  std::vector<Gpu*> found{new Gpu(first, limits)};
  for (int i = 1; i < devices && choice.others_too; ++i) {
    const int device = (first + i) % devices;
    if (are_of_one_model(first, device)) found.push_back(new Gpu(device, limits));
  }
  return found;
}

// How many GPUs compute the product.
size_t gpus_for(const Product& p) {
  static DealingDecision decision(kMeasuredRates);
  const ProductShape shape{p.m, p.n, p.k, p.beta != 0.0f};
  const bool all = gpus->size() > 1 && decision.worth(shape, static_cast<int>(gpus->size()));
  return all ? gpus->size() : 1;
}

void note_devices() {
  for (const Gpu* gpu : *gpus) {
    if (gpu->has_computed()) devices_used |= drop_in::Devices::bit_of(gpu->device());
  }
}

void say_lost(const std::string& which, const std::string& why, const char* by_whom) {
  drop_in::say("mygemm: " + drop_in::this_process() + which + ": the GPU is lost: " + why +
               "; products are computed on " + by_whom + " from now on\n");
}

// Takes the GPUs that are lost from the list.
void forget_lost() {
  const auto lost = [](const Gpu* gpu) { return gpu->is_lost(); };
  const bool all = std::all_of(gpus->begin(), gpus->end(), lost);
  for (const Gpu* gpu : *gpus) {
    if (!lost(gpu)) continue;
    say_lost(", device " + std::to_string(gpu->device()), gpu->why_lost(),
             all ? "the host" : "the others");
  }
  std::erase_if(*gpus, lost);
}

}  // namespace

bool offload_is_built() { return true; }
uint64_t offload_devices() { return devices_used; }
bool offload_is_possible() { return possible && !cuda_context.lost(); }

bool multiply_on_gpu(const Product& product) {
  // A child must not wait for a lock that its parent held.
  if (!offload_is_possible()) return false;
  cuda_context.mark_used();
  const std::lock_guard guard(one_call_at_a_time);
  try {
    if (gpus == nullptr) gpus = new std::vector<Gpu*>(find_gpus());
    possible = !gpus->empty();
    // Once more where the first of several is lost before anything was stored.
    for (bool once_more = true; once_more && !gpus->empty();) {
      const bool done = multiply(product, std::span(*gpus).first(gpus_for(product)));
      note_devices();
      once_more = !done && gpus->front()->is_lost();
      forget_lost();
      possible = !gpus->empty();
      if (done) return true;
    }
  } catch (const GpuFailure& failure) {  // of a question about devices
    possible = false;
    say_lost("", failure.why, "the host");
  } catch (const std::bad_alloc&) {  // before anything was written
  }
  return false;
}

}  // namespace mygemm::blas
