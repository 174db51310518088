// Everything mygemm-bench asks of CUDA, so that no other file of it includes a CUDA header.
// gpu.cu implements it; gpu_absent.cpp stands in where CUDA is not built. Errors are thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "mygemm/mygemm.h"

namespace bench::gpu {

struct Info {
  std::string name;
  std::string pci_bus_id;
  int compute_capability;  // 10 * major + minor
  int num_sms;
  int64_t l2_bytes;
  int64_t memory_bytes;
  int driver_version;  // CUDA's numbers: 13000 is 13.0
  int runtime_version;
};

// True where there is a device; never throws.
bool available();
// Creates the context, so that no measured call does, and the stream.
void initialise();
Info info();
int64_t free_memory();

// The one stream that everything is enqueued on; made by initialise(), does not wait for the
// legacy stream.
mygemmStream_t stream();
void synchronise();

void* allocate(size_t bytes);
void release(void* data) noexcept;
// Synchronous.
void copy_to_host(void* host, const void* device, size_t bytes);
void copy_to_device(void* device, const void* host, size_t bytes);
// Asynchronous.
void copy_on_device(void* to, const void* from, size_t bytes);
void fill_bytes(void* data, int value, size_t bytes);
void fill_random(void* data, mygemmDataType_t type, int64_t count, uint32_t seed);

// Seconds between events around what `work` enqueues. `lead_in` is enqueued before the first event:
// it keeps the device busy while the host enqueues the rest, so that launching is not timed.
double time_stream(const std::function<void()>& lead_in, const std::function<void()>& work);

// A CUDA graph of the work that `work` enqueues: replays have no launch cost between calls.
class Graph {
 public:
  explicit Graph(const std::function<void()>& work);
  ~Graph();
  Graph(Graph&& other) noexcept : executable_(other.executable_) { other.executable_ = nullptr; }
  Graph(const Graph&) = delete;  // owns a cudaGraphExec_t
  Graph& operator=(const Graph&) = delete;

  // Enqueues a replay.
  void launch() const;

 private:
  void* executable_ = nullptr;
};

}  // namespace bench::gpu
