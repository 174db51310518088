// Emulator of the CUDA runtime: matrix products in flight. See products.h.
//
// Compiled with optimization and without sanitizers: a block tile takes millions of multiply-adds.
// Reads of shared memory are checked here.
#include "products.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "device.h"
#include "device_functions.h"

namespace emulator {
namespace {

constexpr int kMostDepth = 16, kWarpRows = 16, kMostColumns = 256;
constexpr unsigned kGroupWarps = 4;
constexpr uint64_t kDestroyed = 0xffffffffu;  // NaN

struct Product {
  ProductType type;
  uint64_t b;
  bool add;

  bool operator==(const Product&) const = default;
  // k of the operands.
  int depth() const { return type == ProductType::kTf32 ? 8 : kMostDepth; }
};

struct Lane {
  bool fenced = false;
  float* d = nullptr;
  std::vector<float> sums;  // the result, for d
  std::vector<Product> products;
  std::vector<const unsigned*> a;  // of each product
};

struct Warp {
  std::array<Lane, kWarpSize> lanes;
  size_t committed = 0, done = 0;  // products in flight
  bool chosen = true;              // whether those committed last are done at once or late
  unsigned lanes_served = 0;       // with results, of those that wait for them
  bool awaited = false;
  size_t issued = 0;  // since the block began
};

// By resident block and number of the warp; and of the warpgroup, for the products of its warp that
// is ahead.
std::map<std::pair<unsigned, unsigned>, Warp> warps;
std::map<std::pair<unsigned, unsigned>, std::vector<Product>> asked_for;

Warp& own_warp() { return warps[{resident_block(), thread_number() / kWarpSize}]; }

void require_tensor_cores() {
  if (device().cc != 90) stop("wgmma on a device of compute capability %d", device().cc);
}

double cut_to_tf32(unsigned bits) {
  return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
}

// Whether x, truncated to 24 bits, is neither a normal float nor zero.
bool is_extreme(double x) {
  const double magnitude = std::fabs(x);
  return (!(magnitude >= 0x1p-126) && magnitude != 0) || !(magnitude < 0x1p128);
}

// The float next to it towards zero, or infinity.
double cut_extreme(double x) {
  if (std::fabs(x) >= 0x1p128) return std::copysign(HUGE_VAL, x);
  return std::ldexp(std::trunc(std::ldexp(x, 149)), -149);
}

double of_bf16(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits << 16)); }

struct Operands {
  double a[kWarpRows][kMostDepth];
  double b[kMostDepth][kMostColumns];
};

// A lane's registers of A. The rows of a warp are 16.
void take_a(Operands& operands, ProductType type, unsigned lane, const unsigned* a) {
  const unsigned t = lane % 4;
  for (unsigned e = 0; e < 4; ++e) {
    double* const row = operands.a[lane / 4 + e % 2 * 8];
    if (type == ProductType::kTf32) {
      row[t + e / 2 * 4] = cut_to_tf32(a[e]);
    } else {
      row[2 * t + e / 2 * 8] = of_bf16(a[e] & 0xffff);
      row[2 * t + e / 2 * 8 + 1] = of_bf16(a[e] >> 16);
    }
  }
}

// How a matrix of B lies: the upper fields of its descriptor, its bytes from a multiple of 1024 on,
// and the most bytes from there to where the product begins.
struct Layout {
  uint64_t fields;
  size_t bytes;
  unsigned most_offset;
};

// leading, stride: in units of 16 bytes.
constexpr uint64_t descriptor(uint64_t leading, uint64_t stride, uint64_t swizzle) {
  return leading << 16 | stride << 32 | swizzle << 62;
}

Layout layout_of(ProductType type, int columns) {
  const auto n = static_cast<size_t>(columns);
  if (type == ProductType::kTf32) return {descriptor(1, 64, 1), n * 128, 96};
  if (type == ProductType::kBf16) return {descriptor(1, 32, 2), n * 64, 32};
  return {descriptor(128, 32, 2), (n / 32 - 1) * 2048 + 1024, 0};
}

// The 8 k from byte `offset` of `columns` columns, which lie as swizzle.h says: chunk c of 16 bytes
// of the r-th line of 128 bytes where c ^ (r % 8) would be.
void read_tf32(Operands& operands, const std::byte* shared, unsigned offset, int columns) {
  for (int column = 0; column < columns; ++column) {
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned chunk = (offset / 16 + half) ^ static_cast<unsigned>(column % 8);
      unsigned bits[4];
      std::memcpy(bits, shared + column * 128 + chunk * 16, sizeof bits);
      for (unsigned e = 0; e < 4; ++e) operands.b[4 * half + e][column] = cut_to_tf32(bits[e]);
    }
  }
}

