// Emulator of the CUDA runtime: the host functions. See cuda_runtime_api.h. One lock serialises
// everything: grids of different host threads run one after another.
#include "cuda_runtime.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "cuda.h"
#include "device.h"
#include "execution.h"
#include "launch.h"
#include "memory.h"

struct CUstream_st {
  unsigned long long id;
};
struct CUevent_st {};  // only the addresses matter
struct CUmemPoolHandle_st {};

namespace {

using emulator::device;
using emulator::Place;

std::mutex lock;
std::atomic<cudaError_t> sticky_error = cudaSuccess;  // until cudaDeviceReset()
thread_local cudaError_t last_error = cudaSuccess;
thread_local bool context_is_current = false;
thread_local int current_device = 0;
thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;

cudaError_t done(cudaError_t error) {
  if (sticky_error != cudaSuccess) error = sticky_error;
  if (error != cudaSuccess) last_error = error;
  return error;
}

bool is_device(int ordinal) { return ordinal >= 0 && ordinal < emulator::device_count(); }

bool copy_is_legal(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const Place to_place = emulator::place_of(to, bytes);
  const Place from_place = emulator::place_of(from, bytes);
  if (to_place == Place::kOutOfBounds || from_place == Place::kOutOfBounds) return false;
  if (kind == cudaMemcpyDefault) return true;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return to_device == (to_place == Place::kDevice) && from_device == (from_place == Place::kDevice);
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  context_is_current = true;
  if (bytes == 0) return cudaSuccess;
  if (!copy_is_legal(to, from, bytes, kind)) return cudaErrorInvalidValue;
  const emulator::DeviceAccess access(to, from);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

}  // namespace

namespace emulator {

bool has_context() { return context_is_current; }

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::function<void()>& bound_kernel) {
  const std::lock_guard guard(lock);
  context_is_current = true;
  if (sticky_error != cudaSuccess) return done(sticky_error);
  Grid grid;
  const cudaError_t error = read_launch(config, kernel, &grid);
  if (error != cudaSuccess) return done(error);
  if (grid.clustered && active_clusters(grid) == 0) return done(cudaErrorInvalidClusterSize);
  grid.blocks.x = blocks_granted(grid.blocks.x, grid.cluster_blocks);
  grid.kernel = bound_kernel;
  const DeviceAccess access;
  if (!run(grid)) sticky_error = cudaErrorLaunchFailure;
  return done(cudaSuccess);
}

}  // namespace emulator

// ---- kernels ----

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const std::lock_guard guard(lock);
  return done(emulator::set_kernel_attribute(kernel, attribute, value));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const std::lock_guard guard(lock);
  *attributes = {};
  attributes->maxThreadsPerBlock = emulator::kThreadsPerBlock;
  attributes->maxDynamicSharedSizeBytes = emulator::shared_limit(kernel);
  return done(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          size_t shared_bytes) {
  if (threads <= 0 || threads > emulator::kThreadsPerBlock) return done(cudaErrorInvalidValue);
  *blocks = emulator::blocks_per_sm(threads, shared_bytes);
  return done(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  const std::lock_guard guard(lock);
  emulator::Grid grid;
  const cudaError_t error = emulator::read_launch(*config, kernel, &grid);
  if (error != cudaSuccess) return done(error);
  if (device().cc < 90) return done(cudaErrorInvalidClusterSize);
  *clusters = emulator::active_clusters(grid);
  return done(cudaSuccess);
}

// ---- device ----

cudaError_t cudaGetDeviceCount(int* count) {
  *count = emulator::device_count();
  return done(cudaSuccess);
}

cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = current_device;
  return done(cudaSuccess);
}

