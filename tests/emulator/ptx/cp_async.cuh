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
