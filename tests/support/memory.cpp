// Test support: see memory.h. Host memory comes from mmap with an inaccessible page on both sides;
// device memory from cudaMalloc, real or emulated.
#include "support/memory.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(MYGEMM_TESTS_CUDA)
#include <cuda_runtime.h>
#else
#include <sys/mman.h>
#endif

namespace mygemm_tests {

#if defined(MYGEMM_TESTS_EMULATED)
const Build kBuild = Build::kEmulated;
#elif defined(MYGEMM_TESTS_CUDA)
const Build kBuild = Build::kGpu;
#else
const Build kBuild = Build::kHost;
#endif

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBand = 1024;

#if defined(MYGEMM_TESTS_CUDA)

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
  }
}

// Streams of tests do not wait for the default stream, on which cudaMemset() and copies from
// pageable memory may still run when they return: on a busy GPU a workspace was poisoned while a
// product used it.
void await_default_stream() {
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

void fill_with_poison(unsigned char* region, size_t bytes) {
  check(cudaMemset(region, kPoison, bytes), "cudaMemset");
  await_default_stream();
}

unsigned char* allocate(size_t bytes) {
  void* region = nullptr;
  check(cudaMalloc(&region, bytes), "cudaMalloc");
  fill_with_poison(static_cast<unsigned char*>(region), bytes);
  return static_cast<unsigned char*>(region);
}

// A test that failed on a device error must not fail again while it unwinds.
void release(unsigned char* region, size_t) { static_cast<void>(cudaFree(region)); }

void copy_to(void* to, const void* from, size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  await_default_stream();
}

void copy_from(void* to, const void* from, size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

#else

void fill_with_poison(unsigned char* region, size_t bytes) { std::memset(region, kPoison, bytes); }

unsigned char* allocate(size_t bytes) {
  void* mapped = mmap(nullptr, bytes + 2 * kPage, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  unsigned char* region = static_cast<unsigned char*>(mapped) + kPage;
  if (mprotect(region, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  fill_with_poison(region, bytes);
  return region;
}

void release(unsigned char* region, size_t bytes) { munmap(region - kPage, bytes + 2 * kPage); }

void copy_to(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void copy_from(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

#endif

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

DeviceBuffer::DeviceBuffer(size_t bytes, size_t offset, size_t alignment) : bytes_(bytes) {
  region_bytes_ = round_up(kBand + offset + bytes + alignment, kPage);
  if (kBuild == Build::kGpu) region_bytes_ += kBand;
  region_ = allocate(region_bytes_);
  if (kBuild == Build::kGpu) {
    data_ = region_ + kBand + offset;
  } else {
    // As late as the alignment allows: the guard page follows the last element.
    const size_t latest = region_bytes_ - bytes - offset;
    data_ = region_ + latest / alignment * alignment + offset;
  }
}

DeviceBuffer::DeviceBuffer(const void* contents, size_t bytes, size_t offset)
    : DeviceBuffer(bytes, offset) {
  upload(contents);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(region_, other.region_);
  std::swap(region_bytes_, other.region_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (region_ != nullptr) release(region_, region_bytes_);
}

void DeviceBuffer::upload(const void* from, size_t first_byte, size_t count) {
  if (count > 0) copy_to(data_ + first_byte, from, count);
}

void DeviceBuffer::download(void* to, size_t first_byte, size_t count) const {
  if (count > 0) copy_from(to, data_ + first_byte, count);
}

void DeviceBuffer::poison() {
  if (bytes_ > 0) fill_with_poison(data_, bytes_);
}

bool DeviceBuffer::bands_intact() const {
  const unsigned char* end = data_ + bytes_;
  std::vector<unsigned char> before(static_cast<size_t>(data_ - region_));
  std::vector<unsigned char> after(static_cast<size_t>(region_ + region_bytes_ - end));
  copy_from(before.data(), region_, before.size());
  if (!after.empty()) copy_from(after.data(), end, after.size());
  for (const auto* band : {&before, &after}) {
    for (const unsigned char byte : *band) {
      if (byte != kPoison) return false;
    }
  }
  return true;
}

void synchronize() {
#if defined(MYGEMM_TESTS_CUDA)
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#endif
}

size_t available_bytes() {
#if defined(MYGEMM_TESTS_CUDA) && !defined(MYGEMM_TESTS_EMULATED)
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return free_bytes;
#else
  return SIZE_MAX;
#endif
}

}  // namespace mygemm_tests
