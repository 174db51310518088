// Emulator of the CUDA runtime: barriers that count arrivals and bytes. See mbarrier.h.
#include "mbarrier.h"

#include <cstddef>
#include <cstdio>
#include <map>

#include "device.h"
#include "device_functions.h"

namespace emulator {
namespace {

constexpr uint64_t kBarrierMark = 0x726965727261626D;  // the value in a barrier's own bytes
constexpr unsigned kMostArrivals = (1u << 20) - 1;
constexpr int kMostBytes = (1 << 20) - 1;

struct Barrier {
  unsigned arrivals = 0;          // that a phase takes
  unsigned missing_arrivals = 0;  // of this phase
  int missing_bytes = 0;          // less than 0 where bytes came before they were announced
  unsigned phase = 0;
  unsigned block = 0;           // that it belongs to
  unsigned initialised_by = 0;  // a thread's number
  bool fenced = false;
  bool published = false;  // by a barrier of the cluster
  unsigned waiting = 0;    // threads
};

std::map<uint64_t*, Barrier> barriers;  // of all resident blocks

Barrier& find(uint64_t* barrier, const char* what) {
  require_hopper(what);
  const auto found = barriers.find(barrier);
  if (found == barriers.end()) stop("%s of a barrier that was never initialised", what);
  if (*barrier != kBarrierMark) stop("%s of a barrier that was overwritten", what);
  return found->second;
}

bool end_phase_if_complete(const uint64_t* address, Barrier* barrier) {
  if (barrier->missing_arrivals != 0 || barrier->missing_bytes != 0) return false;
  ++barrier->phase;
  barrier->missing_arrivals = barrier->arrivals;
  wake_waiters(address);
  return true;
}

void count_bytes(Barrier* barrier, int64_t bytes) {
  const int64_t missing = barrier->missing_bytes + bytes;
  if (missing > kMostBytes || missing < -kMostBytes) {
    stop("a barrier that waits for %lld bytes", static_cast<long long>(missing));
  }
  barrier->missing_bytes = static_cast<int>(missing);
}

}  // namespace

void require_hopper(const char* what) {
  if (device().cc < 90) stop("%s on a device of compute capability %d", what, device().cc);
}

void init_barrier(uint64_t* barrier, unsigned arrivals) {
  require_hopper("mbarrier.init");
  if (!is_multiple(barrier, 8) || !in_shared_memory(barrier, sizeof *barrier)) {
    stop("mbarrier.init at %p, which is not 8 aligned bytes of shared memory",
         static_cast<void*>(barrier));
  }
  if (arrivals == 0 || arrivals > kMostArrivals) stop("mbarrier.init for %u arrivals", arrivals);
  const auto [added, is_new] = barriers.try_emplace(barrier);
  if (!is_new) stop("mbarrier.init of a barrier that exists");
  added->second.arrivals = arrivals;
  added->second.missing_arrivals = arrivals;
  added->second.block = resident_block();
  added->second.initialised_by = thread_number();
  *barrier = kBarrierMark;
}

void fence_barriers() {
  require_hopper("fence.mbarrier_init");
  for (auto& [address, barrier] : barriers) {
    if (barrier.block == resident_block() && barrier.initialised_by == thread_number()) {
      barrier.fenced = true;
    }
  }
}

void arrive_expecting(uint64_t* address, unsigned bytes) {
  Barrier& barrier = find(address, "mbarrier.arrive");
  if (barrier.missing_arrivals == 0) stop("mbarrier.arrive once more than the phase takes");
  count_bytes(&barrier, bytes);
  --barrier.missing_arrivals;
  end_phase_if_complete(address, &barrier);
}

void arrive_in_block(unsigned rank, uint64_t* barrier) {
  constexpr const char* kWhat = "mbarrier.arrive in a cluster";
  if (rank >= cluster_blocks()) {
    stop("%s of %u blocks, in that of rank %u", kWhat, cluster_blocks(), rank);
  }
  if (!in_shared_memory(barrier, sizeof *barrier)) {
    stop("%s at %p, beyond the block's shared memory", kWhat, static_cast<void*>(barrier));
  }
  const unsigned block = resident_block(rank);
  if (has_ended(block)) stop("%s, in block %u, which has ended", kWhat, rank);
  auto* const there =
      reinterpret_cast<uint64_t*>(shared_address(block, shared_offset(resident_block(), barrier)));
  if (rank != cluster_rank()) require_known(there, kWhat);
  arrive_expecting(there, 0);
}

void wait_for_barrier(uint64_t* address, unsigned parity, Site site) {
  if (parity > 1) stop("mbarrier.try_wait for parity %u", parity);
  Barrier& barrier = find(address, "mbarrier.try_wait");
  ++barrier.waiting;
  // In a loop, as on a GPU: when the thread runs again the next phase may be over too.
  while (barrier.phase % 2 == parity) wait_for_object("mbarrier_wait", address, parity, site);
  --barrier.waiting;
}

void require_fenced(uint64_t* barrier, const char* what) {
  if (!find(barrier, what).fenced) stop("%s on a barrier without a fence after its init", what);
}

void require_known(uint64_t* barrier, const char* what) {
  const Barrier& found = find(barrier, what);
  if (!found.fenced && !found.published) {
    stop("%s on a barrier without a fence or a cluster_sync after its init", what);
  }
}

bool is_awaited(uint64_t* barrier) { return barriers.at(barrier).waiting != 0; }

bool count_arrived(uint64_t* address, size_t bytes, const char* what) {
  Barrier& barrier = find(address, what);
  count_bytes(&barrier, -static_cast<int64_t>(bytes));
  return end_phase_if_complete(address, &barrier);
}

void forget_barriers(BlockRange cluster) {
  std::erase_if(barriers, [=](const auto& entry) { return cluster.contains(entry.second.block); });
}

void publish_barriers(BlockRange cluster) {
  for (auto& [address, barrier] : barriers) {
    if (cluster.contains(barrier.block)) barrier.published = true;
  }
}

void report_barriers(unsigned block) {
  for (const auto& [address, barrier] : barriers) {
    if (barrier.block != block) continue;
    if (barrier.missing_arrivals == barrier.arrivals && barrier.missing_bytes == 0) continue;
    std::fprintf(stderr,
                 "  barrier at byte %zu of shared memory: phase %u lacks %u of %u arrivals and %d "
                 "bytes\n",
                 shared_offset(block, address), barrier.phase, barrier.missing_arrivals,
                 barrier.arrivals, barrier.missing_bytes);
  }
}

}  // namespace emulator
