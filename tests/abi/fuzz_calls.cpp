// ABI tests: see fuzz_calls.h.
#include "fuzz_calls.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace mygemm_tests {
namespace {

constexpr int64_t kCommonLd = 12;  // of sub-matrices of one larger array
constexpr int64_t kParts = 3;
constexpr int64_t kEdges[] = {-1,
                              0,
                              1,
                              2,
                              5,
                              1 << 20,
                              int64_t{1} << 31,
                              int64_t{1} << 32,
                              int64_t{1} << 59,
                              int64_t{1} << 61,
                              int64_t{1} << 62,
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min()};
constexpr int kWrongEnums[] = {-1, 1, 2, 3, 4, 7, 14, 15, 1000};
constexpr int kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};
constexpr float kScalars[] = {0.0f, 1.0f, -0.5f};
constexpr float kScales[] = {1.0f, -2.0f, 0.0f};

template <class T, size_t kCount>
int64_t count(const T (&)[kCount]) {
  return static_cast<int64_t>(kCount);
}

}  // namespace

void CallGenerator::new_placement() {
  const int64_t roll = random_.integer(0, 9);
  placement_ = roll < 5   ? Placement::kApart
               : roll < 8 ? Placement::kInterleaved
                          : Placement::kAnywhere;
  common_start_ = random_.integer(0, 15) * 16;
}

int64_t CallGenerator::ld(int64_t smallest) {
  if (placement_ == Placement::kInterleaved) return std::max(smallest, kCommonLd);
  return std::max<int64_t>(1, smallest) + random_.integer(0, 3);
}

// Mostly far enough for matrices of `span` elements not to overlap.
int64_t CallGenerator::stride(int64_t span, bool zero_allowed) {
  if (zero_allowed && chance(20)) return 0;
  const int64_t distance = std::max<int64_t>(1, span - (chance(15) ? random_.integer(1, 6) : 0));
  return chance(25) ? -distance : distance;
}

const unsigned char* CallGenerator::place(int part, int64_t below, int64_t above,
                                          int64_t element_bytes) {
  const int64_t elements = arena_.bytes / element_bytes;
  int64_t at = 0;
  switch (placement_) {
    case Placement::kApart: at = part * (elements / kParts) + below; break;
    case Placement::kInterleaved:
      at = common_start_ / element_bytes + below + random_.integer(0, kCommonLd - 1);
      break;
    case Placement::kAnywhere:
      at = below + random_.integer(0, std::max<int64_t>(0, elements - below - above));
      break;
  }
  return arena_.begin + at * element_bytes;
}

void CallGenerator::break_integer(int64_t* value) {
  *value = chance(40) ? std::max<int64_t>(*value, -1) - 1 : random_.pick(kEdges, count(kEdges));
}

void CallGenerator::break_enum(int* value) {
  *value = random_.pick(kWrongEnums, count(kWrongEnums));
}

template <class T>
void CallGenerator::break_pointer(T** pointer) {
  const uintptr_t address =
      chance(60) ? 0 : reinterpret_cast<uintptr_t>(*pointer) | (chance(50) ? 1u : 2u);
  *pointer = reinterpret_cast<T*>(address);
}
template void CallGenerator::break_pointer(const void**);
template void CallGenerator::break_pointer(const float**);
template void CallGenerator::break_pointer(float**);

GemmCall CallGenerator::gemm(bool batched) {
  new_placement();
  GemmCall call{};
  call.transa = static_cast<int>(random_.integer(0, 2));
  call.transb = static_cast<int>(random_.integer(0, 2));
  call.m = extent();
  call.n = extent();
  call.k = extent();
  call.batch = batched ? random_.integer(chance(4) ? 0 : 1, 3) : 1;
  call.alpha = &random_.pick(kScalars, count(kScalars));
  call.beta = &random_.pick(kScalars, count(kScalars));
  const auto matrix = [&](int part, int64_t rows, int64_t cols, int64_t* ld_out,
                          int64_t* stride_out) {
    *ld_out = ld(rows);
    const int64_t span = std::max<int64_t>(1, *ld_out * (cols - 1) + rows);
    *stride_out = batched ? stride(span, part < 2) : 0;
    const int64_t shift = (call.batch - 1) * *stride_out;
    return place(part, std::max<int64_t>(0, -shift), span + std::max<int64_t>(0, shift), 4);
  };
  const bool ta = call.transa != MYGEMM_OP_N;
  const bool tb = call.transb != MYGEMM_OP_N;
  call.a = reinterpret_cast<const float*>(
      matrix(0, ta ? call.k : call.m, ta ? call.m : call.k, &call.lda, &call.stride_a));
  call.b = reinterpret_cast<const float*>(
      matrix(1, tb ? call.n : call.k, tb ? call.k : call.n, &call.ldb, &call.stride_b));
  call.c = reinterpret_cast<float*>(
      const_cast<unsigned char*>(matrix(2, call.m, call.n, &call.ldc, &call.stride_c)));

  for (int64_t breaks = chance(50) ? random_.integer(1, 2) : 0; breaks > 0; --breaks) {
    switch (random_.integer(0, batched ? 16 : 12)) {
      case 0: break_enum(&call.transa); break;
      case 1: break_enum(&call.transb); break;
      case 2: break_integer(&call.m); break;
      case 3: break_integer(&call.n); break;
      case 4: break_integer(&call.k); break;
      case 5: break_integer(&call.lda); break;
      case 6: break_integer(&call.ldb); break;
      case 7: break_integer(&call.ldc); break;
      case 8: break_pointer(&call.alpha); break;
      case 9: break_pointer(&call.beta); break;
      case 10: break_pointer(&call.a); break;
      case 11: break_pointer(&call.b); break;
      case 12: break_pointer(&call.c); break;
      case 13: break_integer(&call.batch); break;
      case 14: break_integer(&call.stride_a); break;
      case 15: break_integer(&call.stride_b); break;
      default: break_integer(&call.stride_c); break;
    }
  }
  return call;
}

