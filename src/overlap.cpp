// Exact overlap of strided matrices in logarithmic time.
#include "overlap.h"

#include <algorithm>
#include <utility>

namespace mygemm {
namespace {

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
Wide ceil_div_wide(Wide a, Wide b) { return -floor_div(-a, b); }

// Sum over i in [0, n) of floor((a * i + b) / m), with a, b >= 0 and m > 0: the Euclid-like
// recursion that counts lattice points below a line.
Wide floor_sum(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  while (n > 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const Wide top = a * n + b;
    if (top < m) break;
    n = top / m;
    b = top % m;
    std::swap(m, a);
  }
  return sum;
}

// The address range [lowest, end) of a batch, relative to nothing: addresses fit in Wide.
struct Range {
  Wide lowest, end;
};

Range range_of(const Footprint& x) {
  return {static_cast<Wide>(x.base),
          static_cast<Wide>(x.base) + Wide{x.stride} * (x.count - 1) + x.bytes};
}

Footprint matrix_of(const BatchedFootprint& x, int64_t i) {
  Footprint matrix = x.matrix;
  matrix.base += static_cast<uintptr_t>(x.batch_stride * i);
  return matrix;
}

bool meet(const Range& x, const Range& y) { return x.lowest < y.end && y.lowest < x.end; }

Range range_of(const BatchedFootprint& x) {
  const Range first = range_of(x.matrix), last = range_of(matrix_of(x, x.batch - 1));
  return {std::min(first.lowest, last.lowest), std::max(first.end, last.end)};
}

// The matrices first..last of a batch whose address ranges meet the given one.
struct Candidates {
  Wide first, last;
};

Candidates meeting(const Range& range, const BatchedFootprint& y) {
  const Range first = range_of(y.matrix);
  const Wide stride = y.batch_stride;
  if (stride == 0) return {0, meet(range, first) ? Wide{y.batch} - 1 : -1};
  // first.lowest + j * stride < range.end  and  range.lowest < first.end + j * stride
  const Wide below = range.end - 1 - first.lowest, above = range.lowest + 1 - first.end;
  const Wide from = stride > 0 ? ceil_div_wide(above, stride) : ceil_div_wide(below, stride);
  const Wide to = stride > 0 ? floor_div(below, stride) : floor_div(above, stride);
  return {std::max<Wide>(0, from), std::min<Wide>(Wide{y.batch} - 1, to)};
}

}  // namespace

// Run i of x meets run j of y iff  d + i*sx - j*sy  lies in [-bx + 1, by - 1],  d = x - y.
// With t = d + i*sx + bx - 1 such a j exists iff  t mod sy <= bx + by - 2,  and it can be chosen
// inside y's runs iff the i-th run meets y's address range. So: count the i in that range whose
// residue is small enough.
bool overlap(const Footprint& x, const Footprint& y) {
  if (!meet(range_of(x), range_of(y))) return false;
  const Wide sx = x.count > 1 ? x.stride : x.bytes;
  const Wide sy = y.count > 1 ? y.stride : y.bytes;
  const Wide t0 = Wide{static_cast<Wide>(x.base)} - static_cast<Wide>(y.base) + x.bytes - 1;
  const Wide span = Wide{x.bytes} + y.bytes - 2;
  const Wide first = std::max<Wide>(0, ceil_div_wide(-t0, sx));
  const Wide last =
      std::min<Wide>(x.count - 1, floor_div((Wide{y.count} - 1) * sy + span - t0, sx));
  if (first > last) return false;
  if (span >= sy) return true;
  const Wide n = last - first + 1;
  const Wide start = t0 + first * sx;                     // >= 0
  return floor_sum(n, sy, sx, start + sy) - floor_sum(n, sy, sx, start + sy - span - 1) > 0;
}

namespace {
// Whether the first matrix of x shares a byte with one of y, the first of y left out on request.
bool first_overlaps(const BatchedFootprint& x, const BatchedFootprint& y, bool not_first) {
  const Candidates candidates = meeting(range_of(x.matrix), y);
  const Wide last = std::min<Wide>(candidates.last, candidates.first + kMaxPairs);
  for (Wide j = std::max<Wide>(candidates.first, not_first ? 1 : 0); j <= last; ++j) {
    if (overlap(x.matrix, matrix_of(y, static_cast<int64_t>(j)))) return true;
  }
  return false;
}
}  // namespace

bool overlap(const BatchedFootprint& x, const BatchedFootprint& y, bool same_index_may) {
  if (!meet(range_of(x), range_of(y))) return false;
  // With equal strides only the difference of the indices matters: the first of each against all
  // of the other says it all.
  if (x.batch_stride == y.batch_stride && x.batch == y.batch) {
    return first_overlaps(x, y, same_index_may) || first_overlaps(y, x, same_index_may);
  }
  for (int64_t i = 0; i < std::min(x.batch, kMaxPairs); ++i) {
    const BatchedFootprint one{matrix_of(x, i), 1, 0};
    if (first_overlaps(one, y, /*same_index_may=*/false)) return true;
  }
  return false;
}

}  // namespace mygemm
