// Runs of memory that begin and end anywhere, moved between global and shared memory by whole
// aligned packs. Device only.
#pragma once

#include "ptx/cp_async.cuh"

namespace mygemm {

// A run in global memory, and its copy in shared memory at the same distance from a multiple of 16
// bytes. The packs that it shares with its neighbours are moved by single elements: memory outside
// the run is neither read nor written. `threads` threads, 16 or more, copy it together: each calls
// with its number among them.
struct Run {
  static constexpr int kPackBytes = 16;
  char* global;
  char* shared;
  int first, packs, bytes;  // `first` bytes, then packs, then fewer bytes than a pack

  // `place` is a multiple of 16.
  __device__ __forceinline__ Run(char* memory, char* place, int size)
      : global(memory), shared(place), bytes(size) {
    const auto begin = static_cast<int>(reinterpret_cast<uintptr_t>(memory) % kPackBytes);
    shared += begin;
    first = -begin & (kPackBytes - 1);
    first = first < size ? first : size;
    packs = (size - first) / kPackBytes;
  }

  // Starts the copy to shared memory: it is complete after cp_async_wait_all() and a barrier.
  // kReused: other blocks read the same, so that L1 should keep it.
  template <bool kReused = false>
  __device__ __forceinline__ void load(int element_bytes, int thread, int threads) const {
#pragma unroll 2
    for (int i = thread; i < packs; i += threads) {
      const int at = first + i * kPackBytes;
      if constexpr (kReused) {
        ptx::cp_async_16_kept(shared + at, global + at);
      } else {
        ptx::cp_async_16(shared + at, global + at, true);
      }
    }
    const int at = end_element(thread, element_bytes);
    if (at < 0) return;
    copy_element(shared + at, global + at, element_bytes);
  }
  __device__ __forceinline__ void store(int element_bytes, int thread, int threads) const {
#pragma unroll 4
    for (int i = thread; i < packs; i += threads) {
      const int at = first + i * kPackBytes;
      *reinterpret_cast<uint4*>(global + at) = *reinterpret_cast<const uint4*>(shared + at);
    }
    const int at = end_element(thread, element_bytes);
    if (at < 0) return;
    copy_element(global + at, shared + at, element_bytes);
  }

  static __device__ __forceinline__ void copy_element(char* to, const char* from,
                                                      int element_bytes) {
    if (element_bytes == 4) {
      *reinterpret_cast<uint32_t*>(to) = *reinterpret_cast<const uint32_t*>(from);
    } else {
      *reinterpret_cast<uint16_t*>(to) = *reinterpret_cast<const uint16_t*>(from);
    }
  }

 private:
  // The byte at which the element of the ends begins that this thread copies, or -1. There are at
  // most 7 elements before the packs and as many after them.
  __device__ __forceinline__ int end_element(int thread, int element_bytes) const {
    if (thread >= 16) return -1;
    const int byte = thread % 8 * element_bytes;
    if (thread < 8) return byte < first ? byte : -1;
    const int at = first + packs * kPackBytes + byte;
    return at < bytes ? at : -1;
  }
};

}  // namespace mygemm