// Bits have columns of words; stride_aux is then one of words, too, but not always.
void CallGenerator::add_aux_and_sums(bool batched, GemmCall* call) {
  const auto part = [&](int64_t span, int64_t stride_out, int64_t element_bytes) {
    const int64_t shift = batched ? (call->batch - 1) * stride_out : 0;
    return const_cast<unsigned char*>(place(static_cast<int>(random_.integer(0, 2)),
                                            std::max<int64_t>(0, -shift),
                                            span + std::max<int64_t>(0, shift), element_bytes));
  };
  const bool bits = call->activation == MYGEMM_ACTIVATION_RELU ||
                    call->activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  if (call->activation != MYGEMM_ACTIVATION_NONE && chance(80)) {
    call->ldaux = bits ? 32 * random_.integer(1, chance(5) ? 2 : 1) : ld(call->m);
    const int64_t span = call->ldaux * (call->n - 1) + (bits ? 32 : call->m);
    call->stride_aux = batched ? stride(span, true) : random_.integer(-1, 1);
    if (bits && chance(90)) call->stride_aux = call->stride_aux / 32 * 32;
    call->aux =
        bits ? part(span / 32 + 1, call->stride_aux / 32, 4) : part(span, call->stride_aux, 4);
  }
  if (!chance(50)) return;
  call->sums_of = static_cast<int>(random_.integer(1, 3));
  const int64_t values = call->sums_of == MYGEMM_SUMS_OF_B ? call->n : call->m;
  call->stride_sums = batched ? stride(values, false) : random_.integer(-1, 1);
  call->sums = reinterpret_cast<float*>(part(values, call->stride_sums, 4));
}

// The same places, with smaller elements; some begin at odd ones.
void CallGenerator::add_types(GemmCall* call) {
  if (chance(50)) return;
  call->types[0] = call->types[1] = random_.pick(kTypes, count(kTypes));
  if (chance(25)) {
    const bool fp32_a = chance(50);
    call->types[0] = fp32_a ? MYGEMM_R_32F : MYGEMM_R_16BF;
    call->types[1] = fp32_a ? MYGEMM_R_16BF : MYGEMM_R_32F;
  }
  const bool a_16 = call->types[0] != MYGEMM_R_32F, b_16 = call->types[1] != MYGEMM_R_32F;
  if (a_16 && b_16) call->types[2] = call->types[3] = random_.pick(kTypes, count(kTypes));
  const auto move = [&](auto** pointer) {
    if (*pointer == nullptr || chance(50)) return;
    *pointer = reinterpret_cast<std::remove_reference_t<decltype(*pointer)>>(
        reinterpret_cast<uintptr_t>(*pointer) + 2);
  };
  if (a_16) move(&call->a);
  if (b_16) move(&call->b);
  if (call->types[3] != MYGEMM_R_32F) move(&call->bias);
}

