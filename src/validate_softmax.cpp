// The rules of softmax, in the order that mygemm.h states: sizes and leading dimensions; nothing to
// do; pointers, byte counts, overlap.
#include <algorithm>

#include "rules.h"

namespace mygemm {
namespace {

// The names of a problem's matrices: x and y, or y and dx.
const char* in_name(const SoftmaxProblem& p) { return p.backward ? "y" : "x"; }
const char* out_name(const SoftmaxProblem& p) { return p.backward ? "dx" : "y"; }

bool reads_x_too(const SoftmaxProblem& p) {
  return p.backward && p.masking && p.masking->softcap != 0.0f;
}

bool masking_ok(const SoftmaxProblem& p) {
  if (!p.masking) return true;
  const SoftmaxMasking& m = *p.masking;
  return not_negative("group_rows", m.group_rows) && not_negative("batch_groups", m.batch_groups) &&
         finite("softcap", m.softcap) &&
         (m.softcap >= 0.0f || refuse("softcap = %g is negative", m.softcap)) &&
         finite("scale / softcap", m.capped_scale) &&
         (!reads_x_too(p) || ld_ok("ldx", m.x.ld, p.cols, "max(1, cols)", "")) &&
         not_negative("lengths_stride_batch", m.lengths_strides.batch) &&
         not_negative("lengths_stride_group", m.lengths_strides.group) &&
         not_negative("lengths_stride_row", m.lengths_strides.row);
}

bool shapes_ok(const SoftmaxProblem& p) {
  return not_negative("rows", p.rows) && not_negative("cols", p.cols) && finite("scale", p.scale) &&
         ld_ok(p.backward ? "ldy" : "ldx", p.in.ld, p.cols, "max(1, cols)", "") &&
         (!p.backward || ld_ok("lddy", p.dy.ld, p.cols, "max(1, cols)", "")) &&
         ld_ok(p.backward ? "lddx" : "ldy", p.out.ld, p.cols, "max(1, cols)", "") && masking_ok(p);
}

// The range of addresses of an operand with a stride for each of `dimensions`, of which each has
// `extent` places: from its lowest element to its highest.
struct Dimension {
  int64_t extent, stride;
};
template <size_t kCount>
bool make_range(const char* argument, const void* data, const Dimension (&dimensions)[kCount],
                int64_t element_size, BatchedFootprint* range) {
  Wide lowest = 0, highest = 0;
  bool fits = true;
  for (const Dimension& dimension : dimensions) {
    const Wide last = (Wide{dimension.extent} - 1) * dimension.stride;
    (last < 0 ? lowest : highest) += last;
    // Checked at each step: 127 bits hold one such product, and its sum with what has been checked.
    fits = fits && highest - lowest < kAddressSpace / element_size;
    if (!fits) break;
  }
  const Wide base = static_cast<Wide>(reinterpret_cast<uintptr_t>(data));
  fits = fits && base + lowest * element_size >= 0 &&
         base + (highest + 1) * element_size <= kAddressSpace;
  if (!fits) return refuse("%s has elements that do not fit the address space", argument);
  const auto bytes = static_cast<int64_t>(highest - lowest + 1) * element_size;
  *range = {{static_cast<uintptr_t>(base + lowest * element_size), 1, bytes, bytes}, 1, 0};
  return true;
}

// The mask and the lengths as ranges of addresses.
struct MaskingRanges {
  BatchedFootprint mask{}, lengths{};
};

bool make_ranges(const SoftmaxProblem& p, MaskingRanges* ranges) {
  if (!p.masking) return true;
  const SoftmaxMasking& m = *p.masking;
  const int64_t group_rows = m.group_rows > 0 ? std::min(m.group_rows, p.rows) : p.rows;
  const int64_t all_groups = ceil_div(p.rows, group_rows);
  const int64_t groups = m.batch_groups > 0 ? std::min(m.batch_groups, all_groups) : all_groups;
  const int64_t batches = ceil_div(all_groups, groups);
  const auto make = [&](const char* name, const void* data, const SoftmaxMasking::Strides& strides,
                        const Dimension& columns, int64_t element_size, BatchedFootprint* range) {
    const Dimension dimensions[] = {
        {batches, strides.batch}, {groups, strides.group}, {group_rows, strides.row}, columns};
    return make_range(name, data, dimensions, element_size, range);
  };
  return (!m.mask || make("mask", m.mask, m.mask_strides, {p.cols, m.mask_stride_col},
                          element_bytes(m.mask_type), &ranges->mask)) &&
         (!m.lengths || make("lengths", m.lengths, m.lengths_strides, {1, 0},
                             index_bytes(m.lengths_type), &ranges->lengths));
}

bool apart(const SoftmaxProblem& p, const BatchedFootprint& out, const char* name,
           const BatchedFootprint& range) {
  return !overlap(range, out) || refuse("%s overlaps the addresses of %s", out_name(p), name);
}

bool pointers_ok(const SoftmaxProblem& p) {
  const SoftmaxMasking* m = p.masking;
  BatchedFootprint in{}, dy{}, x{}, out{};
  MaskingRanges ranges;
  const auto describe = [&](const char* name, const TypedMatrix& matrix,
                            BatchedFootprint* footprint) {
    const int64_t size = element_bytes(matrix.type);
    return make_footprint(name, matrix.data, p.rows, p.cols, matrix.ld, 1, 0, size, footprint);
  };
  return pointer_ok(in_name(p), p.in.data, element_bytes(p.in.type)) &&
         (!p.backward || pointer_ok("dy", p.dy.data, element_bytes(p.dy.type))) &&
         pointer_ok(out_name(p), p.out.data, element_bytes(p.out.type)) &&
         (!reads_x_too(p) || pointer_ok("x", m->x.data, element_bytes(m->x.type))) &&
         (!m || !m->mask || pointer_ok("mask", m->mask, element_bytes(m->mask_type))) &&
         (!m || !m->lengths || pointer_ok("lengths", m->lengths, index_bytes(m->lengths_type))) &&
         describe(in_name(p), p.in, &in) && (!p.backward || describe("dy", p.dy, &dy)) &&
         describe(out_name(p), p.out, &out) && (!reads_x_too(p) || describe("x", m->x, &x)) &&
         make_ranges(p, &ranges) &&
         in_place_or_distinct(in_name(p), p.in, in, out_name(p), p.out, out) &&
         (!p.backward || in_place_or_distinct("dy", p.dy, dy, out_name(p), p.out, out)) &&
         (!reads_x_too(p) || in_place_or_distinct("x", m->x, x, out_name(p), p.out, out)) &&
         (!m || !m->mask || apart(p, out, "mask", ranges.mask)) &&
         (!m || !m->lengths || apart(p, out, "lengths", ranges.lengths));
}

}  // namespace

Verdict validate(const SoftmaxProblem& p, Check check) {
  return verdict(p, check, p.rows == 0 || p.cols == 0, shapes_ok, pointers_ok);
}

}  // namespace mygemm
