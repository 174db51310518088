// Emulator of the CUDA runtime: matrix products in flight. See products.h.
#include "products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "device.h"
#include "device_functions.h"
#include "product.h"

namespace emulator {
namespace {

constexpr unsigned kGroupWarps = 4;
constexpr uint64_t kDestroyed = 0xffffffffu;  // NaN

struct Product {
  size_t results;  // the number of the registers in flight that it writes
  ProductType type;
  uint64_t b;
  bool add;
  SharedOperands shared;

  bool operator==(const Product&) const = default;
  // k of the operands.
  int depth() const { return type == ProductType::kTf32 ? 8 : kMostDepth; }
};

// Registers in flight.
struct Results {
  size_t number;  // of all that the lane has had in flight
  float* d;
  std::vector<float> sums;  // the results, for d
  size_t end;               // behind the last product that writes them
};

// Products are counted since the block began.
struct Lane {
  bool fenced = false;
  std::vector<Results> results;
  std::vector<std::vector<float>> free_sums;  // memory for results to come
  size_t results_started = 0;
  size_t first = 0;  // of those that are kept
  std::deque<Product> products;
  std::deque<const unsigned*> a;  // of each product

  size_t issued() const { return first + products.size(); }
  Results* start_results(float* d, int count) {
    std::vector<float> sums;
    if (!free_sums.empty()) {
      sums = std::move(free_sums.back());
      free_sums.pop_back();
    }
    sums.assign(d, d + count);
    results.push_back({results_started++, d, std::move(sums), 0});
    return &results.back();
  }
  void end_results(Results* ended) {
    free_sums.push_back(std::move(ended->sums));
    results.erase(results.begin() + (ended - results.data()));
  }
  // As at the beginning of a block. Memory is kept: with that of transfers, allocations took a
  // tenth of the products' tests.
  void restart() {
    while (!results.empty()) end_results(&results.back());
    products.clear();
    a.clear();
    fenced = false;
    results_started = first = 0;
  }
  Results* find(const float* d) {
    const auto at =
        std::find_if(results.begin(), results.end(), [d](const Results& of) { return of.d == d; });
    return at == results.end() ? nullptr : &*at;
  }
};

struct Warp {
  std::array<Lane, kWarpSize> lanes;
  std::vector<size_t> group_ends;  // the products before each commit
  size_t done = 0, needed = 0;     // products; needed by those that wait
  bool chosen = true;              // whether those committed last are done at once or late
  bool awaited = false;
  size_t issued = 0;  // by lane 0