GemmCall CallGenerator::general_gemm(bool batched) {
  GemmCall call = gemm(batched);
  call.general = true;
  call.activation = static_cast<int>(random_.integer(0, 4));
  call.math = static_cast<int>(random_.integer(-1, 2));
  call.invariance = static_cast<int>(random_.integer(-1, 1));
  const bool sized = call.m > 0 && call.m < 7 && call.n > 0 && call.n < 7 && call.batch < 4;
  const auto input = [&](int64_t span, int64_t* stride_out) {
    *stride_out = batched ? stride(span, true) : random_.integer(-1, 1);
    const int64_t shift = batched ? (call.batch - 1) * *stride_out : 0;
    return reinterpret_cast<const float*>(place(static_cast<int>(random_.integer(0, 1)),
                                                std::max<int64_t>(0, -shift),
                                                span + std::max<int64_t>(0, shift), 4));
  };
  if (sized && chance(50)) {
    call.ld_old_c = ld(call.m);
    call.old_c = input(call.ld_old_c * (call.n - 1) + call.m, &call.stride_old_c);
    if (chance(40)) {  // C is D, or nearly so
      call.old_c = call.c;
      if (chance(80)) call.ld_old_c = call.ldc;
      if (chance(80)) call.stride_old_c = call.stride_c;
    }
  }
  const bool triangle = chance(call.m == call.n ? 60 : 3);
  if (triangle) call.fill = static_cast<int>(random_.integer(1, 2));
  if (triangle && chance(90)) {
    call.activation = MYGEMM_ACTIVATION_NONE;
  } else if (sized) {
    if (chance(60)) call.bias = input(call.m, &call.stride_bias);
    add_aux_and_sums(batched, &call);
  }
  add_types(&call);
  if (!chance(25)) return call;
  switch (random_.integer(0, 15)) {
    case 0: break_integer(&call.ld_old_c); break;
    case 1: break_integer(&call.stride_old_c); break;
    case 2: break_pointer(&call.old_c); break;
    case 3: break_integer(&call.stride_bias); break;
    case 4: break_pointer(&call.bias); break;
    case 5: break_enum(&call.math); break;
    case 6: break_enum(&call.activation); break;
    case 7: break_enum(&call.sums_of); break;
    case 8: break_pointer(&call.aux); break;
    case 9: break_pointer(&call.sums); break;
    case 10: break_integer(&call.ldaux); break;
    case 11: break_integer(&call.stride_aux); break;
    case 12: break_integer(&call.stride_sums); break;
    case 13: break_enum(&call.fill); break;
    case 14: break_enum(&call.invariance); break;
    default: break_enum(&call.types[random_.integer(0, 3)]); break;
  }
  return call;
}

SoftmaxCall CallGenerator::softmax(bool backward) {
  new_placement();
  SoftmaxCall call{};
  call.backward = backward;
  call.mode = static_cast<int>(random_.integer(0, 1));
  call.rows = extent();
  call.cols = extent();
  call.scale = random_.pick(kScales, count(kScales));
  const auto matrix = [&](int part, int* type, int64_t* ld_out) {
    *type = random_.pick(kTypes, count(kTypes));
    *ld_out = ld(call.cols);
    return place(part, 0, *ld_out * call.rows, *type == MYGEMM_R_32F ? 4 : 2);
  };
  call.in = matrix(0, &call.in_type, &call.in_ld);
  call.dy = matrix(1, &call.dy_type, &call.dy_ld);
  call.out = const_cast<unsigned char*>(matrix(2, &call.out_type, &call.out_ld));
  if (chance(25)) {  // in place, or nearly so
    const bool over_dy = backward && chance(50);
    call.out = const_cast<void*>(over_dy ? call.dy : call.in);
    if (chance(80)) call.out_ld = over_dy ? call.dy_ld : call.in_ld;
    if (chance(60)) call.out_type = over_dy ? call.dy_type : call.in_type;
  }
  for (int64_t breaks = chance(50) ? random_.integer(1, 2) : 0; breaks > 0; --breaks) {
    switch (random_.integer(0, 12)) {
      case 0: break_enum(&call.mode); break;
      case 1: break_enum(&call.in_type); break;
      case 2: break_enum(&call.dy_type); break;
      case 3: break_enum(&call.out_type); break;
      case 4: break_integer(&call.rows); break;
      case 5: break_integer(&call.cols); break;
      case 6: break_integer(&call.in_ld); break;
      case 7: break_integer(&call.dy_ld); break;
      case 8: break_integer(&call.out_ld); break;
      case 9: break_pointer(&call.in); break;
      case 10: break_pointer(&call.dy); break;
      case 11: break_pointer(&call.out); break;
      default:
        call.scale = chance(50) ? std::numeric_limits<float>::quiet_NaN()
                                : -std::numeric_limits<float>::infinity();
        break;
    }
  }
  return call;
}

