// Emulator of the CUDA runtime: the running block's place in its cluster and its shared memory, and
// the end of a process in which it breaks a rule. See execution.h.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "device_functions.h"
#include "execution.h"
#include "resident.h"

namespace emulator {

unsigned cluster_rank() { return resident_block() % cluster_blocks(); }

unsigned resident_block(unsigned rank) { return resident_block() - cluster_rank() + rank; }

bool has_ended(unsigned block) { return blocks[block].threads_left == 0; }

void* shared_memory() { return blocks[resident_block()].shared.get(); }

std::byte* shared_address(unsigned block, size_t offset) {
  return static_cast<std::byte*>(blocks[block].shared.get()) + offset;
}

size_t shared_offset(unsigned block, const void* address) {
  return static_cast<size_t>(static_cast<const std::byte*>(address) - shared_address(block, 0));
}

bool in_shared_memory(const void* data, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(shared_memory());
  const auto at = reinterpret_cast<uintptr_t>(data);
  return at >= first && bytes <= shared_bytes() && at - first <= shared_bytes() - bytes;
}

void stop(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "emulator: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, " (block %u, %u, %u, thread %u)\n", blockIdx.x, blockIdx.y, blockIdx.z,
               thread_number());
  std::abort();
}

}  // namespace emulator
