// Emulator of the CUDA runtime: stands in for src/ptx/cp_async.cuh (sm_80).
#pragma once

#include <cstdint>

#include "execution.h"
#include "mbarrier.h"

namespace mygemm::ptx {

template <int kBytes>
void cp_async(void* shared, const void* global, bool valid) {
  if (!emulator::is_multiple(shared, kBytes) || (valid && !emulator::is_multiple(global, kBytes))) {
    emulator::stop("misaligned cp.async of %d bytes, %p to %p", kBytes, global, shared);
  }
  emulator::start_copy(shared, valid ? global : nullptr, kBytes);
}

inline void cp_async_4(void* shared, const void* global, bool valid) {
  cp_async<4>(shared, global, valid);
}

inline void cp_async_16(void* shared, const void* global, bool valid) {
  cp_async<16>(shared, global, valid);
}

inline void cp_async_16_kept(void* shared, const void* global) {
  cp_async<16>(shared, global, true);
}

inline void cp_async_first_of_16(void* shared, const void* global, int valid) {
  if (valid <= 0 || valid >= 4) return cp_async<16>(shared, global, valid > 0);
  if (!emulator::is_multiple(shared, 16) || !emulator::is_multiple(global, 16)) {
    emulator::stop("misaligned cp.async of 16 bytes, %p to %p", global, shared);
  }
  const size_t bytes = sizeof(float) * static_cast<size_t>(valid);
  emulator::start_copy(shared, global, bytes);
  emulator::start_copy(static_cast<char*>(shared) + bytes, nullptr, 16 - bytes);
}

inline void cp_async_commit() { emulator::commit_copies(); }

template <int kPending>
void cp_async_wait() {
  emulator::wait_for_copies(kPending);
}

inline void cp_async_wait_all() {
  emulator::commit_copies();
  emulator::wait_for_copies(0);
}

inline void cp_async_arrive(uint64_t* barrier) {
  cp_async_wait_all();
  emulator::arrive_expecting(barrier, 0);
}

}  // namespace mygemm::ptx
