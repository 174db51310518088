// ABI tests: the rules of mygemm_softmax_ex; see rules.h.
#include <algorithm>
#include <cmath>

#include "memory_rules.h"

namespace mygemm_tests {
namespace {

__extension__ typedef __int128 Wide;  // holds any product of 64-bit arguments

bool is_type(int type) {
  return type == MYGEMM_R_32F || type == MYGEMM_R_16F || type == MYGEMM_R_16BF;
}
int64_t bytes_of(int type) { return type == MYGEMM_R_32F ? 4 : 2; }
bool is_switch(int value) { return value == 0 || value == 1; }

bool misplaced(const void* pointer, int64_t alignment) {
  return pointer == nullptr ||
         reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) != 0;
}

// All addresses from the first element to the last, of which there are `extents` at `strides`; an
// operand that no memory holds where there are too many.
Operand range(const char* name, const void* data, const std::vector<int64_t>& extents,
              const std::vector<int64_t>& strides, int64_t element_bytes) {
  const Wide limit = INT64_MAX / element_bytes;
  Wide lowest = 0, highest = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Wide last = (static_cast<Wide>(extents[i]) - 1) * strides[i];
    if (last > limit || last < -limit) return {name, data, 2, 1, INT64_MAX, 1, 0, element_bytes};
    (last < 0 ? lowest : highest) += last;
    if (highest - lowest >= limit) return {name, data, 2, 1, INT64_MAX, 1, 0, element_bytes};
  }
  const auto first = static_cast<int64_t>(lowest), end = static_cast<int64_t>(highest + 1);
  const auto address = reinterpret_cast<uintptr_t>(data) +
                       static_cast<uintptr_t>(first) * static_cast<uintptr_t>(element_bytes);
  // Below the first address there is no memory either.
  if (static_cast<Wide>(reinterpret_cast<uintptr_t>(data)) + lowest * element_bytes < 0) {
    return {name, data, 2, 1, INT64_MAX, 1, 0, element_bytes};
  }
  return {name,         reinterpret_cast<const void*>(address), 1, end - first, end - first, 1, 0,
          element_bytes};
}

}  // namespace

Verdict rules(const MaskedCall& call, const Arena& arena) {
  const bool backward = call.backward;
  const char* const in = backward ? "y" : "x";
  const char* const out = backward ? "dx" : "y";
  const bool reads_x = backward && call.softcap != 0;
  const bool masks = !backward && call.mask != nullptr, has_lengths = call.lengths != nullptr;
  Stage enums;
  enums.refuse_if(!is_switch(call.mode), "mode");
  enums.refuse_if(!is_switch(call.backward_flag), "backward");
  enums.refuse_if(!is_switch(call.causal), "causal");
  enums.refuse_if(!is_switch(call.empty_rows), "empty_rows");
  enums.refuse_if(!is_type(call.in_type), backward ? "ytype" : "xtype");
  enums.refuse_if(backward && !is_type(call.dy_type), "dytype");
  enums.refuse_if(!is_type(call.out_type), backward ? "dxtype" : "ytype");
  enums.refuse_if(reads_x && !is_type(call.x_type), "xtype");
  enums.refuse_if(masks && !is_type(call.mask_type), "mask_type");
  enums.refuse_if(has_lengths && call.lengths_type != 10 && call.lengths_type != 24,
                  "lengths_type");
  if (enums.broken()) return enums.verdict();
  const int64_t smallest = std::max<int64_t>(1, call.cols);
  Stage sizes;
  sizes.refuse_if(call.rows < 0, "rows");
  sizes.refuse_if(call.cols < 0, "cols");
  sizes.refuse_if(!std::isfinite(call.scale), "scale");
  sizes.refuse_if(call.in_ld < smallest, backward ? "ldy" : "ldx");
  sizes.refuse_if(backward && call.dy_ld < smallest, "lddy");
  sizes.refuse_if(call.out_ld < smallest, backward ? "lddx" : "ldy");
  sizes.refuse_if(reads_x && call.x_ld < smallest, "ldx");
  sizes.refuse_if(call.group_rows < 0, "group_rows");
  sizes.refuse_if(call.batch_groups < 0, "batch_groups");
  sizes.refuse_if(!(call.softcap >= 0 && std::isfinite(call.softcap)), "softcap");
  const char* const strides[] = {"lengths_stride_batch", "lengths_stride_group",
                                 "lengths_stride_row"};
  for (int i = 0; i < 3; ++i) {
    sizes.refuse_if(has_lengths && call.lengths_strides[i] < 0, strides[i]);
  }
  if (sizes.broken()) return sizes.verdict();
  if (call.rows == 0 || call.cols == 0) {
    Verdict nothing;
    nothing.nothing_to_do = true;
    return nothing;
  }
  const int64_t length_bytes = call.lengths_type == 10 ? 4 : 8;
  Stage pointers;
  pointers.refuse_if(misplaced(call.in, bytes_of(call.in_type)), in);
  pointers.refuse_if(backward && misplaced(call.dy, bytes_of(call.dy_type)), "dy");
  pointers.refuse_if(misplaced(call.out, bytes_of(call.out_type)), out);
  pointers.refuse_if(reads_x && misplaced(call.x, bytes_of(call.x_type)), "x");
  pointers.refuse_if(masks && misplaced(call.mask, bytes_of(call.mask_type)), "mask");
  pointers.refuse_if(has_lengths && misplaced(call.lengths, length_bytes), "lengths");
  if (pointers.broken()) return pointers.verdict();

  const auto matrix = [&](const char* name, const void* data, int type, int64_t ld) {
    return Operand{name, data, call.rows, call.cols, ld, 1, 0, bytes_of(type)};
  };
  const auto in_place = [&](const void* data, int type, int64_t ld) {
    return data == call.out && ld == call.out_ld && bytes_of(type) == bytes_of(call.out_type);
  };
  std::vector<Input> inputs = {
      {matrix(in, call.in, call.in_type, call.in_ld), in_place(call.in, call.in_type, call.in_ld)}};
  if (backward) {
    inputs.push_back({matrix("dy", call.dy, call.dy_type, call.dy_ld),
                      in_place(call.dy, call.dy_type, call.dy_ld)});
  }
  if (reads_x) {
    inputs.push_back(
        {matrix("x", call.x, call.x_type, call.x_ld), in_place(call.x, call.x_type, call.x_ld)});
  }
  const int64_t group = call.group_rows == 0 ? call.rows : std::min(call.group_rows, call.rows);
  const int64_t all = (call.rows - 1) / group + 1;
  const int64_t groups = call.batch_groups == 0 ? all : std::min(call.batch_groups, all);
  const int64_t batches = (all - 1) / groups + 1;
  if (masks) {
    const std::vector<int64_t> distances(call.mask_strides, call.mask_strides + 4);
    inputs.push_back({range("mask", call.mask, {batches, groups, group, call.cols}, distances,
                            bytes_of(call.mask_type)),
                      false});
  }
  if (has_lengths) {
    const std::vector<int64_t> distances(call.lengths_strides, call.lengths_strides + 3);
    inputs.push_back(
        {range("lengths", call.lengths, {batches, groups, group}, distances, length_bytes), false});
  }
  return memory_rules(inputs, {matrix(out, call.out, call.out_type, call.out_ld)}, arena);
}

}  // namespace mygemm_tests
