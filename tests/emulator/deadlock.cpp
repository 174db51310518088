// Emulator of the CUDA runtime: reports of blocks that cannot finish. See resident.h.
#include <cstdio>
#include <cstring>
#include <string>

#include "mbarrier.h"
#include "resident.h"
#include "transfer.h"

namespace emulator {
namespace {

std::string describe(const Thread& thread) {
  if (thread.state == State::kExited) return "has exited";
  char text[512];
  if (std::strcmp(thread.name, kFlag) == 0) {
    std::snprintf(text, sizeof text, "waits for %s, %s:%d", kFlag, thread.site.file,
                  thread.site.line);
    return text;
  }
  if (std::strcmp(thread.name, kNamedBarrier) == 0) {
    std::snprintf(text, sizeof text, "waits at %s %u, %s:%d", kNamedBarrier, thread.mask,
                  thread.site.file, thread.site.line);
    return text;
  }
  std::snprintf(text, sizeof text,
                thread.object ? "waits at %s, parity %u, %s:%d" : "waits at %s, mask %08x, %s:%d",
                thread.name, thread.mask, thread.site.file, thread.site.line);
  return text;
}

void report_block(unsigned block) {
  const uint3& index = blocks[block].index;
  std::fprintf(stderr, "emulator: block (%u, %u, %u) cannot finish:\n", index.x, index.y, index.z);
  const Thread* const of_block = threads_of(block);
  for (unsigned first = 0, next = 0; first < num_threads; first = next) {
    const std::string text = describe(of_block[first]);
    while (next < num_threads && describe(of_block[next]) == text) ++next;
    std::fprintf(stderr, "  threads %u to %u: each %s\n", first, next - 1, text.c_str());
  }
  report_barriers(block);
  report_transfers(block);
}

}  // namespace

void report_blocks(BlockRange range) {
  for (unsigned block = range.first; block < range.end; ++block) report_block(block);
}

}  // namespace emulator
