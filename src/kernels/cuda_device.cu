// The device traits that the CUDA runtime gives, and its errors as statuses.
#include <cuda_runtime.h>

#include <cstdio>

#include "context.h"

namespace mygemm {
namespace {

// Stands for every kernel when asking whether the library holds code for a device.
__global__ void probe() {}

// FFMA lanes of one multiprocessor.
int fp32_lanes(int cc) { return cc == 75 || cc == 80 ? 64 : 128; }

// Bandwidth of a device copy over the memory's peak, which is clock times bus width.
constexpr double kCopyShare = 0.88;

// Makes a device current until the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    cudaGetDevice(&previous_);
    if (previous_ != ordinal) cudaSetDevice(ordinal);
  }
  ~CurrentDevice() { cudaSetDevice(previous_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

// Allows this thread what a capture forbids, until the end of the scope: allocations are no part of
// the graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

Status attribute(int ordinal, cudaDeviceAttr which, int* value) {
  CUDA_TRY(cudaDeviceGetAttribute(value, which, ordinal));
  return MYGEMM_STATUS_SUCCESS;
}

// Counts the clusters of each size that run at once, one block a multiprocessor: none where the
// runtime cannot tell, or cannot schedule them (under MPS, or on part of a GPU).
void count_clusters(DeviceTraits* traits) {
  if (traits->cc < 90) return;
  const auto* kernel = reinterpret_cast<const void*>(probe);
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           traits->shared_per_block) != cudaSuccess ||
      cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
          cudaSuccess) {
    cudaGetLastError();
    return;
  }
  for (unsigned blocks = 1, size = 0; blocks <= 16; blocks *= 2, ++size) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(512);
    config.dynamicSmemBytes = static_cast<size_t>(traits->shared_per_block);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaOccupancyMaxActiveClusters(&traits->clusters[size], probe, &config) != cudaSuccess) {
      cudaGetLastError();
      traits->clusters[size] = 0;
    }
  }
}

Status require_code(const DeviceTraits& traits) {
  cudaFuncAttributes attributes;
  const cudaError_t error =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(probe));
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();  // clear it: it is ours, not the caller's
    return fail(MYGEMM_STATUS_ARCH_MISMATCH,
                "this libmygemm.so holds no code for %s (compute capability %d.%d)", traits.name,
                traits.cc / 10, traits.cc % 10);
  }
  CUDA_TRY(error);
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace

Status from_cuda(int cuda_error, const char* call) {
  if (cuda_error == cudaSuccess) return MYGEMM_STATUS_SUCCESS;
  cudaGetLastError();
  const auto error = static_cast<cudaError_t>(cuda_error);
  return fail(MYGEMM_STATUS_EXECUTION_FAILED, "%s returned %s: %s", call, cudaGetErrorName(error),
              cudaGetErrorString(error));
}

namespace cuda {

int device_count() {
  int count = 0;
  // 35 (no or an old driver) and 100 (no device) leave the count unwritten.
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

Status current_device(int* ordinal) {
  CUDA_TRY(cudaGetDevice(ordinal));
  return MYGEMM_STATUS_SUCCESS;
}

Status read_traits(int ordinal, DeviceTraits* traits) {
  *traits = {};
  cudaDeviceProp properties;
  CUDA_TRY(cudaGetDeviceProperties(&properties, ordinal));
  std::snprintf(traits->name, sizeof traits->name, "%.63s", properties.name);
  traits->cc = 10 * properties.major + properties.minor;
  traits->num_sms = properties.multiProcessorCount;
  traits->shared_per_block = static_cast<int>(properties.sharedMemPerBlockOptin);
  traits->sm = {properties.regsPerMultiprocessor,
                static_cast<int>(properties.sharedMemPerMultiprocessor),
                properties.maxThreadsPerMultiProcessor, properties.maxBlocksPerMultiProcessor};
  traits->l2_bytes = properties.l2CacheSize;
  if (const DeviceTraits* known = find_device(traits->name)) {
    traits->fp32_flops = known->fp32_flops / known->num_sms * traits->num_sms;
    traits->memory_bandwidth = known->memory_bandwidth;
  } else {
    int clock_khz = 0, memory_khz = 0, bus_bits = 0;
    RETURN_IF_ERROR(attribute(ordinal, cudaDevAttrClockRate, &clock_khz));
    RETURN_IF_ERROR(attribute(ordinal, cudaDevAttrMemoryClockRate, &memory_khz));
    RETURN_IF_ERROR(attribute(ordinal, cudaDevAttrGlobalMemoryBusWidth, &bus_bits));
    traits->fp32_flops = 2e3 * clock_khz * fp32_lanes(traits->cc) * traits->num_sms;
    traits->memory_bandwidth = 2e3 * memory_khz * bus_bits / 8 * kCopyShare;
  }
  const CurrentDevice scope(ordinal);
  RETURN_IF_ERROR(require_code(*traits));
  count_clusters(traits);
  return MYGEMM_STATUS_SUCCESS;
}

// The legacy stream is not asked: while a stream that it waits for is captured, that is an error.
unsigned long long stream_number(mygemmStream_t stream) {
  unsigned long long number = 1;
  if (!stream || stream == cudaStreamLegacy) return number;
  if (cudaStreamGetId(stream, &number) != cudaSuccess) cudaGetLastError();
  return number;
}

// An error (the legacy stream, while a stream that it waits for is captured) is no capture.
bool is_capturing(mygemmStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return status != cudaStreamCaptureStatusNone;
}

bool allocate_workspace(int device, size_t bytes, void** memory, void** event) {
  const CurrentDevice scope(device);
  const RelaxedCapture capture;
  if (cudaMalloc(memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  cudaEvent_t made = nullptr;
  if (cudaEventCreateWithFlags(&made, cudaEventDisableTiming) != cudaSuccess) {
    cudaGetLastError();
    cudaFree(*memory);
    return false;
  }
  *event = made;
  return true;
}

void free_workspace(void* memory, void* event) {
  const RelaxedCapture capture;
  cudaFree(memory);
  cudaEventDestroy(static_cast<cudaEvent_t>(event));
  cudaGetLastError();  // at the process's end the runtime may be gone, and the memory with it
}

void record(void* event, mygemmStream_t stream) {
  if (cudaEventRecord(static_cast<cudaEvent_t>(event), stream) != cudaSuccess) cudaGetLastError();
}

bool has_passed(void* event) {
  const RelaxedCapture capture;
  if (cudaEventQuery(static_cast<cudaEvent_t>(event)) == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

void wait_for(void* event, mygemmStream_t stream) {
  if (cudaStreamWaitEvent(stream, static_cast<cudaEvent_t>(event), 0) != cudaSuccess) {
    cudaGetLastError();
  }
}

}  // namespace cuda
}  // namespace mygemm