// A BF16 value of the r-th line of 64 bytes: chunk c of 16 bytes lies where c ^ (r / 2 % 4) would.
double bf16_of_line(const std::byte* lines, int line, int element) {
  uint16_t bits;
  const int chunk = element / 8 ^ line / 2 % 4;
  std::memcpy(&bits, lines + line * 64 + chunk * 16 + element % 8 * 2, sizeof bits);
  return of_bf16(bits);
}

// 16 k from byte `offset` of `columns` columns, each a line of 32 k.
void read_bf16(Operands& operands, const std::byte* shared, unsigned offset, int columns) {
  const int from = static_cast<int>(offset / 2);
  for (int column = 0; column < columns; ++column) {
    for (int k = 0; k < kMostDepth; ++k) {
      operands.b[k][column] = bf16_of_line(shared, column, from + k);
    }
  }
}

// 16 k of `columns` columns, in blocks of 32 lines, each of one k of 32 columns.
void read_bf16_mn_major(Operands& operands, const std::byte* shared, int columns) {
  for (int column = 0; column < columns; ++column) {
    for (int k = 0; k < kMostDepth; ++k) {
      operands.b[k][column] = bf16_of_line(shared + column / 32 * 2048, k, column % 32);
    }
  }
}

void read_b(Operands& operands, unsigned block, const Product& product, int columns) {
  const Layout layout = layout_of(product.type, columns);
  if ((product.b & ~uint64_t{0x3fff}) != layout.fields) {
    stop("wgmma of a matrix that is described otherwise: %016llx",
         static_cast<unsigned long long>(product.b));
  }
  const unsigned first = static_cast<unsigned>(product.b & 0x3fff) * 16;
  const unsigned offset = first % 1024, base = first - offset;
  if (offset > layout.most_offset) {
    stop("wgmma of a matrix at byte %u, %u behind a multiple of 1024", first, offset);
  }
  if (base + layout.bytes > shared_bytes()) {
    stop("wgmma of %zu bytes from byte %u, beyond the block's shared memory", layout.bytes, base);
  }
  const std::byte* const shared = shared_address(block, base);
  if (product.type == ProductType::kTf32) {
    read_tf32(operands, shared, offset, columns);
  } else if (product.type == ProductType::kBf16) {
    read_bf16(operands, shared, offset, columns);
  } else {
    read_bf16_mn_major(operands, shared, columns);
  }
}

// Each sum is rounded once, towards zero. Products are exact in FP64, and the sum of 9 or 17
// numbers nearly so.
void add_products(double (&sums)[kWarpRows][kMostColumns], const Operands& operands, int depth,
                  int columns) {
  constexpr int kAtOnce = 16;
  constexpr uint64_t kCutOff = (1u << (53 - 24)) - 1;
  for (int row = 0; row < kWarpRows; ++row) {
    const auto& a = operands.a[row];
    for (int first = 0; first < columns; first += kAtOnce) {
      double* const d = &sums[row][first];
      double sum[kAtOnce];
      for (int c = 0; c < kAtOnce; ++c) sum[c] = d[c];
      for (int k = 0; k < depth; ++k) {
        for (int c = 0; c < kAtOnce; ++c) sum[c] += a[k] * operands.b[k][first + c];
      }
      for (int c = 0; c < kAtOnce; ++c) {
        d[c] = std::bit_cast<double>(std::bit_cast<uint64_t>(sum[c]) & ~kCutOff);
      }
    }
    int extremes = 0;
    for (int column = 0; column < columns; ++column) extremes += is_extreme(sums[row][column]);
    if (extremes == 0) continue;
    for (int column = 0; column < columns; ++column) {
      double& d = sums[row][column];
      if (is_extreme(d)) d = cut_extreme(d);
    }
  }
}

// Where a lane's results are among the 16 rows of its warp.
int row_of(unsigned lane, size_t result) { return static_cast<int>(lane / 4 + result / 2 % 2 * 8); }
int column_of(unsigned lane, size_t result) {
  return static_cast<int>(result / 4 * 8 + lane % 4 * 2 + result % 2);
}

