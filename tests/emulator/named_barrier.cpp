// Emulator of the CUDA runtime: a block's named barriers (bar.sync, bar.red). See execution.h.
#include "execution.h"
#include "resident.h"

namespace emulator {

bool any_at_barrier(int number, int count, bool value, Site site) {
  if (number < 1 || number > 15) stop("bar.red of barrier %d", number);
  if (count % 32 != 0 || count < 32 || count > static_cast<int>(num_threads)) {
    stop("bar.red for %d threads", count);
  }
  NamedBarrier& barrier = blocks[resident_block()].named_barriers[static_cast<size_t>(number)];
  if (barrier.arrived == 0) barrier.count = count;
  if (barrier.count != count) {
    stop("bar.red for %d threads, and for %d in others", count, barrier.count);
  }
  const unsigned phase = barrier.phase;
  if (value) barrier.any[phase % 2] = true;
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    barrier.any[++barrier.phase % 2] = false;
    wake_waiters(&barrier);
  }
  while (barrier.phase == phase) {
    wait_for_object(kNamedBarrier, &barrier, static_cast<unsigned>(number), site);
  }
  return barrier.any[phase % 2];
}

}  // namespace emulator
