// Host memory aligned for kernels: to 64 bytes; uninitialised, owned by one object.
// The bottom of the mygemm command: includes nothing of the project.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace mygemm::cli {

class Bytes {
 public:
  static constexpr size_t kAlignment = 64;

  Bytes() = default;

  // Never null, even for 0 bytes, so that a pointer to an empty matrix is a legal argument.
  explicit Bytes(size_t size) : size_(size) {
    const size_t rounded = (size / kAlignment + 1) * kAlignment;
    memory_.reset(rounded > size ? std::aligned_alloc(kAlignment, rounded) : nullptr);
    if (memory_ == nullptr) throw std::bad_alloc();
  }

  size_t size() const { return size_; }
  void* data() { return memory_.get(); }
  const void* data() const { return memory_.get(); }

  // The memory as an array of T.
  template <class T>
  std::span<T> as() {
    return {static_cast<T*>(memory_.get()), size_ / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(memory_.get()), size_ / sizeof(T)};
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  size_t size_ = 0;
};

}  // namespace mygemm::cli
