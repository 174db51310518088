// gpu.h for CUDA: the only file of mygemm-bench that calls the CUDA runtime. Knows nothing of
// mygemm but the numbers of its data types.
#include "gpu.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "values.h"

namespace bench::gpu {
namespace {

cudaStream_t the_stream = nullptr;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    cudaGetLastError();  // an error that can be cleared must not be reported by the next call
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

__global__ void fill_random_kernel(void* data, mygemmDataType_t type, int64_t count,
                                   uint32_t seed) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    store_random(data, type, i, seed);
  }
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;  // owns a cudaEvent_t
  Event& operator=(const Event&) = delete;
  void record() { check(cudaEventRecord(event_, the_stream), "cudaEventRecord"); }
  void wait() { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

bool available() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  cudaGetLastError();
  return found;
}

void initialise() {
  if (!available()) {
    throw std::runtime_error("there is no CUDA device that can be used here: use --backend host");
  }
  check(cudaFree(nullptr), "cudaFree(0)");
  if (the_stream == nullptr) {
    check(cudaStreamCreateWithFlags(&the_stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
}

Info info() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  char bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device), "cudaDeviceGetPCIBusId");
  Info info{};
  info.name = properties.name;
  info.pci_bus_id = bus_id;
  info.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                            attribute(cudaDevAttrComputeCapabilityMinor, device);
  info.num_sms = attribute(cudaDevAttrMultiProcessorCount, device);
  info.l2_bytes = attribute(cudaDevAttrL2CacheSize, device);
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  check(cudaDriverGetVersion(&info.driver_version), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&info.runtime_version), "cudaRuntimeGetVersion");
  return info;
}

int64_t free_memory() {
  size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return static_cast<int64_t>(free_bytes);
}

mygemmStream_t stream() { return the_stream; }

void synchronise() { check(cudaStreamSynchronize(the_stream), "cudaStreamSynchronize"); }

void* allocate(size_t bytes) {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "cudaMalloc");
  return data;
}

void release(void* data) noexcept { cudaFree(data); }

void copy_to_host(void* host, const void* device, size_t bytes) {
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, the_stream),
        "cudaMemcpyAsync to the host");
  synchronise();
}

void copy_to_device(void* device, const void* host, size_t bytes) {
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, the_stream),
        "cudaMemcpyAsync to the device");
  synchronise();
}

void copy_on_device(void* to, const void* from, size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, the_stream),
        "cudaMemcpyAsync on the device");
}

void fill_bytes(void* data, int value, size_t bytes) {
  check(cudaMemsetAsync(data, value, bytes, the_stream), "cudaMemsetAsync");
}

void fill_random(void* data, mygemmDataType_t type, int64_t count, uint32_t seed) {
  if (count == 0) {
    return;
  }
  constexpr int kThreads = 256;
  const int64_t blocks = std::min<int64_t>((count + kThreads - 1) / kThreads, 8192);
  fill_random_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, the_stream>>>(data, type, count,
                                                                                 seed);
  check(cudaGetLastError(), "fill_random_kernel");
}

double time_stream(const std::function<void()>& lead_in, const std::function<void()>& work) {
  Event start, stop;
  lead_in();
  start.record();
  work();
  stop.record();
  stop.wait();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

Graph::Graph(const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(the_stream, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(the_stream, &graph);  // ends the capture; the failure is that of `work`
    cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(the_stream, &graph), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(error, "cudaGraphInstantiate");
  executable_ = executable;
  check(cudaGraphUpload(executable, the_stream), "cudaGraphUpload");
}

Graph::~Graph() {
  if (executable_ != nullptr) {
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
  }
}

void Graph::launch() const {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), the_stream), "cudaGraphLaunch");
}

}  // namespace bench::gpu
