// ABI tests: see rules.h. One stage of checks after the other, as mygemm.h orders them; within a
// stage any argument at fault may be the one that is named.
#include "rules.h"

#include <algorithm>
#include <cmath>

#include "memory_rules.h"

namespace mygemm_tests {
namespace {

bool is_type(int type) {
  return type == MYGEMM_R_32F || type == MYGEMM_R_16F || type == MYGEMM_R_16BF;
}
int64_t bytes_of(int type) { return type == MYGEMM_R_32F ? 4 : 2; }
bool is_operation(int value) { return value >= 0 && value <= 2; }

bool misplaced(const void* pointer, int64_t alignment) {
  return pointer == nullptr ||
         reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) != 0;
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

bool is_gradient(const GemmCall& call) {
  return call.activation == MYGEMM_ACTIVATION_RELU_GRADIENT ||
         call.activation == MYGEMM_ACTIVATION_GELU_GRADIENT;
}
bool has_aux(const GemmCall& call) {
  return is_gradient(call) || (call.activation != MYGEMM_ACTIVATION_NONE && call.aux != nullptr);
}
bool has_bits(const GemmCall& call) {
  return has_aux(call) && (call.activation == MYGEMM_ACTIVATION_RELU ||
                           call.activation == MYGEMM_ACTIVATION_RELU_GRADIENT);
}

// The place of aux: floats, or bytes of bits, of which whole words are read.
Operand aux_of(const GemmCall& call) {
  if (!has_bits(call)) {
    return {"aux", call.aux, call.n, call.m, call.ldaux, call.batch, call.stride_aux, 4};
  }
  const int64_t bytes = is_gradient(call) ? (call.m + 31) / 32 * 4 : (call.m + 7) / 8;
  return {"aux", call.aux, call.n, bytes, call.ldaux / 8, call.batch, call.stride_aux / 8, 1};
}

// Nothing is written beside the triangle of a legal call.
void keep_other_triangle(const GemmCall& call, const Arena& arena, Verdict* verdict) {
  if (call.fill == MYGEMM_FILL_FULL || verdict->writes.empty()) return;
  const int64_t start = static_cast<int64_t>(reinterpret_cast<uintptr_t>(call.c) -
                                             reinterpret_cast<uintptr_t>(arena.begin));
  for (int64_t matrix = 0; matrix < call.batch; ++matrix) {
    for (int64_t j = 0; j < call.n; ++j) {
      for (int64_t i = 0; i < call.m; ++i) {
        if (call.fill == MYGEMM_FILL_LOWER ? i >= j : i <= j) continue;
        const int64_t size = bytes_of(call.types[3]);
        const int64_t byte = start + size * (matrix * call.stride_c + j * call.ldc + i);
        std::fill_n(verdict->writes.begin() + byte, size, false);
      }
    }
  }
}

}  // namespace

Verdict type_rules(const GemmCall& call) {
  constexpr const char* kTypeNames[] = {"atype", "btype", "ctype", "dtype"};
  Stage enums, types;
  for (int i = 0; i < 4; ++i) {
    enums.refuse_if(!is_type(call.types[i]), kTypeNames[i]);
  }
  const bool fp32_a = call.types[0] == MYGEMM_R_32F, fp32_b = call.types[1] == MYGEMM_R_32F;
  const bool mixed =
      (fp32_a && call.types[1] == MYGEMM_R_16BF) || (fp32_b && call.types[0] == MYGEMM_R_16BF);
  types.refuse_if(call.types[0] != call.types[1] && !mixed, "atype");
  types.refuse_if(call.types[2] != call.types[3], "ctype");
  types.refuse_if((fp32_a || fp32_b) && call.types[3] != MYGEMM_R_32F, "dtype");
  enums.refuse_if(call.math < -1 || call.math > 2, "math");
  enums.refuse_if(call.invariance < -1 || call.invariance > 1, "invariance");
  enums.refuse_if(call.activation < 0 || call.activation > 4, "activation");
  enums.refuse_if(call.sums_of < 0 || call.sums_of > 3, "sums_of");
  enums.refuse_if(call.fill < 0 || call.fill > 2, "fill");
  enums.refuse_if(!is_operation(call.transa), "transa");
  enums.refuse_if(!is_operation(call.transb), "transb");
  if (enums.broken()) return enums.verdict();
  Verdict verdict = types.verdict();
  verdict.status = types.broken() ? MYGEMM_STATUS_NOT_SUPPORTED : MYGEMM_STATUS_SUCCESS;
  return verdict;
}

Verdict rules(const GemmCall& call, const Arena& arena) {
  if (call.general) {
    const Verdict verdict = type_rules(call);
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
  sizes.refuse_if(has_aux(call) && call.ldaux < std::max<int64_t>(1, call.m), "ldaux");
  sizes.refuse_if(has_bits(call) && call.ldaux % 32 != 0, "ldaux");
  sizes.refuse_if(has_bits(call) && call.batch > 1 && call.stride_aux % 32 != 0, "stride_aux");
  const bool alone = call.bias == nullptr && call.activation == MYGEMM_ACTIVATION_NONE &&
                     call.sums_of == MYGEMM_SUMS_NONE;
  sizes.refuse_if(call.fill != MYGEMM_FILL_FULL && (call.m != call.n || !alone), "fill");
  if (sizes.broken()) return sizes.verdict();
  if (call.m == 0 || call.n == 0 || call.batch == 0) return done();

  const bool alpha_placed = !misplaced(call.alpha, 4);
  const bool beta_placed = !misplaced(call.beta, 4);
  const bool reads_inputs = call.k > 0 && !(alpha_placed && *call.alpha == 0);
  const bool reads_c = own_c && !(beta_placed && *call.beta == 0);
  const bool reads_a = reads_inputs || (call.k > 0 && call.sums_of == MYGEMM_SUMS_OF_A);
  const bool reads_b = reads_inputs || (call.k > 0 && call.sums_of == MYGEMM_SUMS_OF_B);
  const bool keeps_c = !own_c && alone;
  // C = C: mygemm.h leaves open whether mygemm_sgemm then checks pointers.
  if (!reads_inputs && keeps_c && beta_placed && *call.beta == 1) {
    return call.general ? done() : open_verdict();
  }
  const char* const output = call.general ? "D" : "C";
  const int64_t a_bytes = bytes_of(call.types[0]), b_bytes = bytes_of(call.types[1]);
  const int64_t out_bytes = bytes_of(call.types[3]);
  Stage pointers;
  pointers.refuse_if(!alpha_placed, "alpha");
  pointers.refuse_if(!beta_placed, "beta");
  pointers.refuse_if(reads_a && misplaced(call.a, a_bytes), "A");
  pointers.refuse_if(reads_b && misplaced(call.b, b_bytes), "B");
  pointers.refuse_if(reads_c && misplaced(call.old_c, out_bytes), "C");
  pointers.refuse_if(misplaced(call.c, out_bytes), output);
  pointers.refuse_if(call.bias != nullptr && misplaced(call.bias, out_bytes), "bias");
  pointers.refuse_if(has_aux(call) && misplaced(call.aux, 4), "aux");
  pointers.refuse_if(call.sums_of != MYGEMM_SUMS_NONE && misplaced(call.sums, 4), "sums");
  if (pointers.broken()) return pointers.verdict();

  const auto operand = [&](const char* name, const float* data, int64_t rows, int64_t columns,
                           int64_t ld, int64_t stride, int64_t bytes) {
    return Operand{name, data, columns, rows, ld, call.batch, stride, bytes};
  };
  std::vector<Operand> outs = {
      operand(output, call.c, call.m, call.n, call.ldc, call.stride_c, out_bytes)};
  std::vector<Input> inputs;
  if (reads_a) {
    const int64_t columns = ta ? call.m : call.k;
    inputs.push_back(
        {operand("A", call.a, a_rows, columns, call.lda, call.stride_a, a_bytes), false});
  }
  if (reads_b) {
    const int64_t columns = tb ? call.k : call.n;
    inputs.push_back(
        {operand("B", call.b, b_rows, columns, call.ldb, call.stride_b, b_bytes), false});
  }
  if (reads_c) {
    inputs.push_back(
        {operand("C", call.old_c, call.m, call.n, call.ld_old_c, call.stride_old_c, out_bytes),
         false});
  }
  if (call.bias != nullptr) {
    inputs.push_back(
        {operand("bias", call.bias, call.m, 1, call.m, call.stride_bias, out_bytes), false});
  }
  if (has_aux(call) && is_gradient(call)) inputs.push_back({aux_of(call), false});
  if (has_aux(call) && !is_gradient(call)) outs.push_back(aux_of(call));
  if (call.sums_of != MYGEMM_SUMS_NONE) {
    const int64_t values = call.sums_of == MYGEMM_SUMS_OF_B ? call.n : call.m;
    outs.push_back(operand("sums", call.sums, values, 1, values, call.stride_sums, 4));
  }
  Verdict verdict = memory_rules(inputs, outs, arena);
  keep_other_triangle(call, arena, &verdict);
  return verdict;
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
  return memory_rules(inputs, {operand(out_name, call.out, call.out_type, call.out_ld)}, arena);
}

Verdict rules(const LossCall& call, const Arena& arena) {
  Stage enums;
  enums.refuse_if(!is_type(call.xtype), "xtype");
  enums.refuse_if(!is_type(call.dxtype), "dxtype");
  enums.refuse_if(call.target_type != 10 && call.target_type != 24, "target_type");
  if (enums.broken()) return enums.verdict();
  const bool gradient = call.dx != nullptr, uses_dloss = gradient && call.dloss != nullptr;
  const int64_t smallest = std::max<int64_t>(1, call.cols);
  Stage sizes;
  sizes.refuse_if(call.rows < 0, "rows");
  sizes.refuse_if(call.cols < 0, "cols");
  sizes.refuse_if(call.ldx < smallest, "ldx");
  sizes.refuse_if(gradient && call.lddx < smallest, "lddx");
  sizes.refuse_if(uses_dloss && call.stride_dloss < 0, "stride_dloss");
  sizes.refuse_if(!(call.smoothing >= 0 && call.smoothing <= 1), "label_smoothing");
  sizes.refuse_if(!std::isfinite(call.z_loss), "z_loss");
  sizes.refuse_if(!std::isfinite(call.scale), "gradient_scale");
  if (sizes.broken()) return sizes.verdict();
  const bool writes = gradient || call.loss != nullptr || call.lse != nullptr;
  if (call.rows == 0 || call.cols == 0 || !writes) return done();

  const int64_t index_bytes = call.target_type == 10 ? 4 : 8;
  Stage pointers;
  pointers.refuse_if(misplaced(call.x, bytes_of(call.xtype)), "x");
  pointers.refuse_if(misplaced(call.targets, index_bytes), "targets");
  pointers.refuse_if(gradient && misplaced(call.dx, bytes_of(call.dxtype)), "dx");
  pointers.refuse_if(uses_dloss && misplaced(call.dloss, 4), "dloss");
  pointers.refuse_if(call.loss != nullptr && misplaced(call.loss, 4), "loss");
  pointers.refuse_if(call.lse != nullptr && misplaced(call.lse, 4), "lse");
  if (pointers.broken()) return pointers.verdict();

  const auto vector = [&](const char* name, const void* data, int64_t distance, int64_t bytes) {
    return Operand{name, data, distance == 0 ? 1 : call.rows, 1, distance, 1, 0, bytes};
  };
  const bool in_place =
      call.x == call.dx && call.ldx == call.lddx && bytes_of(call.xtype) == bytes_of(call.dxtype);
  std::vector<Input> inputs = {
      {{"x", call.x, call.rows, call.cols, call.ldx, 1, 0, bytes_of(call.xtype)}, in_place},
      {vector("targets", call.targets, 1, index_bytes), false}};
  if (uses_dloss) inputs.push_back({vector("dloss", call.dloss, call.stride_dloss, 4), false});
  std::vector<Operand> outs;
  if (gradient) {
    outs.push_back({"dx", call.dx, call.rows, call.cols, call.lddx, 1, 0, bytes_of(call.dxtype)});
  }
  if (call.loss != nullptr) outs.push_back(vector("loss", call.loss, 1, 4));
  if (call.lse != nullptr) outs.push_back(vector("lse", call.lse, 1, 4));
  return memory_rules(inputs, outs, arena);
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
  Verdict verdict = memory_rules({{in, in_place}}, {out}, arena);
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
