// Emulator of the CUDA runtime: device memory between guard pages. See memory.h.
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "sanitizer.h"

namespace emulator {
namespace {

constexpr size_t kAlignment = 256;

struct Allocation {
  std::byte* mapping;
  size_t mapped_bytes;  // with both guards
  size_t bytes;
};

std::map<const std::byte*, Allocation, std::less<>>& allocations() {
  static std::map<const std::byte*, Allocation, std::less<>> map;
  return map;
}

size_t total_bytes = 0;

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void protect(const Allocation& allocation, int protection) {
  const size_t bytes = allocation.mapped_bytes - 2 * page_bytes();
  mprotect(allocation.mapping + page_bytes(), std::min(bytes, kProtectedBytes), protection);
}

// The allocation with the last start that is not behind `data`, or nullptr.
const std::pair<const std::byte* const, Allocation>* last_before(const void* data) {
  const auto after = allocations().upper_bound(static_cast<const std::byte*>(data));
  return after == allocations().begin() ? nullptr : &*std::prev(after);
}

}  // namespace

std::atomic<size_t> largest_allocation{SIZE_MAX};

void* allocate(size_t bytes) {
  if (bytes > largest_allocation || bytes > kDeviceMemoryBytes - total_bytes) return nullptr;
  const size_t aligned_bytes = round_up(bytes, kAlignment);
  const size_t mapped_bytes = round_up(aligned_bytes, page_bytes()) + 2 * page_bytes();
  void* mapping =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  // Tests make hundreds of workspaces of 36 MB, and all of it is written: a page at a time, this
  // took up to a twelfth of their time.
  madvise(mapping, mapped_bytes, MADV_HUGEPAGE);
  auto* first = static_cast<std::byte*>(mapping);
  mprotect(first, page_bytes(), PROT_NONE);
  mprotect(first + mapped_bytes - page_bytes(), page_bytes(), PROT_NONE);
  const Allocation allocation{first, mapped_bytes, bytes};
  std::byte* data = first + mapped_bytes - page_bytes() - aligned_bytes;
  std::memset(data, 0xFF, bytes);
  protect(allocation, PROT_NONE);
  poison(first, mapped_bytes);
  unpoison(data, bytes);
  allocations().emplace(data, allocation);
  total_bytes += bytes;
  return data;
}

bool deallocate(void* data) {
  const auto found = allocations().find(static_cast<const std::byte*>(data));
  if (found == allocations().end()) return false;
  const Allocation allocation = found->second;
  allocations().erase(found);
  total_bytes -= allocation.bytes;
  unpoison(allocation.mapping, allocation.mapped_bytes);
  munmap(allocation.mapping, allocation.mapped_bytes);
  return true;
}

size_t allocated_bytes() { return total_bytes; }

Place place_of(const void* data, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  const auto* found = last_before(data);
  if (!found) return Place::kHost;
  const auto& [start, allocation] = *found;
  const auto offset = static_cast<size_t>(first - start);
  if (offset > allocation.bytes) return Place::kHost;
  return bytes <= allocation.bytes - offset ? Place::kDevice : Place::kOutOfBounds;
}

void DeviceAccess::protect(int protection) const {
  if (all_) {
    for (const auto& [data, allocation] : allocations()) emulator::protect(allocation, protection);
    return;
  }
  for (const void* address : addresses_) {
    if (const auto* found = last_before(address)) emulator::protect(found->second, protection);
  }
}

DeviceAccess::DeviceAccess() : all_(true) { protect(PROT_READ | PROT_WRITE); }

DeviceAccess::DeviceAccess(const void* one, const void* other) : addresses_{one, other} {
  protect(PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() { protect(PROT_NONE); }

}  // namespace emulator