// Carries out all that is committed, for all lanes: their registers can be read, since none goes on
// from the wait for them before this is done.
void carry_out(Warp& warp, unsigned block) {
  static Operands operands;
  static double sums[kWarpRows][kMostColumns];
  const int columns = static_cast<int>(2 * warp.lanes[0].sums.size());
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Lane& lane = warp.lanes[l];
    for (size_t r = 0; r < lane.sums.size(); ++r) {
      sums[row_of(l, r)][column_of(l, r)] = static_cast<double>(lane.sums[r]);
    }
  }
  for (; warp.done < warp.committed; ++warp.done) {
    const Product& first = warp.lanes[0].products[warp.done];
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const Lane& lane = warp.lanes[l];
      if (lane.products[warp.done] != first) stop("wgmma of which lanes disagree");
      take_a(operands, first.type, l, lane.a[warp.done]);
    }
    read_b(operands, block, first, columns);
    if (!first.add) std::memset(sums, 0, sizeof sums);
    add_products(sums, operands, first.depth(), columns);
  }
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Lane& lane = warp.lanes[l];
    for (size_t r = 0; r < lane.sums.size(); ++r) {
      lane.sums[r] = static_cast<float>(sums[row_of(l, r)][column_of(l, r)]);
    }
  }
}

void require_untouched(const Lane& lane) {
  for (size_t r = 0; r < lane.sums.size(); ++r) {
    if (std::bit_cast<unsigned>(lane.d[r]) != kDestroyed) {
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

}  // namespace

void fence_products() {
  require_tensor_cores();
  own_warp().lanes[lane()].fenced = true;
}

void start_product(ProductType type, float* d, int results, const unsigned* a, uint64_t b,
                   bool add) {
  require_tensor_cores();
  Warp& warp = own_warp();
  Lane& self = warp.lanes[lane()];
  if (!self.fenced) stop("wgmma without a fence since its registers were last free to use");
  if (self.products.empty()) {
    self.d = d;
    self.sums.assign(d, d + results);
    std::memset(d, 0xFF, self.sums.size() * sizeof(float));
  }
  if (self.d != d || self.sums.size() != static_cast<size_t>(results)) {
    stop("wgmma to other registers than those in flight is not emulated");
  }
  self.products.push_back({type, b, add});
  self.a.push_back(a);
  if (lane() == 0) compare_with_group(warp, self.products.back());
}

void commit_products(Site site) {
  require_tensor_cores();
  Warp& warp = own_warp();
  const auto asked = static_cast<uint64_t>(warp.lanes[lane()].products.size());
  for (const uint64_t others : exchange("wgmma.commit_group", ~0u, asked, site)) {
    if (others != asked) stop("wgmma for which not all lanes of a warp asked");
  }
  if (warp.committed != asked) {
    warp.committed = asked;
    warp.chosen = false;
  }
  if (warp.chosen) return;
  warp.chosen = true;
  if (random_number() % 2 == 0) carry_out(warp, resident_block());
}

void wait_for_products(const float* d, Site site) {
  require_tensor_cores();
  Warp& warp = own_warp();
  Lane& self = warp.lanes[lane()];
  const auto asked = static_cast<uint64_t>(self.products.size());
  for (const uint64_t others : exchange("wgmma.wait_group", ~0u, asked, site)) {
    if (others != asked) stop("wgmma for which not all lanes of a warp asked");
  }
  self.fenced = false;
  if (self.products.empty()) return;
  if (warp.committed != asked) stop("a wait for wgmma that was not committed");
  if (self.d != d) stop("a wait for wgmma that names other registers than it writes");
  if (warp.done < warp.committed) {
    warp.awaited = true;
    wait_for_object("wgmma.wait_group", &warp, 0, site);
  }
  require_untouched(self);
  std::memcpy(self.d, self.sums.data(), self.sums.size() * sizeof(float));
  self.products.clear();
  self.a.clear();
  // Other lanes may issue the next products before the last lane has read these.
  if (++warp.lanes_served < kWarpSize) return;
  warp.lanes_served = 0;
  warp.committed = warp.done = 0;
}

bool land_products() {
  std::vector<std::pair<unsigned, Warp*>> awaited;  // with their blocks
  for (auto& [place, warp] : warps) {
    if (warp.awaited) awaited.emplace_back(place.first, &warp);
  }
  if (awaited.empty()) return false;
  const auto& [block, warp] = awaited[random_number() % awaited.size()];
  carry_out(*warp, block);
  warp->awaited = false;
  wake_waiters(warp);
  return true;
}

void forget_products(BlockRange cluster) {
  const auto is_of_cluster = [=](const auto& entry) { return cluster.contains(entry.first.first); };
  std::erase_if(warps, is_of_cluster);
  std::erase_if(asked_for, is_of_cluster);
}

void require_no_products(BlockRange cluster) {
  for (const auto& [place, warp] : warps) {
    if (!cluster.contains(place.first)) continue;
    for (const Lane& lane : warp.lanes) {
      if (!lane.products.empty()) {
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
