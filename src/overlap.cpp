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
  const Wide start = t0 + first * sx;  // >= 0
  return floor_sum(n, sy, sx, start + sy) - floor_sum(n, sy, sx, start + sy - span - 1) > 0;
}

namespace {
// Whether the first matrix of x shares a byte with one of y, the first of y left out on request.
// Takes the pairs that it looks at from `pairs`, and stops when there are none left.
bool first_overlaps(const BatchedFootprint& x, const BatchedFootprint& y, bool not_first,
                    int64_t* pairs) {
  const Candidates candidates = meeting(range_of(x.matrix), y);
  Wide j = std::max<Wide>(candidates.first, not_first ? 1 : 0);
  for (; j <= candidates.last && *pairs > 0; ++j, --*pairs) {
    if (overlap(x.matrix, matrix_of(y, static_cast<int64_t>(j)))) return true;
  }
  return false;
}
}  // namespace

bool overlap(const BatchedFootprint& x, const BatchedFootprint& y, bool same_index_may) {
  if (!meet(range_of(x), range_of(y))) return false;
  int64_t pairs = kMaxPairs;
  // With equal strides only the difference of the indices matters: the first of each against all
  // of the other says it all.
  if (x.batch_stride == y.batch_stride && x.batch == y.batch) {
    int64_t swapped_pairs = kMaxPairs;
    return first_overlaps(x, y, same_index_may, &pairs) ||
           first_overlaps(y, x, same_index_may, &swapped_pairs);
  }
  const Candidates candidates = meeting(range_of(y), x);
  for (Wide i = candidates.first; i <= candidates.last && pairs > 0; ++i, --pairs) {
    const BatchedFootprint one{matrix_of(x, static_cast<int64_t>(i)), 1, 0};
    if (first_overlaps(one, y, /*not_first=*/false, &pairs)) return true;
  }
  return false;
}

// A run meets one of the matrix e > 0 steps on, d >= 0 runs back, iff  |e * step - d * stride|  is
// less than its bytes: iff one byte at e * step meets a run of 2 bytes - 1 around d * stride.
bool overlaps_itself(const BatchedFootprint& x) {
  const Footprint& m = x.matrix;
  const int64_t step = x.batch_stride < 0 ? -x.batch_stride : x.batch_stride;
  if (x.batch < 2) return false;
  if (step < m.bytes) return true;
  const Footprint matrices{static_cast<uintptr_t>(step) + static_cast<uintptr_t>(m.bytes - 1),
                           x.batch - 1, 1, step};
  return overlap(matrices, Footprint{0, m.count, m.bytes - 1 + m.bytes, m.stride});
}

}  // namespace mygemm