cudaError_t cudaSetDevice(int ordinal) {
  if (!is_device(ordinal)) return done(cudaErrorInvalidDevice);
  context_is_current = true;
  current_device = ordinal;
  return done(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  if (!is_device(ordinal)) return done(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = emulator::kThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = emulator::kSharedPerBlockDefault; break;
    case cudaDevAttrWarpSize: *value = emulator::kWarpSize; break;
    case cudaDevAttrClockRate: *value = device().clock_khz; break;
    case cudaDevAttrMultiProcessorCount: *value = device().num_sms; break;
    case cudaDevAttrMemoryClockRate: *value = device().memory_clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = device().memory_bus_bits; break;
    case cudaDevAttrL2CacheSize: *value = device().l2_bytes; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = device().threads_per_sm; break;
    case cudaDevAttrComputeCapabilityMajor: *value = device().cc / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = device().cc % 10; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = device().shared_per_sm; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = device().shared_per_block; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = device().blocks_per_sm; break;
    default: return done(cudaErrorInvalidValue);
  }
  return done(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  if (!is_device(ordinal)) return done(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", device().name);
  properties->totalGlobalMem = emulator::kDeviceMemoryBytes;
  properties->sharedMemPerBlock = emulator::kSharedPerBlockDefault;
  properties->sharedMemPerBlockOptin = static_cast<size_t>(device().shared_per_block);
  properties->sharedMemPerMultiprocessor = static_cast<size_t>(device().shared_per_sm);
  properties->major = device().cc / 10;
  properties->minor = device().cc % 10;
  properties->multiProcessorCount = device().num_sms;
  properties->l2CacheSize = device().l2_bytes;
  properties->memoryBusWidth = device().memory_bus_bits;
  properties->maxThreadsPerBlock = emulator::kThreadsPerBlock;
  properties->maxThreadsPerMultiProcessor = device().threads_per_sm;
  properties->maxBlocksPerMultiProcessor = device().blocks_per_sm;
  properties->regsPerMultiprocessor = emulator::kRegistersPerSm;
  properties->warpSize = emulator::kWarpSize;
  return done(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() { return done(cudaSuccess); }

cudaError_t cudaDeviceReset() {
  const std::lock_guard guard(lock);
  sticky_error = cudaSuccess;
  last_error = cudaSuccess;
  return cudaSuccess;
}

// ---- errors ----

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = sticky_error;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    case cudaErrorInvalidClusterSize: return "cudaErrorInvalidClusterSize";
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidDeviceFunction: return "invalid device function";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for execution on the device";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorInvalidClusterSize:
      return "a kernel launch error has occurred due to cluster misconfiguration";
  }
  return "unrecognized error code";
}

// ---- the driver ----

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  if (flags != cudaEnableDefault) return done(cudaErrorInvalidValue);
  *function = nullptr;
  if (std::strcmp(symbol, "cuTensorMapEncodeTiled") != 0) {
    *result = cudaDriverEntryPointSymbolNotFound;
  } else if (version < 12000) {
    *result = cudaDriverEntryPointVersionNotSufficent;
  } else {
    *result = cudaDriverEntryPointSuccess;
    *function = reinterpret_cast<void*>(cuTensorMapEncodeTiled);
  }
  return done(cudaSuccess);
}

// ---- memory ----

cudaError_t cudaMalloc(void** data, size_t bytes) {
  const std::lock_guard guard(lock);
  *data = nullptr;
  context_is_current = true;
  if (bytes == 0) return done(cudaSuccess);
  *data = emulator::allocate(bytes);
  return done(*data ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* data) {
  const std::lock_guard guard(lock);
  return done(!data || emulator::deallocate(data) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const std::lock_guard guard(lock);
  *total_bytes = emulator::kDeviceMemoryBytes;
  *free_bytes = emulator::kDeviceMemoryBytes - emulator::allocated_bytes();
  return done(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard guard(lock);
  return done(copy(to, from, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t) {
  const std::lock_guard guard(lock);
  if (width > to_pitch || width > from_pitch) return done(cudaErrorInvalidValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                   static_cast<const char*>(from) + row * from_pitch, width, kind);
    if (error != cudaSuccess) return done(error);
  }
  return done(cudaSuccess);
}

cudaError_t cudaMemset(void* data, int value, size_t bytes) {
  const std::lock_guard guard(lock);
  context_is_current = true;
  if (bytes == 0) return done(cudaSuccess);
  if (emulator::place_of(data, bytes) != Place::kDevice) return done(cudaErrorInvalidValue);
  const emulator::DeviceAccess access(data);
  std::memset(data, value, bytes);
  return done(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(data, value, bytes);
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  context_is_current = true;
  *data = std::malloc(bytes);
  return done(*data || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return done(cudaSuccess);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (properties->location.id != 0) return done(cudaErrorInvalidDevice);
  static CUmemPoolHandle_st only_pool;
  *pool = &only_pool;
  return done(cudaSuccess);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void*) {
  return done(pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void** data, size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  return pool ? cudaMalloc(data, bytes) : done(cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return cudaFree(data); }

// ---- streams and events ----

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, capture_mode);
  return done(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  static std::atomic<unsigned long long> streams = 1;
  *stream = new CUstream_st{++streams};
  return done(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (!stream) return done(cudaErrorInvalidResourceHandle);
  delete stream;
  return done(cudaSuccess);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = stream && stream != cudaStreamLegacy ? stream->id : 1;
  return done(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return done(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return done(cudaSuccess); }

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned) {
  return done(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return done(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event) return done(cudaErrorInvalidResourceHandle);
  delete event;
  return done(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return done(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return done(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
