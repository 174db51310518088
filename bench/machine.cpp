// See machine.h.
#include "machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <utility>

#include "gpu.h"
#include "values.h"

namespace bench {
namespace {

constexpr size_t kAlignment = 256;
constexpr int64_t kMaxSets = 1024;  // more copies than a group has calls are never used
constexpr int64_t kMaxRotatedHostBytes = int64_t{256} << 20;  // a server's L3 can be larger still

size_t round_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(':');
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

int64_t last_level_cache_bytes() {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return std::max({l3, l2, 1L << 20});
}

}  // namespace

Machine::Machine(mygemmBackend_t wanted)
    : cuda_(wanted == MYGEMM_BACKEND_CUDA || (wanted == MYGEMM_BACKEND_AUTO && gpu::available())) {
  if (!cuda_) {
    name_ = processor_name();
    processors_ = static_cast<int>(std::thread::hardware_concurrency());
    cache_bytes_ = last_level_cache_bytes();
    return;
  }
  gpu::initialise();
  const gpu::Info info = gpu::info();
  name_ = info.name;
  pci_bus_id_ = info.pci_bus_id;
  compute_capability_ = info.compute_capability;
  processors_ = info.num_sms;
  cache_bytes_ = info.l2_bytes;
  driver_version_ = info.driver_version;
  runtime_version_ = info.runtime_version;
}

int64_t Machine::usable_memory() const {
  const int64_t available =
      cuda_ ? gpu::free_memory()
            : static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return available / 10 * 9;
}

void* Machine::allocate(size_t bytes) const {
  if (cuda_) {
    return gpu::allocate(bytes);
  }
  void* data = std::aligned_alloc(kAlignment, round_up(bytes));
  if (data == nullptr) {
    throw std::bad_alloc();
  }
  return data;
}

void Machine::release(void* data) const noexcept {
  if (cuda_) {
    gpu::release(data);
  } else {
    std::free(data);
  }
}

void Machine::fill_bytes(void* data, int value, size_t bytes) const {
  if (cuda_) {
    gpu::fill_bytes(data, value, bytes);
  } else {
    std::memset(data, value, bytes);
  }
}

void Machine::fill_random(void* data, mygemmDataType_t type, int64_t count, uint32_t seed) const {
  if (cuda_) {
    gpu::fill_random(data, type, count, seed);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    store_random(data, type, i, seed);
  }
}

void Machine::copy(void* to, const void* from, size_t bytes) const {
  if (cuda_) {
    gpu::copy_on_device(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

void Machine::copy_to_host(void* host, const void* from, size_t bytes) const {
  if (cuda_) {
    gpu::copy_to_host(host, from, bytes);
  } else {
    std::memcpy(host, from, bytes);
  }
}

void Machine::copy_from_host(void* to, const void* host, size_t bytes) const {
  if (cuda_) {
    gpu::copy_to_device(to, host, bytes);
  } else {
    std::memcpy(to, host, bytes);
  }
}

void Machine::wait() const {
  if (cuda_) {
    gpu::synchronise();
  }
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(machine_, other.machine_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
}

RotatedOperand::RotatedOperand(const Machine& machine, mygemmDataType_t type, int64_t count,
                               int64_t lead, int64_t sets, uint32_t seed)
    : machine_(&machine),
      type_(type),
      count_(count),
      sets_(sets),
      seed_(seed),
      bytes_(static_cast<size_t>(count) * type_bytes(type)),
      lead_bytes_(static_cast<size_t>(lead) * type_bytes(type)),
      pitch_(round_up(bytes_)),
      memory_(machine, pitch_ * static_cast<size_t>(sets)) {
  refill();
  spread();
}

void* RotatedOperand::at(int64_t call) const {
  return memory_.data() + static_cast<size_t>(call % sets_) * pitch_ + lead_bytes_;
}

void RotatedOperand::spread() const {
  for (int64_t set = 1; set < sets_; ++set) {
    machine_->copy(memory_.data() + static_cast<size_t>(set) * pitch_, memory_.data(), bytes_);
  }
}

void RotatedOperand::replace(const void* contents) const {
  machine_->copy_from_host(memory_.data(), contents, bytes_);
  spread();
}

void RotatedOperand::refill() const { machine_->fill_random(memory_.data(), type_, count_, seed_); }

int64_t rotation_sets(const Machine& machine, int64_t bytes_per_set, bool hot) {
  if (hot) {
    return 1;
  }
  int64_t wanted_bytes = 2 * machine.cache_bytes();
  if (!machine.cuda()) {
    wanted_bytes = std::min(wanted_bytes, kMaxRotatedHostBytes);
  }
  const int64_t sets = wanted_bytes / std::max<int64_t>(bytes_per_set, 1) + 1;
  const int64_t affordable = machine.usable_memory() / std::max<int64_t>(bytes_per_set, 1);
  return std::clamp<int64_t>(sets, 1, std::clamp<int64_t>(affordable, 1, kMaxSets));
}

PointerArrays::PointerArrays(const Machine& machine, const RotatedOperand& operand, int64_t sets,
                             int64_t batch_count, int64_t stride_bytes)
    : sets_(sets),
      batch_count_(batch_count),
      memory_(machine, static_cast<size_t>(sets * batch_count) * sizeof(void*)) {
  std::vector<void*> pointers;
  for (int64_t set = 0; set < sets; ++set) {
    std::byte* matrix = static_cast<std::byte*>(operand.at(set));
    for (int64_t i = 0; i < batch_count; ++i) {
      pointers.push_back(matrix + i * stride_bytes);
    }
  }
  machine.copy_from_host(memory_.data(), pointers.data(), memory_.bytes());
}

void* PointerArrays::at(int64_t call) const {
  return memory_.data() + static_cast<size_t>(call % sets_ * batch_count_) * sizeof(void*);
}

}  // namespace bench
