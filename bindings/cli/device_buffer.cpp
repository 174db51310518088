// Memory of the host or of a GPU, see device_buffer.h.
#include "device_buffer.h"

#include <utility>

#include "error.h"

#ifdef MYGEMM_CLI_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace mygemm::cli {

#ifdef MYGEMM_CLI_WITH_CUDA

namespace {

void check(cudaError_t error, const char* action) {
  if (error != cudaSuccess) throw Error(action, ": ", cudaGetErrorString(error));
}

// Never null: a pointer to an empty matrix is a legal argument.
void* allocate(size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1),
        concat("allocating ", bytes, " bytes on the GPU").c_str());
  return memory;
}

}  // namespace

bool has_device_memory() { return true; }

void synchronize(Memory memory) {
  if (memory == Memory::kDevice) check(cudaDeviceSynchronize(), "running on the GPU");
}

std::string describe_device() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "asking for the current GPU");
  check(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  return concat(properties.name, ", compute capability ", properties.major, ".", properties.minor,
                ", ", properties.multiProcessorCount, " multiprocessors, ",
                properties.totalGlobalMem >> 20, " MiB, L2 ", properties.l2CacheSize >> 20, " MiB");
}

Buffer::Buffer(Memory memory, size_t bytes)
    : host_(memory == Memory::kHost ? Bytes(bytes) : Bytes()),
      device_(memory == Memory::kDevice ? allocate(bytes) : nullptr),
      size_(bytes) {}

Buffer::Buffer(Memory memory, Bytes content) : size_(content.size()) {
  if (memory == Memory::kHost) {
    host_ = std::move(content);
    return;
  }
  device_ = allocate(size_);
  check(cudaMemcpy(device_, content.data(), size_, cudaMemcpyHostToDevice), "copying to the GPU");
}

Buffer::~Buffer() {
  if (device_ != nullptr) cudaFree(device_);
}

Bytes Buffer::take() {
  if (device_ == nullptr) return std::move(host_);
  Bytes content(size_);
  check(cudaMemcpy(content.data(), device_, size_, cudaMemcpyDeviceToHost), "copying from the GPU");
  return content;
}

#else

bool has_device_memory() { return false; }

void synchronize(Memory) {}

std::string describe_device() { return {}; }

Buffer::Buffer(Memory, size_t bytes) : host_(bytes), size_(bytes) {}

Buffer::Buffer(Memory, Bytes content) : host_(std::move(content)), size_(host_.size()) {}

Buffer::~Buffer() = default;

Bytes Buffer::take() { return std::move(host_); }

#endif

Buffer::Buffer(Buffer&& other) noexcept
    : host_(std::move(other.host_)),
      device_(std::exchange(other.device_, nullptr)),
      size_(other.size_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace mygemm::cli