  void restart() {
    for (Lane& lane : lanes) lane.restart();
    group_ends.clear();
    done = needed = issued = 0;
    chosen = true;
    awaited = false;
  }
  size_t committed() const { return group_ends.empty() ? 0 : group_ends.back(); }
};

// By resident block and number of the warp; and of the warpgroup, for the products of its warp that
// is ahead.
std::map<std::pair<unsigned, unsigned>, Warp> warps;
std::map<std::pair<unsigned, unsigned>, std::vector<Product>> asked_for;

std::pair<unsigned, unsigned> own_place() {
  return {resident_block(), thread_number() / kWarpSize};
}
Warp& own_warp() { return warps[own_place()]; }

void require_tensor_cores() {
  if (device().cc != 90) stop("wgmma on a device of compute capability %d", device().cc);
}

// Where a lane's results are among the 16 rows of its warp.
int row_of(unsigned lane, size_t result) { return static_cast<int>(lane / 4 + result / 2 % 2 * 8); }
int column_of(unsigned lane, size_t result) {
  return static_cast<int>(result / 4 * 8 + lane % 4 * 2 + result % 2);
}

// Carries out the products before `end`, for all lanes: their registers can be read, since no lane
// goes on from the wait for them before this is done.
void carry_out(Warp& warp, std::pair<unsigned, unsigned> place, size_t end) {
  const auto [block, number_of_warp] = place;
  static Operands operands;
  static double sums[kWarpRows][kMostColumns];
  while (warp.done < end) {
    const Lane& leader = warp.lanes[0];
    const size_t number = leader.products[warp.done - leader.first].results;
    const auto results_of = [number](Lane& lane) -> Results& {
      for (Results& results : lane.results) {
        if (results.number == number) return results;
      }
      stop("wgmma of which lanes disagree");
    };
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const Results& results = results_of(warp.lanes[l]);
      for (size_t r = 0; r < results.sums.size(); ++r) {
        sums[row_of(l, r)][column_of(l, r)] = static_cast<double>(results.sums[r]);
      }
    }
    const int columns = static_cast<int>(2 * results_of(warp.lanes[0]).sums.size());
    for (; warp.done < end; ++warp.done) {
      const Product& first = leader.products[warp.done - leader.first];
      if (first.results != number) break;
      for (unsigned l = 0; l < kWarpSize; ++l) {
        const Lane& lane = warp.lanes[l];
        if (lane.products[warp.done - lane.first] != first) stop("wgmma of which lanes disagree");
        if (first.type == ProductType::kShared16) continue;
        take_a(operands, first.type, l, lane.a[warp.done - lane.first]);
      }
      if (first.type == ProductType::kSharedB) {
        read_shared_b(operands, block, first.shared, columns);
      } else if (first.type == ProductType::kShared16) {
        const auto warp_of_group = static_cast<int>(number_of_warp % kGroupWarps);
        read_shared(operands, block, first.shared, warp_of_group, columns);
      } else {
        read_b(operands, block, first.type, first.b, columns);
      }
      if (!first.add) std::memset(sums, 0, sizeof sums);
      add_products(sums, operands, first.depth(), columns);
    }
    for (unsigned l = 0; l < kWarpSize; ++l) {
      Results& results = results_of(warp.lanes[l]);
      for (size_t r = 0; r < results.sums.size(); ++r) {
        results.sums[r] = static_cast<float>(sums[row_of(l, r)][column_of(l, r)]);
      }
    }
  }
}

void require_untouched(const Results& results) {
  for (size_t r = 0; r < results.sums.size(); ++r) {
    if (std::bit_cast<unsigned>(results.d[r]) != kDestroyed) {
      stop("wgmma whose result %zu was written before the wait for it", r);
    }
  }
}

// Checks that the warps of a warpgroup issue the same products.
void compare_with_group(Warp& warp, const Product& product) {
  auto& asked = asked_for[{resident_block(), thread_number() / kWarpSize / kGroupWarps}];
  if (warp.issued == asked.size()) asked.push_back(product);
  if (asked[warp.issued] != product) {
    stop("wgmma of which the warps of a warpgroup disagree");
  }
  ++warp.issued;
}

// Starts a product that writes `results` floats of d; a: this lane's registers of A.
void issue(float* d, int results, const unsigned* a, Product product) {
  require_tensor_cores();
  Warp& warp = own_warp();
  Lane& self = warp.lanes[lane()];
  if (!self.fenced) stop("wgmma without a fence since its registers were last free to use");
  Results* in_flight = self.find(d);
  if (!in_flight) {
    in_flight = self.start_results(d, results);
    std::memset(d, 0xFF, in_flight->sums.size() * sizeof(float));
  }
  if (in_flight->sums.size() != static_cast<size_t>(results)) {
    stop("wgmma to other registers than those in flight is not emulated");
  }
  product.results = in_flight->number;
  self.products.push_back(product);
  self.a.push_back(a);
  in_flight->end = self.issued();
  if (lane() == 0) compare_with_group(warp, self.products.back());
}

// All lanes have issued the same number of products.
void require_agreement(const Lane& self, Site site) {
  const auto asked = static_cast<uint64_t>(self.issued());
  for (const uint64_t others : exchange("wgmma.wait_group", ~0u, asked, site)) {
    if (others != asked) stop("wgmma for which not all lanes of a warp asked");
  }
}

// Waits for the products before the last `pending` groups, and returns their number.
size_t wait_for_groups(Warp& warp, size_t pending, Site site) {
  const size_t groups = warp.group_ends.size();
  const size_t needed = pending < groups ? warp.group_ends[groups - 1 - pending] : 0;
  if (warp.done < needed) {
    warp.awaited = true;
    warp.needed = needed;
    wait_for_object("wgmma.wait_group", &warp, 0, site);
  }
  return needed;
}

void forget_done(Lane& self, size_t needed) {
  for (; self.first < needed; ++self.first) {
    self.products.pop_front();
    self.a.pop_front();
  }
}

}  // namespace

