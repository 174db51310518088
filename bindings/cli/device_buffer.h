// Memory for the matrices of a handle's backend: a GPU's or the host's. The only place of the
// command that uses CUDA; built without MYGEMM_CLI_WITH_CUDA it has host memory only.
#pragma once

#include <cstddef>
#include <string>

#include "bytes.h"

namespace mygemm::cli {

enum class Memory { kHost, kDevice };

// Whether this build of the command can use kDevice.
bool has_device_memory();

// Waits until everything enqueued on the device is done. Nothing to wait for on the host.
void synchronize(Memory memory);

// The current CUDA device in words; empty where the build has no CUDA.
std::string describe_device();

class Buffer {
 public:
  // Uninitialised.
  Buffer(Memory memory, size_t bytes);
  // A buffer with the given content: on the host the same memory, on a device a copy.
  Buffer(Memory memory, Bytes content);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  size_t size() const { return size_; }
  void* data() { return device_ != nullptr ? device_ : host_.data(); }
  const void* data() const { return device_ != nullptr ? device_ : host_.data(); }

  // The content of the buffer after all work that was enqueued on it. On the host it is the
  // buffer's own memory; the buffer is empty afterwards.
  Bytes take();

 private:
  Bytes host_;
  void* device_ = nullptr;
  size_t size_;
};

}  // namespace mygemm::cli
