// Emulator of the CUDA runtime: stands in for src/ptx/shared.cuh. The storage begins at the start
// of the block's dynamic shared memory, as on a GPU, and ends where the launch said.
#pragma once

#include <cstddef>

#include "execution.h"
#include "vector_types.h"

namespace mygemm {

template <class T>
T& shared_storage() {
  static_assert(alignof(T) <= emulator::kSharedAlignment);
  return *static_cast<T*>(emulator::shared_memory());
}

namespace ptx {

inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(static_cast<const std::byte*>(shared) -
                               static_cast<const std::byte*>(emulator::shared_memory()));
}

inline unsigned load_shared_4(unsigned address) {
  if (address % 4 != 0) emulator::stop("misaligned load of 4 bytes from shared memory");
  return *reinterpret_cast<const unsigned*>(
      static_cast<const std::byte*>(emulator::shared_memory()) + address);
}

inline uint2 load_shared_8(unsigned address) {
  if (address % 8 != 0) emulator::stop("misaligned load of 8 bytes from shared memory");
  return *reinterpret_cast<const uint2*>(static_cast<const std::byte*>(emulator::shared_memory()) +
                                         address);
}

template <class Value>
void store_shared_4(unsigned address, Value value) {
  static_assert(sizeof(Value) == 4);
  if (address % 4 != 0) emulator::stop("misaligned store of 4 bytes to shared memory");
  *reinterpret_cast<Value*>(static_cast<std::byte*>(emulator::shared_memory()) + address) = value;
}

inline void store_shared_8(unsigned address, float first, float second) {
  if (address % 8 != 0) emulator::stop("misaligned store of 8 bytes to shared memory");
  auto* const to =
      reinterpret_cast<float*>(static_cast<std::byte*>(emulator::shared_memory()) + address);
  to[0] = first, to[1] = second;
}

inline float4 load_shared_16(unsigned address) {
  if (address % 16 != 0) emulator::stop("misaligned load of 16 bytes from shared memory");
  return *reinterpret_cast<const float4*>(static_cast<const std::byte*>(emulator::shared_memory()) +
                                          address);
}

}  // namespace ptx

}  // namespace mygemm
