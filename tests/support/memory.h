// Test support: memory for the matrices of the backend under test, with guards on both sides. The
// same source serves three builds of the tests: the host backend, the CUDA kernels on the emulator,
// and a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mygemm_tests {

enum class Build { kHost, kEmulated, kGpu };

extern const Build kBuild;

// The byte of untouched memory: a NaN in every floating-point type.
inline constexpr unsigned char kPoison = 0xff;

// `bytes` bytes, poisoned at first, at an address that is `offset` more than a multiple of
// `alignment`. Before them lies a band of poison. After them, on a GPU, another band; elsewhere an
// unmapped page, so that even a read past the end is caught (fewer than `alignment` bytes of slack
// may come first and are watched like a band).
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t bytes, size_t offset = 0, size_t alignment = 16);
  DeviceBuffer(const void* contents, size_t bytes, size_t offset);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }

  void upload(const void* from, size_t first_byte, size_t count);
  void upload(const void* from) { upload(from, 0, bytes_); }
  void download(void* to, size_t first_byte, size_t count) const;
  void download(void* to) const { download(to, 0, bytes_); }

  // All of it as it was at first.
  void poison();

  // False where something was written outside the buffer.
  bool bands_intact() const;

 private:
  unsigned char* region_ = nullptr;
  size_t region_bytes_ = 0;
  unsigned char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Waits for all enqueued work; throws where the device reports an error.
void synchronize();

// Bytes that can be allocated now; SIZE_MAX off the GPU, where tests are small.
size_t available_bytes();

}  // namespace mygemm_tests
