// Ops tests for a GPU only: see occupier.h.
#include "occupier.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

namespace mygemm_tests {
namespace {

constexpr long long kMostCycles = 200'000'000'000;  // about 100 s, if nothing ends the blocks
constexpr auto kStartLimit = std::chrono::seconds(20);

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

int attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

__global__ void occupy(volatile unsigned* flags) {
  flags[1 + blockIdx.x] = 1;
  __threadfence_system();
  const long long start = clock64();
  while (flags[0] == 0 && clock64() - start < kMostCycles) __nanosleep(1000);
}

}  // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

Occupier::Occupier(int free) : blocks_(std::max(0, multiprocessors() - free)) {
  if (blocks_ == 0) return;
  const size_t count = static_cast<size_t>(blocks_) + 1;
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(unsigned), cudaHostAllocMapped));
  flags_ = static_cast<volatile unsigned*>(memory);
  for (size_t i = 0; i < count; ++i) flags_[i] = 0;
  try {
    launch();
  } catch (...) {
    release();
    throw;
  }
}

void Occupier::launch() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_ = stream;
  const int shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  check(cudaFuncSetAttribute(occupy, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  void* flags = nullptr;
  check(cudaHostGetDevicePointer(&flags, const_cast<unsigned*>(flags_), 0));
  occupy<<<static_cast<unsigned>(blocks_), 32, static_cast<size_t>(shared), stream>>>(
      static_cast<volatile unsigned*>(flags));
  check(cudaGetLastError());
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  for (int block = 0; block < blocks_;) {
    if (flags_[1 + block] != 0) {
      ++block;
    } else if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("block " + std::to_string(block) + " of the occupier did not start");
    }
  }
}

void Occupier::release() {
  if (flags_ == nullptr) return;
  flags_[0] = 1;
  if (stream_ != nullptr) {
    static_cast<void>(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)));
    static_cast<void>(cudaStreamDestroy(static_cast<cudaStream_t>(stream_)));
  }
  static_cast<void>(cudaFreeHost(const_cast<unsigned*>(flags_)));
  flags_ = nullptr;
  stream_ = nullptr;
}

Occupier::~Occupier() { release(); }

}  // namespace mygemm_tests
