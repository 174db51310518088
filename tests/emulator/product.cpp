// Emulator of the CUDA runtime: one matrix product of a warp. See product.h.
//
// Compiled with optimization and without sanitizers: a block tile takes millions of multiply-adds.
// Reads of shared memory are checked here.
#include "product.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "device_functions.h"

namespace emulator {
namespace {

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

double value_of_fp16(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023);
  double x = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) x = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -x : x;
}

double of_fp16(unsigned bits) {
  static const std::vector<double> values = [] {
    std::vector<double> of(1 << 16);
    for (unsigned i = 0; i < of.size(); ++i) of[i] = value_of_fp16(i);
    return of;
  }();
  return values[bits];
}

// Reads element (line, k) of a matrix of 16-bit values, for 16 k and `lines` rows of A or columns
// of B from `first` on, by visit(k, line, value). Lines of 128 bytes lie as swizzle.h says.
template <class Visit>
void read_lines(unsigned block, const SharedMatrix& matrix, bool bf16, int first, int lines,
                Visit visit) {
  const uint64_t fields = matrix.descriptor & ~uint64_t{0x3fff};
  if (fields != descriptor(matrix.mn_major ? 512 : 1, 64, 1)) {
    stop("wgmma of a matrix that is described otherwise: %016llx",
         static_cast<unsigned long long>(matrix.descriptor));
  }
  const unsigned begin = static_cast<unsigned>(matrix.descriptor & 0x3fff) * 16;
  const unsigned offset = begin % 1024, base = begin - offset;
  // 16 k further on are 32 bytes of a line, or 16 lines.
  if (matrix.mn_major ? offset != 0 : offset % 32 != 0 || offset > 96) {
    stop("wgmma of a matrix at byte %u, %u behind a multiple of 1024", begin, offset);
  }
  const int end = first + lines;
  const size_t bytes = matrix.mn_major ? static_cast<size_t>((end - 1) / 64) * 8192 + 2048
                                       : static_cast<size_t>(end) * 128;
  if (base + bytes > shared_bytes()) {
    stop("wgmma of %zu bytes from byte %u, beyond the block's shared memory", bytes, base);
  }
  const std::byte* const shared = shared_address(block, base);
  for (int line = first; line < end; ++line) {
    for (int k = 0; k < kMostDepth; ++k) {
      const int of_line = matrix.mn_major ? k : line;  // of 128 bytes
      const int element = matrix.mn_major ? line % 64 : static_cast<int>(offset / 2) + k;
      const int chunk = element / 8 ^ of_line % 8;
      const size_t at = (matrix.mn_major ? static_cast<size_t>(line / 64) * 8192 : 0) +
                        static_cast<size_t>(of_line * 128 + chunk * 16 + element % 8 * 2);
      uint16_t bits;
      std::memcpy(&bits, shared + at, sizeof bits);
      visit(k, line - first, bf16 ? of_bf16(bits) : of_fp16(bits));
    }
  }
}

}  // namespace

void read_shared(Operands& operands, unsigned block, const SharedOperands& from, int warp,
                 int columns) {
  read_lines(block, from.a, from.bf16, warp * kWarpRows, kWarpRows,
             [&](int k, int row, double x) { operands.a[row][k] = x; });
  read_shared_b(operands, block, from, columns);
}

void read_shared_b(Operands& operands, unsigned block, const SharedOperands& from, int columns) {
  read_lines(block, from.b, from.bf16, 0, columns,
             [&](int k, int column, double x) { operands.b[k][column] = x; });
}

void read_b(Operands& operands, unsigned block, ProductType type, uint64_t matrix, int columns) {
  const Layout layout = layout_of(type, columns);
  if ((matrix & ~uint64_t{0x3fff}) != layout.fields) {
    stop("wgmma of a matrix that is described otherwise: %016llx",
         static_cast<unsigned long long>(matrix));
  }
  const unsigned first = static_cast<unsigned>(matrix & 0x3fff) * 16;
  const unsigned offset = first % 1024, base = first - offset;
  if (offset > layout.most_offset) {
    stop("wgmma of a matrix at byte %u, %u behind a multiple of 1024", first, offset);
  }
  if (base + layout.bytes > shared_bytes()) {
    stop("wgmma of %zu bytes from byte %u, beyond the block's shared memory", layout.bytes, base);
  }
  const std::byte* const shared = shared_address(block, base);
  if (type == ProductType::kTf32) {
    read_tf32(operands, shared, offset, columns);
  } else if (type == ProductType::kBf16) {
    read_bf16(operands, shared, offset, columns);
  } else {
    read_bf16_mn_major(operands, shared, columns);
  }
}

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

// Products are exact, so that all of these give the same, be it by multiply-adds or not.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void add_products(double (&sums)[kWarpRows][kMostColumns], const Operands& operands, int depth,
                  int columns) {
  // Vectors, for g++ 12 keeps sums of a loop over columns in memory.
  using Eight [[gnu::vector_size(8 * sizeof(double))]] = double;
  constexpr int kVectors = 4, kAtOnce = 8 * kVectors;
  static_assert(kMostColumns % kAtOnce == 0);
  constexpr uint64_t kCutOff = (1u << (53 - 24)) - 1;
  for (int row = 0; row < kWarpRows; ++row) {
    const auto& a = operands.a[row];
    for (int first = 0; first < columns; first += kAtOnce) {
      double* const d = &sums[row][first];
      Eight sums_of_row[kVectors], b[kVectors];
      std::memcpy(sums_of_row, d, sizeof sums_of_row);
      for (int k = 0; k < depth; ++k) {
        std::memcpy(b, &operands.b[k][first], sizeof b);
        for (int v = 0; v < kVectors; ++v) sums_of_row[v] += a[k] * b[v];
      }
      double sum[kAtOnce];
      std::memcpy(sum, sums_of_row, sizeof sum);
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

}  // namespace emulator
