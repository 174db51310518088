// ABI tests: see rules.h. One stage of checks after the other, as mygemm.h orders them; within a
// stage any argument at fault may be the one that is named.
#include "rules.h"

#include <algorithm>
#include <cmath>

namespace mygemm_tests {
namespace {

__extension__ typedef __int128 Wide;  // holds any byte count of 64-bit arguments

// The arguments at fault of the stage that is being checked.
class Stage {
 public:
  void refuse_if(bool broken, const char* argument) {
    if (broken) culprits_.push_back(argument);
  }
  bool broken() const { return !culprits_.empty(); }
  Verdict verdict() const {
    Verdict verdict;
    verdict.status = MYGEMM_STATUS_INVALID_VALUE;
    verdict.culprits = culprits_;
    return verdict;
  }

 private:
  std::vector<std::string> culprits_;
};

bool is_type(int type) {
  return type == MYGEMM_R_32F || type == MYGEMM_R_16F || type == MYGEMM_R_16BF;
}
int64_t bytes_of(int type) { return type == MYGEMM_R_32F ? 4 : 2; }
bool is_operation(int value) { return value >= 0 && value <= 2; }

bool misplaced(const void* pointer, int64_t alignment) {
  return pointer == nullptr ||
         reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) != 0;
}

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

// Number of matrices to check: all, or two where all are the same.
int64_t distinct_matrices(const Operand& operand) {
  return operand.stride == 0 ? std::min<int64_t>(operand.batch, 2) : operand.batch;
}

// Calls visit(byte of the arena) for every byte of matrix i.
template <class F>
void visit_matrix(const Arena& arena, const Operand& operand, int64_t i, F visit) {
  const int64_t start = static_cast<int64_t>(start_in(arena, operand));
  for (int64_t run = 0; run < operand.runs; ++run) {
    const int64_t first = start + (i * operand.stride + run * operand.ld) * operand.element_bytes;
    for (int64_t b = 0; b < operand.run * operand.element_bytes; ++b) visit(first + b);
  }
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

struct Input {
  Operand operand;
  bool in_place;
};

// The last stages: byte counts, then overlap.
Verdict memory_rules(const std::vector<Input>& inputs, const Operand& out, const Arena& arena) {
  Stage sizes;
  sizes.refuse_if(too_large(out), out.name);
  for (const Input& input : inputs) sizes.refuse_if(too_large(input.operand), input.operand.name);
  if (sizes.broken()) {
    // The output may be named instead, where it is at fault as well.
    sizes.refuse_if(true, out.name);
    return sizes.verdict();
  }
  Verdict legal;
  legal.outside_arena = !inside(arena, out);
  for (const Input& input : inputs) {
    legal.outside_arena = legal.outside_arena || !inside(arena, input.operand);
  }
  if (legal.outside_arena) return legal;

  Stage overlap;
  const Footprint footprint(arena, out);
  overlap.refuse_if(footprint.overlaps_itself(), out.name);
  for (const Input& input : inputs) {
    overlap.refuse_if(footprint.meets(input.operand, input.in_place), input.operand.name);
    if (!input.in_place && footprint.interleaves(input.operand)) legal.interleaved = true;
  }
  if (overlap.broken()) return overlap.verdict();
  legal.writes = footprint.bytes();
  return legal;
}

Verdict done() {
  Verdict verdict;
  verdict.nothing_to_do = true;
  return verdict;
}

Verdict open_verdict() {
  Verdict verdict;
  verdict.open = true;
  return verdict;
}

}  // namespace

namespace {

// C is D: there is one operand for both.
bool c_is_d(const GemmCall& call) {
  return call.old_c == nullptr || (call.old_c == call.c && call.ld_old_c == call.ldc &&
                                   (call.batch == 1 || call.stride_old_c == call.stride_c));
}

// The general product's enumerations and types; nothing where all are right.
Verdict general_rules(const GemmCall& call) {
  constexpr const char* kTypeNames[] = {"atype", "btype", "ctype", "dtype"};
  Stage enums, types;
  for (int i = 0; i < 4; ++i) {
    enums.refuse_if(!is_type(call.types[i]), kTypeNames[i]);
    types.refuse_if(call.types[i] != MYGEMM_R_32F, kTypeNames[i]);
  }
  enums.refuse_if(call.math < -1 || call.math > 2, "math");
  enums.refuse_if(call.activation < 0 || call.activation > 2, "activation");
  enums.refuse_if(!is_operation(call.transa), "transa");
  enums.refuse_if(!is_operation(call.transb), "transb");
  if (enums.broken()) return enums.verdict();
  Verdict verdict = types.verdict();
  verdict.status = types.broken() ? MYGEMM_STATUS_NOT_SUPPORTED : MYGEMM_STATUS_SUCCESS;
  return verdict;
}

}  // namespace

Verdict rules(const GemmCall& call, const Arena& arena) {
  if (call.general) {
    const Verdict verdict = general_rules(call);
    if (verdict.status != MYGEMM_STATUS_SUCCESS) return verdict;
  }
  Stage enums;
  enums.refuse_if(!is_operation(call.transa), "transa");
  enums.refuse_if(!is_operation(call.transb), "transb");
  if (enums.broken()) return enums.verdict();
  Stage sizes;
  sizes.refuse_if(call.m < 0, "m");
  sizes.refuse_if(call.n < 0, "n");
  sizes.refuse_if(call.k < 0, "k");
  sizes.refuse_if(call.batch < 0, "batch_count");
  const bool ta = call.transa != MYGEMM_OP_N;
  const bool tb = call.transb != MYGEMM_OP_N;
  const int64_t a_rows = ta ? call.k : call.m;
  const int64_t b_rows = tb ? call.n : call.k;
  const bool own_c = !c_is_d(call);
  sizes.refuse_if(call.lda < std::max<int64_t>(1, a_rows), "lda");
  sizes.refuse_if(call.ldb < std::max<int64_t>(1, b_rows), "ldb");
  sizes.refuse_if(own_c && call.ld_old_c < std::max<int64_t>(1, call.m), "ldc");
  sizes.refuse_if(call.ldc < std::max<int64_t>(1, call.m), call.general ? "ldd" : "ldc");
  if (sizes.broken()) return sizes.verdict();
  if (call.m == 0 || call.n == 0 || call.batch == 0) return done();

  const bool alpha_placed = !misplaced(call.alpha, 4);
  const bool beta_placed = !misplaced(call.beta, 4);
  const bool reads_inputs = call.k > 0 && !(alpha_placed && *call.alpha == 0);
  const bool reads_c = own_c && !(beta_placed && *call.beta == 0);
  const bool keeps_c = !own_c && call.bias == nullptr && call.activation == MYGEMM_ACTIVATION_NONE;
  // C = C: mygemm.h leaves open whether mygemm_sgemm then checks pointers.
  if (!reads_inputs && keeps_c && beta_placed && *call.beta == 1) {
    return call.general ? done() : open_verdict();
  }
  const char* const output = call.general ? "D" : "C";
  Stage pointers;
  pointers.refuse_if(!alpha_placed, "alpha");
  pointers.refuse_if(!beta_placed, "beta");
  pointers.refuse_if(reads_inputs && misplaced(call.a, 4), "A");
  pointers.refuse_if(reads_inputs && misplaced(call.b, 4), "B");
  pointers.refuse_if(reads_c && misplaced(call.old_c, 4), "C");
  pointers.refuse_if(misplaced(call.c, 4), output);
  pointers.refuse_if(call.bias != nullptr && misplaced(call.bias, 4), "bias");
  if (pointers.broken()) return pointers.verdict();

  const auto operand = [&](const char* name, const float* data, int64_t rows, int64_t columns,
                           int64_t ld, int64_t stride) {
    return Operand{name, data, columns, rows, ld, call.batch, stride, 4};
  };
  const Operand out = operand(output, call.c, call.m, call.n, call.ldc, call.stride_c);
  std::vector<Input> inputs;
  if (reads_inputs) {
    const int64_t a_cols = ta ? call.m : call.k, b_cols = tb ? call.k : call.n;
    inputs.push_back({operand("A", call.a, a_rows, a_cols, call.lda, call.stride_a), false});
    inputs.push_back({operand("B", call.b, b_rows, b_cols, call.ldb, call.stride_b), false});
  }
  if (reads_c) {
    inputs.push_back(
        {operand("C", call.old_c, call.m, call.n, call.ld_old_c, call.stride_old_c), false});
  }
  if (call.bias != nullptr) {
    inputs.push_back({operand("bias", call.bias, call.m, 1, call.m, call.stride_bias), false});
  }
  return memory_rules(inputs, out, arena);
}

Verdict rules(const SoftmaxCall& call, const Arena& arena) {
  const bool backward = call.backward;
  const char* in_name = backward ? "y" : "x";
  const char* out_name = backward ? "dx" : "y";
  Stage enums;
  enums.refuse_if(call.mode != MYGEMM_SOFTMAX && call.mode != MYGEMM_LOG_SOFTMAX, "mode");
  enums.refuse_if(!is_type(call.in_type), backward ? "ytype" : "xtype");
  enums.refuse_if(backward && !is_type(call.dy_type), "dytype");
  enums.refuse_if(!is_type(call.out_type), backward ? "dxtype" : "ytype");
  if (enums.broken()) return enums.verdict();
  Stage sizes;
  sizes.refuse_if(call.rows < 0, "rows");
  sizes.refuse_if(call.cols < 0, "cols");
  const int64_t smallest = std::max<int64_t>(1, call.cols);
  sizes.refuse_if(!std::isfinite(call.scale), "scale");
  sizes.refuse_if(call.in_ld < smallest, backward ? "ldy" : "ldx");
  sizes.refuse_if(backward && call.dy_ld < smallest, "lddy");
  sizes.refuse_if(call.out_ld < smallest, backward ? "lddx" : "ldy");
  if (sizes.broken()) return sizes.verdict();
  if (call.rows == 0 || call.cols == 0) return done();

  Stage pointers;
  pointers.refuse_if(misplaced(call.in, bytes_of(call.in_type)), in_name);
  pointers.refuse_if(backward && misplaced(call.dy, bytes_of(call.dy_type)), "dy");
  pointers.refuse_if(misplaced(call.out, bytes_of(call.out_type)), out_name);
  if (pointers.broken()) return pointers.verdict();

  const auto operand = [&](const char* name, const void* data, int type, int64_t row_distance) {
    return Operand{name, data, call.rows, call.cols, row_distance, 1, 0, bytes_of(type)};
  };
  const auto in_place = [&](const void* data, int type, int64_t row_distance) {
    return data == call.out && bytes_of(type) == bytes_of(call.out_type) &&
           row_distance == call.out_ld;
  };
  std::vector<Input> inputs = {{operand(in_name, call.in, call.in_type, call.in_ld),
                                in_place(call.in, call.in_type, call.in_ld)}};
  if (backward) {
    inputs.push_back({operand("dy", call.dy, call.dy_type, call.dy_ld),
                      in_place(call.dy, call.dy_type, call.dy_ld)});
  }
  return memory_rules(inputs, operand(out_name, call.out, call.out_type, call.out_ld), arena);
}

Verdict rules(const TransposeCall& call, const Arena& arena) {
  const size_t size = call.element_size;
  Stage sizes;
  sizes.refuse_if(size != 1 && size != 2 && size != 4 && size != 8 && size != 16, "element_size");
  sizes.refuse_if(call.rows < 0, "rows");
  sizes.refuse_if(call.cols < 0, "cols");
  sizes.refuse_if(call.batch < 0, "batch_count");
  sizes.refuse_if(call.ldin < std::max<int64_t>(1, call.cols), "ldin");
  sizes.refuse_if(call.ldout < std::max<int64_t>(1, call.rows), "ldout");
  if (sizes.broken()) return sizes.verdict();
  if (call.rows == 0 || call.cols == 0 || call.batch == 0) return done();
  const int64_t element_bytes = static_cast<int64_t>(size);
  Stage pointers;
  pointers.refuse_if(misplaced(call.in, std::min<int64_t>(element_bytes, 8)), "in");
  pointers.refuse_if(misplaced(call.out, std::min<int64_t>(element_bytes, 8)), "out");
  if (pointers.broken()) return pointers.verdict();
  const bool in_place =
      call.in == call.out && (call.batch == 1 || call.stride_in == call.stride_out);
  const Operand in{"in",      call.in,    call.rows,      call.cols,
                   call.ldin, call.batch, call.stride_in, element_bytes};
  const Operand out{"out",      call.out,   call.cols,       call.rows,
                    call.ldout, call.batch, call.stride_out, element_bytes};
  Verdict verdict = memory_rules({{in, in_place}}, out, arena);
  // In place the call may write the elements of in's layout as well.
  if (in_place && !verdict.writes.empty()) {
    for (int64_t i = 0; i < distinct_matrices(in); ++i) {
      visit_matrix(arena, in, i,
                   [&](int64_t byte) { verdict.writes[static_cast<size_t>(byte)] = true; });
    }
  }
  return verdict;
}

}  // namespace mygemm_tests
