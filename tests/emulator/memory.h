// Emulator of the CUDA runtime: device memory. An allocation starts at a multiple of 256 bytes, as
// CUDA promises, and lies against the end of its pages; pages that cannot be touched follow and
// precede it. The address sanitizer knows its exact end. Outside kernels and copies, the first
// kProtectedBytes of an allocation cannot be touched: host code that follows a device pointer
// crashes, as on a machine with a GPU. (With all of it, half of the time of products with a large
// workspace was the change of its pages at every launch and copy.)
#pragma once

#include <atomic>
#include <cstddef>

namespace emulator {

inline constexpr size_t kDeviceMemoryBytes = size_t{4} << 30;
inline constexpr size_t kProtectedBytes = size_t{64} << 10;

// Memory filled with 0xFF (NaN in every floating-point type), or nullptr where none is left or a
// test allows less.
void* allocate(size_t bytes);
extern std::atomic<size_t> largest_allocation;
// False where `data` is not the start of an allocation.
bool deallocate(void* data);
size_t allocated_bytes();

enum class Place { kHost, kDevice, kOutOfBounds };
// kOutOfBounds: begins in an allocation and ends beyond it.
Place place_of(const void* data, size_t bytes);

// Device memory can be accessed during the lifetime of such an object: all of it, or the
// allocations that two addresses belong to. Not thread-safe: the runtime holds its lock.
class DeviceAccess {
 public:
  DeviceAccess();
  explicit DeviceAccess(const void* one, const void* other = nullptr);
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;

 private:
  void protect(int protection) const;

  bool all_ = false;
  const void* addresses_[2] = {};
};

}  // namespace emulator
