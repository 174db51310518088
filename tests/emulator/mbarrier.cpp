// Emulator of the CUDA runtime: barriers that count bytes, and copies of boxes. See mbarrier.h.
#include "mbarrier.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "device.h"
#include "device_functions.h"
#include "tensor_map.h"

namespace emulator {
namespace {

constexpr uint64_t kBarrierMark = 0x726965727261626D;  // what a barrier's own bytes hold
constexpr unsigned kMostArrivals = (1u << 20) - 1;
constexpr int kMostBytes = (1 << 20) - 1;

struct Barrier {
  unsigned arrivals = 0;          // that a phase takes
  unsigned missing_arrivals = 0;  // of this phase
  int missing_bytes = 0;          // less than 0 where bytes came before they were announced
  unsigned phase = 0;
  unsigned initialised_by = 0;  // a thread's number
  bool fenced = false;
};

struct Box {
  std::byte* to;
  TensorMap map;
  uint64_t* barrier;
  int at[3];
};

std::map<uint64_t*, Barrier> barriers;  // of the running block
std::vector<Box> in_flight;

void require_hopper(const char* what) {
  if (device().cc < 90) stop("%s on a device of compute capability %d", what, device().cc);
}

bool in_shared_memory(const void* data, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(shared_memory());
  const auto at = reinterpret_cast<uintptr_t>(data);
  return at >= first && bytes <= shared_bytes() && at - first <= shared_bytes() - bytes;
}

size_t offset_of(const uint64_t* barrier) {
  return static_cast<size_t>(reinterpret_cast<const std::byte*>(barrier) -
                             static_cast<const std::byte*>(shared_memory()));
}

Barrier& find(uint64_t* barrier, const char* what) {
  require_hopper(what);
  const auto found = barriers.find(barrier);
  if (found == barriers.end()) stop("%s of a barrier that was never initialised", what);
  if (*barrier != kBarrierMark) stop("%s of a barrier that was overwritten", what);
  return found->second;
}

void end_phase_if_complete(const uint64_t* address, Barrier* barrier) {
  if (barrier->missing_arrivals != 0 || barrier->missing_bytes != 0) return;
  ++barrier->phase;
  barrier->missing_arrivals = barrier->arrivals;
  wake_waiters(address);
}

void count_bytes(Barrier* barrier, int64_t bytes) {
  const int64_t missing = barrier->missing_bytes + bytes;
  if (missing > kMostBytes || missing < -kMostBytes) {
    stop("a barrier that waits for %lld bytes", static_cast<long long>(missing));
  }
  barrier->missing_bytes = static_cast<int>(missing);
}

TensorMap read_map(const CUtensorMap* map, const char* what) {
  require_hopper(what);
  TensorMap result;
  std::memcpy(&result, map, sizeof result);
  if (!is_multiple(map, 64) || result.mark != kTensorMapMark) stop("%s: no tensor map", what);
  return result;
}

}  // namespace

void init_barrier(uint64_t* barrier, unsigned arrivals) {
  require_hopper("mbarrier.init");
  if (!is_multiple(barrier, 8) || !in_shared_memory(barrier, sizeof *barrier)) {
    stop("mbarrier.init at %p, which is not 8 aligned bytes of shared memory",
         static_cast<void*>(barrier));
  }
  if (arrivals == 0 || arrivals > kMostArrivals) stop("mbarrier.init for %u arrivals", arrivals);
  const bool is_new =
      barriers.emplace(barrier, Barrier{arrivals, arrivals, 0, 0, thread_number(), false}).second;
  if (!is_new) stop("mbarrier.init of a barrier that exists");
  *barrier = kBarrierMark;
}

void fence_barriers() {
  require_hopper("fence.mbarrier_init");
  for (auto& [address, barrier] : barriers) {
    if (barrier.initialised_by == thread_number()) barrier.fenced = true;
  }
}

void arrive_expecting(uint64_t* address, unsigned bytes) {
  Barrier& barrier = find(address, "mbarrier.arrive");
  if (barrier.missing_arrivals == 0) stop("mbarrier.arrive once more than the phase takes");
  count_bytes(&barrier, bytes);
  --barrier.missing_arrivals;
  end_phase_if_complete(address, &barrier);
}

void wait_for_barrier(uint64_t* address, unsigned parity, Site site) {
  if (parity > 1) stop("mbarrier.try_wait for parity %u", parity);
  const Barrier& barrier = find(address, "mbarrier.try_wait");
  // In a loop, as on a GPU: when the thread runs again the next phase may be over too.
  while (barrier.phase % 2 == parity) wait_for_object("mbarrier_wait", address, parity, site);
}

void prefetch_map(const CUtensorMap* map) { read_map(map, "prefetch.tensormap"); }

void start_box(void* shared, const CUtensorMap* map, uint64_t* barrier, const int (&at)[3]) {
  constexpr const char* kName = "cp.async.bulk.tensor";
  const TensorMap tensor = read_map(map, kName);
  if (!find(barrier, kName).fenced) stop("%s on a barrier without a fence after its init", kName);
  if (!is_multiple(shared, alignment_of(tensor))) {
    stop("misaligned %s to %p, which is no multiple of %zu", kName, shared, alignment_of(tensor));
  }
  if (!in_shared_memory(shared, tensor.box_bytes())) {
    stop("%s of %zu bytes to %p, beyond the block's shared memory", kName, tensor.box_bytes(),
         shared);
  }
  if (tensor.swizzled && tensor.element_bytes() * static_cast<size_t>(tensor.box[0]) != 128) {
    stop("%s with a swizzle of rows of fewer than 128 bytes is not emulated", kName);
  }
  std::memset(shared, 0xFF, tensor.box_bytes());
  in_flight.push_back({static_cast<std::byte*>(shared), tensor, barrier, {at[0], at[1], at[2]}});
}

void forget_barriers() {
  barriers.clear();
  in_flight.clear();
}

bool land_a_box() {
  std::vector<size_t> awaited;
  for (size_t i = 0; i < in_flight.size(); ++i) {
    if (is_waited_for(in_flight[i].barrier)) awaited.push_back(i);
  }
  if (awaited.empty()) return false;
  const size_t chosen = awaited[random_number() % awaited.size()];
  const Box box = in_flight[chosen];
  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(chosen));
  copy_box(box.to, box.map, box.at);
  Barrier& barrier = find(box.barrier, "cp.async.bulk.tensor");
  count_bytes(&barrier, -static_cast<int64_t>(box.map.box_bytes()));
  end_phase_if_complete(box.barrier, &barrier);
  return true;
}

bool boxes_in_flight() { return !in_flight.empty(); }

void report_barriers() {
  for (const auto& [address, barrier] : barriers) {
    if (barrier.missing_arrivals == barrier.arrivals && barrier.missing_bytes == 0) continue;
    std::fprintf(stderr,
                 "  barrier at byte %zu of shared memory: phase %u lacks %u of %u arrivals and %d "
                 "bytes\n",
                 offset_of(address), barrier.phase, barrier.missing_arrivals, barrier.arrivals,
                 barrier.missing_bytes);
  }
  for (const Box& box : in_flight) {
    std::fprintf(stderr,
                 "  copy of box (%d, %d, %d), %zu bytes, to the barrier at byte %zu of shared "
                 "memory: nothing has waited for it\n",
                 box.at[0], box.at[1], box.at[2], box.map.box_bytes(), offset_of(box.barrier));
  }
}

}  // namespace emulator