void fence_products() {
  require_tensor_cores();
  own_warp().lanes[lane()].fenced = true;
}

void start_product(ProductType type, float* d, int results, const unsigned* a, uint64_t b,
                   bool add) {
  issue(d, results, a, {0, type, b, add, {}});
}

void start_product_of_shared(float* d, int results, const SharedOperands& operands, bool add) {
  issue(d, results, nullptr, {0, ProductType::kShared16, 0, add, operands});
}

void start_product_of_shared_b(float* d, int results, const unsigned* a, const SharedMatrix& b,
                               bool add) {
  issue(d, results, a, {0, ProductType::kSharedB, 0, add, {true, {}, b}});
}

void commit_products(Site site) {
  require_tensor_cores();
  Warp& warp = own_warp();
  const auto asked = static_cast<uint64_t>(warp.lanes[lane()].issued());
  for (const uint64_t others : exchange("wgmma.commit_group", ~0u, asked, site)) {
    if (others != asked) stop("wgmma for which not all lanes of a warp asked");
  }
  if (warp.committed() != asked) {
    warp.group_ends.push_back(asked);
    warp.chosen = false;
  }
  if (warp.chosen) return;
  warp.chosen = true;
  if (random_number() % 2 == 0) carry_out(warp, own_place(), asked);
}

void wait_for_products(const float* d, size_t pending, Site site) {
  require_tensor_cores();
  Warp& warp = own_warp();
  Lane& self = warp.lanes[lane()];
  require_agreement(self, site);
  self.fenced = false;
  Results* const results = self.find(d);
  if (!results) {
    if (!self.results.empty()) stop("a wait for wgmma that names other registers than it writes");
    return;
  }
  if (results->end > warp.committed()) stop("a wait for wgmma that was not committed");
  const size_t groups = warp.group_ends.size();
  if (results->end > (pending < groups ? warp.group_ends[groups - 1 - pending] : 0)) {
    stop("a wait for wgmma that leaves these results in flight");
  }
  const size_t needed = wait_for_groups(warp, pending, site);
  require_untouched(*results);
  std::memcpy(results->d, results->sums.data(), results->sums.size() * sizeof(float));
  self.end_results(results);
  forget_done(self, needed);
}

void wait_for_operands_of_products(size_t pending, Site site) {
  require_tensor_cores();
  Warp& warp = own_warp();
  Lane& self = warp.lanes[lane()];
  require_agreement(self, site);
  self.fenced = false;
  forget_done(self, wait_for_groups(warp, pending, site));
}

bool land_products() {
  std::vector<std::pair<std::pair<unsigned, unsigned>, Warp*>> awaited;  // with their places
  for (auto& [place, warp] : warps) {
    if (warp.awaited) awaited.emplace_back(place, &warp);
  }
  if (awaited.empty()) return false;
  const auto& [place, warp] = awaited[random_number() % awaited.size()];
  carry_out(*warp, place, warp->needed);
  warp->awaited = false;
  wake_waiters(warp);
  return true;
}

void forget_products(BlockRange cluster) {
  const auto of_cluster = [=](auto& map) {
    return std::pair(map.lower_bound({cluster.first, 0}), map.lower_bound({cluster.end, 0}));
  };
  const auto [first, end] = of_cluster(warps);
  for (auto at = first; at != end; ++at) at->second.restart();
  const auto [first_asked, end_asked] = of_cluster(asked_for);
  asked_for.erase(first_asked, end_asked);
}

void require_no_products(BlockRange cluster) {
  for (const auto& [place, warp] : warps) {
    if (!cluster.contains(place.first)) continue;
    for (const Lane& lane : warp.lanes) {
      if (!lane.results.empty()) {
        stop("wgmma of warp %u that nothing has waited for", place.second);
      }
    }
  }
  for (const auto& [group, asked] : asked_for) {
    if (!cluster.contains(group.first)) continue;
    for (unsigned i = 0; i < kGroupWarps; ++i) {
      const unsigned warp = group.second * kGroupWarps + i;
      if (warps[{group.first, warp}].issued != asked.size()) {
        stop("wgmma that warp %u has not asked for, as others of its warpgroup have", warp);
      }
    }
  }
}

}  // namespace emulator
