// The GPUs of the process, and which of them compute a product. See offload.h.
#include "offload.h"

#include <pthread.h>

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
#include "host/host.h"
#include "host/thread_pool.h"
#include "offload_cost.h"
#include "settings.h"

namespace mygemm::blas {
namespace {

constexpr PipelineLimits kLimits{.tiling = {.device_floats = int64_t{2} << 30,
                                            .min_tile = 256,
                                            .panels = kMostPanels,
                                            .elements_of_c = int64_t{2048} * 2048,
                                            .panel_floats = int64_t{4} << 20},
                                 .staging_floats = int64_t{1} << 20,
                                 .workspace_bytes = int64_t{64} << 20};

std::mutex one_call_at_a_time;
std::atomic<bool> possible{true};
std::atomic<uint64_t> devices_used{0};
std::vector<Gpu*>* gpus = nullptr;  // those not lost. Never destroyed: when the process exits, CUDA
                                    // may be gone

int first_device(const DeviceChoice& choice, int devices) {
  if (choice.number >= 0) return choice.number % devices;
  return current_device();
}

// Where kernels and plans, and so the bits of a tile, are the same.
bool are_of_one_model(int one, int other) {
  cudaDeviceProp of_one, of_other;
  if (cudaGetDeviceProperties(&of_one, one) != cudaSuccess ||
      cudaGetDeviceProperties(&of_other, other) != cudaSuccess) {
    cudaGetLastError();  // the other one is of no use, which is not worth a word either
    return false;
  }
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

std::span<Gpu* const> gpus_for(const Product& p) {
  static DealingDecision decision(kMeasuredRates);
  const ProductShape shape{p.m, p.n, p.k, p.beta != 0.0f};
  const int count = decision.gpus_for(shape, static_cast<int>(gpus->size()));
  return std::span(*gpus).first(static_cast<size_t>(count));
}

void note_devices() {
  for (const Gpu* gpu : *gpus) {
    if (gpu->has_computed()) devices_used |= drop_in::Devices::bit_of(gpu->device());
  }
}

// Says nothing where there is no memory for it.
void say_lost(const Gpu* gpu, const std::string& why, const char* by_whom) try {
  const std::string device = gpu != nullptr ? ", device " + std::to_string(gpu->device()) : "";
  drop_in::say("mygemm: " + drop_in::this_process() + device + ": the GPU is lost: " + why +
               "; products are computed on " + by_whom + " from now on\n");
} catch (const std::bad_alloc&) {
}

// Takes the GPUs that are lost from the list.
void forget_lost() {
  const auto lost = [](const Gpu* gpu) { return gpu->is_lost(); };
  const bool all = std::all_of(gpus->begin(), gpus->end(), lost);
  for (const Gpu* gpu : *gpus) {
    if (lost(gpu)) say_lost(gpu, gpu->why_lost(), all ? "the host" : "the others");
  }
  std::erase_if(*gpus, lost);
  possible = !gpus->empty();
}

// Once more where the first of several is lost before anything was stored.
bool multiply_on_those_left(const Product& product) {
  for (bool once_more = true; once_more && !gpus->empty();) {
    const bool done = multiply(product, gpus_for(product));
    note_devices();
    once_more = !done && gpus->front()->is_lost();
    forget_lost();
    if (done) return true;
  }
  return false;
}

// A call on a thread of its own.
struct Apart {
  const Product* product;
  int threads;
  bool done = false;
};

void* multiply_apart(void* argument) {
  Apart& call = *static_cast<Apart*>(argument);
  host::set_num_threads(call.threads);
  try {
    call.done = multiply_on_those_left(*call.product);
  } catch (const std::bad_alloc&) {  // before anything was written
  }
  return nullptr;
}

// To set a thread's device makes a context on it, also when the one before is set again: where the
// caller's is another than the first GPU's, a thread of our own has it.
bool multiply_on_their_device(const Product& product) {
  const KeepDevice keep;  // GPUs that take the place of one that is lost change it
  if (gpus->empty() || gpus->front()->device() == keep.device()) {
    return multiply_on_those_left(product);
  }
  Apart call{&product, host::num_threads()};
  pthread_t thread;
  if (!host::start_thread(multiply_apart, &call, &thread)) return false;
  pthread_join(thread, nullptr);
  return call.done;
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
  if (!possible) return false;
  try {
    if (gpus == nullptr) gpus = new std::vector<Gpu*>(find_gpus());
    possible = !gpus->empty();
    return multiply_on_their_device(product);
  } catch (const GpuFailure& failure) {  // of a question about devices
    possible = false;
    say_lost(nullptr, failure.why, "the host");
  } catch (const std::bad_alloc&) {  // before anything was written
  }
  return false;
}

}  // namespace mygemm::blas
