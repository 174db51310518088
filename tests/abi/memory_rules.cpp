// ABI tests: see memory_rules.h.
#include "memory_rules.h"

namespace mygemm_tests {
namespace {

__extension__ typedef __int128 Wide;  // holds any byte count of 64-bit arguments

// In elements.
Wide one_matrix(const Operand& operand) {
  return (static_cast<Wide>(operand.runs) - 1) * operand.ld + operand.run;
}
Wide last_shift(const Operand& operand) {
  return (static_cast<Wide>(operand.batch) - 1) * operand.stride;
}

struct Extent {
  Wide lowest, end;  // bytes from data
};

Extent extent(const Operand& operand) {
  const Wide shift = last_shift(operand);
  return {std::min<Wide>(shift, 0) * operand.element_bytes,
          (std::max<Wide>(shift, 0) + one_matrix(operand)) * operand.element_bytes};
}

// Whether its byte counts exceed 64 bits, or its addresses the address space.
bool too_large(const Operand& operand) {
  const Wide limit = INT64_MAX;
  const Wide shift = last_shift(operand);
  if (one_matrix(operand) > limit || shift > limit || shift < -limit) return true;
  const Extent e = extent(operand);
  const Wide base = static_cast<Wide>(reinterpret_cast<uintptr_t>(operand.data));
  return e.end - e.lowest > limit || base + e.lowest < 0 || base + e.end > limit;
}

Wide start_in(const Arena& arena, const Operand& operand) {
  return static_cast<Wide>(reinterpret_cast<uintptr_t>(operand.data)) -
         static_cast<Wide>(reinterpret_cast<uintptr_t>(arena.begin));
}

bool inside(const Arena& arena, const Operand& operand) {
  const Extent e = extent(operand);
  const Wide start = start_in(arena, operand);
  return start + e.lowest >= 0 && start + e.end <= arena.bytes;
}

// The bytes of an output batch, each with the number of its matrix; -1: none.
class Footprint {
 public:
  Footprint(const Arena& arena, const Operand& operand)
      : arena_(arena), owner_(static_cast<size_t>(arena.bytes), -1) {
    for (int64_t i = 0; i < distinct_matrices(operand); ++i) {
      visit_matrix(arena, operand, i, [&](int64_t byte) {
        int16_t& owner = owner_[static_cast<size_t>(byte)];
        overlaps_itself_ = overlaps_itself_ || owner != -1;
        owner = static_cast<int16_t>(i);
        lowest_ = std::min(lowest_, byte);
        highest_ = std::max(highest_, byte);
      });
    }
  }
  bool overlaps_itself() const { return overlaps_itself_; }
  // Whether an input has a byte of it. Matrix i of an input in place may have matrix i's.
  bool meets(const Operand& input, bool in_place) const {
    bool found = false;
    for (int64_t i = 0; i < distinct_matrices(input) && !found; ++i) {
      visit_matrix(arena_, input, i, [&](int64_t byte) {
        const int64_t owner = owner_[static_cast<size_t>(byte)];
        found = found || (owner != -1 && !(in_place && owner == i));
      });
    }
    return found;
  }
  // Whether an input that shares no byte has one between two of its bytes.
  bool interleaves(const Operand& input) const {
    bool found = false;
    visit_matrix(arena_, input, 0,
                 [&](int64_t byte) { found = found || (byte > lowest_ && byte < highest_); });
    return found;
  }
  std::vector<bool> bytes() const {
    std::vector<bool> written(owner_.size());
    for (size_t i = 0; i < owner_.size(); ++i) written[i] = owner_[i] != -1;
    return written;
  }

 private:
  Arena arena_;
  std::vector<int16_t> owner_;
  bool overlaps_itself_ = false;
  int64_t lowest_ = INT64_MAX;
  int64_t highest_ = -1;
};

}  // namespace

Verdict memory_rules(const std::vector<Input>& inputs, const std::vector<Operand>& outs,
                     const Arena& arena) {
  Stage sizes;
  for (const Operand& out : outs) sizes.refuse_if(too_large(out), out.name);
  for (const Input& input : inputs) sizes.refuse_if(too_large(input.operand), input.operand.name);
  if (sizes.broken()) {
    // An output may be named instead, where it is at fault as well.
    for (const Operand& out : outs) sizes.refuse_if(true, out.name);
    return sizes.verdict();
  }
  Verdict legal;
  for (const Operand& out : outs) legal.outside_arena = legal.outside_arena || !inside(arena, out);
  for (const Input& input : inputs) {
    legal.outside_arena = legal.outside_arena || !inside(arena, input.operand);
  }
  if (legal.outside_arena) return legal;

  Stage overlap;
  legal.writes.resize(static_cast<size_t>(arena.bytes));
  for (size_t o = 0; o < outs.size(); ++o) {
    const Footprint footprint(arena, outs[o]);
    overlap.refuse_if(footprint.overlaps_itself(), outs[o].name);
    for (const Input& input : inputs) {
      overlap.refuse_if(footprint.meets(input.operand, input.in_place), input.operand.name);
      if (!input.in_place && footprint.interleaves(input.operand)) legal.interleaved = true;
    }
    for (size_t other = 0; other < o; ++other) {
      overlap.refuse_if(footprint.meets(outs[other], false), outs[o].name);
    }
    const std::vector<bool> bytes = footprint.bytes();
    for (size_t i = 0; i < bytes.size(); ++i) legal.writes[i] = legal.writes[i] || bytes[i];
  }
  return overlap.broken() ? overlap.verdict() : legal;
}

int64_t distinct_matrices(const Operand& operand) {
  return operand.stride == 0 ? std::min<int64_t>(operand.batch, 2) : operand.batch;
}

}  // namespace mygemm_tests