LossCall CallGenerator::cross_entropy() {
  new_placement();
  LossCall call{};
  call.rows = extent();
  call.cols = extent();
  call.smoothing = chance(30) ? 0.1f : 0.0f;
  call.z_loss = chance(30) ? 1e-3f : 0.0f;
  call.scale = random_.pick(kScales, count(kScales));
  const auto matrix = [&](int part, int* type, int64_t* ld_out) {
    *type = random_.pick(kTypes, count(kTypes));
    *ld_out = ld(call.cols);
    return place(part, 0, *ld_out * call.rows, *type == MYGEMM_R_32F ? 4 : 2);
  };
  // Vectors lie in the last third, or anywhere where operands do.
  const auto vector = [&](int64_t distance, int64_t bytes) {
    const int64_t span = std::max<int64_t>(1, call.rows) * std::max<int64_t>(1, distance);
    const int64_t apart = placement_ == Placement::kAnywhere ? 0 : random_.integer(0, 40) * 8;
    return place(1, 0, span, bytes) + apart * bytes;
  };
  call.x = matrix(0, &call.xtype, &call.ldx);
  call.dx = const_cast<unsigned char*>(matrix(2, &call.dxtype, &call.lddx));
  if (chance(30)) {  // in place, or nearly so
    call.dx = const_cast<void*>(call.x);
    if (chance(80)) call.lddx = call.ldx;
    if (chance(60)) call.dxtype = call.xtype;
  }
  call.target_type = chance(50) ? MYGEMM_INDEX_32I : MYGEMM_INDEX_64I;
  call.targets = vector(1, call.target_type == MYGEMM_INDEX_32I ? 4 : 8);
  const auto floats = [&](int64_t distance) {
    return reinterpret_cast<float*>(const_cast<unsigned char*>(vector(distance, 4)));
  };
  if (chance(50)) {
    call.stride_dloss = random_.integer(0, 3);
    call.dloss = floats(call.stride_dloss);
  }
  if (chance(75)) call.loss = floats(1);
  if (chance(75)) call.lse = floats(1);
  if (chance(20)) call.dx = nullptr;
  for (int64_t breaks = chance(45) ? random_.integer(1, 2) : 0; breaks > 0; --breaks) {
    switch (random_.integer(0, 14)) {
      case 0: break_enum(&call.xtype); break;
      case 1: break_enum(&call.dxtype); break;
      case 2: break_enum(&call.target_type); break;
      case 3: break_integer(&call.rows); break;
      case 4: break_integer(&call.cols); break;
      case 5: break_integer(&call.ldx); break;
      case 6: break_integer(&call.lddx); break;
      case 7: break_integer(&call.stride_dloss); break;
      case 8: break_pointer(&call.x); break;
      case 9: break_pointer(&call.targets); break;
      case 10: break_pointer(&call.dx); break;
      case 11: break_pointer(&call.loss); break;
      case 12: call.smoothing = chance(50) ? 1.5f : std::numeric_limits<float>::quiet_NaN(); break;
      case 13: call.z_loss = std::numeric_limits<float>::infinity(); break;
      default: call.scale = std::numeric_limits<float>::quiet_NaN(); break;
    }
  }
  return call;
}

TransposeCall CallGenerator::transpose(bool batched) {
  new_placement();
  TransposeCall call{};
  call.element_size = size_t{1} << random_.integer(0, 4);
  call.rows = extent();
  call.cols = extent();
  call.batch = batched ? random_.integer(chance(4) ? 0 : 1, 3) : 1;
  const int64_t element_bytes = static_cast<int64_t>(call.element_size);
  call.ldin = ld(call.cols);
  call.ldout = ld(call.rows);
  const int64_t in_span = std::max<int64_t>(1, call.ldin * (call.rows - 1) + call.cols);
  const int64_t out_span = std::max<int64_t>(1, call.ldout * (call.cols - 1) + call.rows);
  const bool in_place = chance(35);
  if (batched) {
    call.stride_in = stride(in_place ? std::max(in_span, out_span) : in_span, !in_place);
    call.stride_out = in_place && chance(85) ? call.stride_in : stride(out_span, false);
  }
  const auto address = [&](int part, int64_t span, int64_t distance) {
    const int64_t shift = (call.batch - 1) * distance;
    return place(part, std::max<int64_t>(0, -shift), span + std::max<int64_t>(0, shift),
                 element_bytes);
  };
  call.in = address(0, in_span, call.stride_in);
  call.out = const_cast<unsigned char*>(address(2, out_span, call.stride_out));
  if (in_place) call.out = const_cast<void*>(call.in);
  for (int64_t breaks = chance(45) ? random_.integer(1, 2) : 0; breaks > 0; --breaks) {
    switch (random_.integer(0, batched ? 9 : 6)) {
      case 0: call.element_size = static_cast<size_t>(random_.pick(kEdges, count(kEdges))); break;
      case 1: break_integer(&call.rows); break;
      case 2: break_integer(&call.cols); break;
      case 3: break_integer(&call.ldin); break;
      case 4: break_integer(&call.ldout); break;
      case 5: break_pointer(&call.in); break;
      case 6: break_pointer(&call.out); break;
      case 7: break_integer(&call.batch); break;
      case 8: break_integer(&call.stride_in); break;
      default: break_integer(&call.stride_out); break;
    }
  }
  return call;
}

}  // namespace mygemm_tests
