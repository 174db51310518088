// The machine that a run measures, the host or the current GPU, behind one set of calls for memory,
// data and synchronisation. Above gpu.h; independent of operations, peers and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mygemm/mygemm.h"

namespace bench {

class Machine {
 public:
  // AUTO takes the GPU where there is one. Creates the CUDA context.
  explicit Machine(mygemmBackend_t wanted);

  bool cuda() const { return cuda_; }
  const std::string& name() const { return name_; }
  const std::string& pci_bus_id() const { return pci_bus_id_; }   // empty on the host
  int compute_capability() const { return compute_capability_; }  // 0 on the host
  int processors() const { return processors_; }        // multiprocessors, or threads of the host
  int64_t cache_bytes() const { return cache_bytes_; }  // the last level: a GPU's L2
  int driver_version() const { return driver_version_; }
  int runtime_version() const { return runtime_version_; }

  // Bytes that a measurement may allocate.
  int64_t usable_memory() const;
  void* allocate(size_t bytes) const;
  void release(void* data) const noexcept;
  void fill_bytes(void* data, int value, size_t bytes) const;
  void fill_random(void* data, mygemmDataType_t type, int64_t count, uint32_t seed) const;
  // A copy, the peer of memory-bound kernels: asynchronous on a GPU, synchronous on the host.
  void copy(void* to, const void* from, size_t bytes) const;
  void copy_to_host(void* host, const void* from, size_t bytes) const;
  void copy_from_host(void* to, const void* host, size_t bytes) const;
  void wait() const;

 private:
  bool cuda_;
  std::string name_, pci_bus_id_;
  int compute_capability_ = 0, processors_ = 0;
  int64_t cache_bytes_ = 0;
  int driver_version_ = 0, runtime_version_ = 0;
};

// Memory of a machine, aligned to 256 bytes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Machine& machine, size_t bytes)
      : machine_(&machine),
        bytes_(bytes),
        data_(static_cast<std::byte*>(bytes == 0 ? nullptr : machine.allocate(bytes))) {}
  ~Buffer() {
    if (data_ != nullptr) {
      machine_->release(data_);
    }
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(static_cast<Buffer&&>(other));
    swap(taken);
    return *this;
  }
  Buffer(const Buffer&) = delete;  // owns memory
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept;

  const Machine* machine_ = nullptr;
  size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

// `sets` copies of one operand with random values; call i uses copy i modulo sets, so that it finds
// nothing of its data in a cache that is smaller than all the copies.
class RotatedOperand {
 public:
  // `count` elements a copy, of `type`. `lead` elements lie before the address that at() gives
  // (operands of negative stride).
  RotatedOperand(const Machine& machine, mygemmDataType_t type, int64_t count, int64_t lead,
                 int64_t sets, uint32_t seed);

  void* at(int64_t call) const;
  // The first byte of copy 0 and the bytes of a copy, for checks.
  std::byte* first() const { return memory_.data(); }
  size_t bytes() const { return bytes_; }
  void refill() const;  // restores copy 0
  // Gives every copy these bytes, as many as it has.
  void replace(const void* contents) const;

 private:
  void spread() const;  // gives every copy the bytes of copy 0

  const Machine* machine_;
  mygemmDataType_t type_;
  int64_t count_, sets_;
  uint32_t seed_;
  size_t bytes_, lead_bytes_, pitch_;
  Buffer memory_;
};

// The number of copies with which the working set exceeds twice the last-level cache; 1 where
// `hot`.
int64_t rotation_sets(const Machine& machine, int64_t bytes_per_set, bool hot);

// The arrays of pointers of a pointer-batched call, copied to the machine's memory.
class PointerArrays {
 public:
  PointerArrays() = default;
  PointerArrays(const Machine& machine, const RotatedOperand& operand, int64_t sets,
                int64_t batch_count, int64_t stride_bytes);
  void* at(int64_t call) const;

 private:
  int64_t sets_ = 1, batch_count_ = 0;
  Buffer memory_;
};

}  // namespace bench
