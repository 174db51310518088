// ABI tests: random argument lists for mygemm_gemm_grouped, and these lists as text.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "fuzz_calls.h"

namespace mygemm_tests {
namespace {

constexpr float kScalars[] = {0.0f, 1.0f, -0.5f};
constexpr const char* kArrayNames[] = {"m", "n", "k", "lda", "ldb", "ldc", "ldd"};
constexpr int kLda = 3, kLdc = 5, kLdd = 6;

}  // namespace

// The sizes of the products: one that differs, stacked, or any.
void CallGenerator::add_groups(GroupedCall* call) {
  const int64_t most[] = {call->m, call->n, call->k};
  call->index_type = chance(50) ? MYGEMM_INDEX_32I : MYGEMM_INDEX_64I;
  call->location = static_cast<int>(random_.integer(0, 1));
  call->stacked = chance(55) ? 1 : 0;
  const int64_t along = random_.integer(0, 2);
  for (int64_t extent = 0; extent < 3; ++extent) {
    GroupedCall::Array& array = call->arrays[extent];
    array.given = call->stacked == 1 ? extent == along : chance(45);
    if (!array.given) continue;
    for (int64_t& element : array.elements) element = random_.integer(0, most[extent]);
  }
  call->total = chance(50) ? random_.integer(0, 9) : 0;
  if (call->stacked == 0) return;
  GroupedCall::Array& sizes = call->arrays[along];
  call->ends = chance(50) ? 1 : 0;
  call->total = chance(50) ? random_.integer(0, 3) : 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < GroupedCall::kMost; ++i) {
    sum += sizes.elements[i];
    if (call->ends == 1) sizes.elements[i] = sum;
    if (i == call->batch - 1) call->total += sum;
  }
}

// Places for the matrices of sizes as large as they may be.
void CallGenerator::add_matrices(GroupedCall* call) {
  const GroupedCall::Array* const arrays = call->arrays;
  const bool stacked = call->stacked == 1;
  int64_t whole[] = {call->m, call->n, call->k};
  for (int i = 0; i < 3; ++i) {
    if (stacked && arrays[i].given) whole[i] = call->total;
  }
  const auto address = [&](int part, int64_t span, int64_t distance) {
    const int64_t shift = (call->batch - 1) * distance;
    return const_cast<unsigned char*>(
        place(part, std::max<int64_t>(0, -shift), span + std::max<int64_t>(0, shift), 4));
  };
  const auto matrix = [&](int part, int rows, int columns, int number, int64_t* ld_out,
                          int64_t* stride_out) {
    *ld_out = ld(whole[rows]);
    int64_t longest = *ld_out;
    if (GroupedCall::Array& lds = call->arrays[number]; !stacked && chance(25)) {
      lds.given = true;
      for (int i = 0; i < GroupedCall::kMost; ++i) {
        lds.elements[i] = ld(arrays[rows].given ? arrays[rows].elements[i] : whole[rows]);
        longest = std::max(longest, lds.elements[i]);
      }
      if (chance(50)) *ld_out = random_.integer(-1, 9);
    }
    const int64_t span = std::max<int64_t>(1, longest * (whole[columns] - 1) + whole[rows]);
    const bool one = stacked && (arrays[rows].given || arrays[columns].given);
    *stride_out = one ? random_.integer(-3, 9) : stride(span, part < 2);
    return address(part, span, one ? 0 : *stride_out);
  };
  const int ta = call->transa != MYGEMM_OP_N, tb = call->transb != MYGEMM_OP_N;
  call->a = reinterpret_cast<const float*>(
      matrix(0, ta ? 2 : 0, ta ? 0 : 2, kLda, &call->lda, &call->stride_a));
  call->b = reinterpret_cast<const float*>(
      matrix(1, tb ? 1 : 2, tb ? 2 : 1, kLda + 1, &call->ldb, &call->stride_b));
  call->c = reinterpret_cast<float*>(matrix(2, 0, 1, kLdd, &call->ldc, &call->stride_c));
  const bool has_c = chance(50);
  if (has_c && chance(50)) {
    const int part = static_cast<int>(random_.integer(0, 1));
    call->old_c = reinterpret_cast<const float*>(
        matrix(part, 0, 1, kLdc, &call->ld_old_c, &call->stride_old_c));
  } else if (has_c || chance(30)) {  // C is D, or nearly so
    call->old_c = has_c ? call->c : nullptr;
    call->ld_old_c = call->ldc;
    if (chance(80)) call->stride_old_c = call->stride_c;
    if (chance(80)) call->arrays[kLdc] = call->arrays[kLdd];
  }
  if (!chance(40)) return;
  call->stride_bias = stride(std::max<int64_t>(1, call->m), true);
  call->bias = reinterpret_cast<const float*>(address(
      static_cast<int>(random_.integer(0, 1)), std::max<int64_t>(1, call->m), call->stride_bias));
}

void CallGenerator::break_grouped(GroupedCall* call) {
  GroupedCall::Array& array = call->arrays[random_.integer(0, 6)];
  switch (random_.integer(0, 31)) {
    case 0: break_enum(&call->transa); break;
    case 1: break_enum(&call->transb); break;
    case 2: break_integer(&call->m); break;
    case 3: break_integer(&call->n); break;
    case 4: break_integer(&call->k); break;
    case 5: break_integer(&call->lda); break;
    case 6: break_integer(&call->ldb); break;
    case 7: break_integer(&call->ldc); break;
    case 8: break_integer(&call->ld_old_c); break;
    case 9: break_pointer(&call->alpha); break;
    case 10: break_pointer(&call->beta); break;
    case 11: break_pointer(&call->a); break;
    case 12: break_pointer(&call->b); break;
    case 13: break_pointer(&call->c); break;
    case 14: break_pointer(&call->old_c); break;
    case 15: break_pointer(&call->bias); break;
    case 16: break_integer(&call->batch); break;
    case 17: break_integer(&call->stride_a); break;
    case 18: break_integer(&call->stride_b); break;
    case 19: break_integer(&call->stride_c); break;
    case 20: break_integer(&call->stride_bias); break;
    case 21: break_integer(&call->total); break;
    case 22: break_enum(&call->index_type); break;
    case 23: break_enum(&call->location); break;
    case 24: call->stacked = chance(50) ? 1 - call->stacked : 2; break;
    case 25: call->ends = chance(50) ? 1 - call->ends : -1; break;
    case 26: array.given = !array.given; break;
    case 27: array.misplaced = static_cast<int>(random_.integer(1, 7)); break;
    case 28: break_enum(&call->types[random_.integer(0, 3)]); break;
    case 29:  // with an activation, or without
      call->activation = static_cast<int>(random_.integer(-1, 5));
      if (chance(50)) call->aux = call->c;
      break;
    case 30: break_enum(chance(50) ? &call->sums_of : &call->fill); break;
    default: break_integer(&array.elements[random_.integer(0, 2)]); break;
  }
}

GroupedCall CallGenerator::grouped_gemm() {
  new_placement();
  GroupedCall call{};
  call.general = true;
  call.transa = static_cast<int>(random_.integer(0, 2));
  call.transb = static_cast<int>(random_.integer(0, 2));
  call.m = extent();
  call.n = extent();
  call.k = extent();
  call.batch = random_.integer(chance(4) ? 0 : 1, 3);
  call.alpha = &random_.pick(kScalars, 3);
  call.beta = &random_.pick(kScalars, 3);
  call.math = static_cast<int>(random_.integer(-1, 2));
  call.invariance = static_cast<int>(random_.integer(-1, 1));
  if (chance(40)) call.activation = chance(50) ? MYGEMM_ACTIVATION_RELU : MYGEMM_ACTIVATION_GELU;
  add_groups(&call);
  add_matrices(&call);
  add_types(&call);
  for (int64_t breaks = chance(50) ? random_.integer(1, 2) : 0; breaks > 0; --breaks) {
    break_grouped(&call);
  }
  // Elements of arrays are read, all of them.
  if (call.has_arrays() && call.batch > GroupedCall::kMost) {
    call.batch = random_.integer(0, GroupedCall::kMost);
  }
  for (GroupedCall::Array& array : call.arrays) {
    for (int64_t& element : array.elements) {
      if (call.index_type == MYGEMM_INDEX_32I) element = static_cast<int32_t>(element);
    }
  }
  return call;
}

GroupsOf::GroupsOf(const GroupedCall& call) {
  const bool narrow = call.index_type == MYGEMM_INDEX_32I;
  const size_t bytes = narrow ? sizeof(int32_t) : sizeof(int64_t);
  const void** const fields[] = {&groups_.m,   &groups_.n,   &groups_.k,  &groups_.lda,
                                 &groups_.ldb, &groups_.ldc, &groups_.ldd};
  for (int number = 0; number < 7; ++number) {
    const GroupedCall::Array& array = call.arrays[number];
    if (!array.given) continue;
    const auto first = static_cast<size_t>(array.misplaced);
    const auto count = static_cast<size_t>(std::max<int64_t>(0, call.batch));
    std::vector<unsigned char>& memory = memory_[number];
    memory.resize(std::max<size_t>(1, first + count * bytes));
    for (size_t i = 0; i < count; ++i) {
      const int64_t element = array.elements[i];
      const auto narrowed = static_cast<int32_t>(element);
      const void* const from = narrow ? static_cast<const void*>(&narrowed) : &element;
      std::memcpy(memory.data() + first + i * bytes, from, bytes);
    }
    *fields[number] = memory.data() + first;
  }
  groups_.total = call.total;
  groups_.index_type = call.index_type;
  groups_.location = call.location;
  groups_.stacked = call.stacked;
  groups_.ends = call.ends;
}

std::string text(const GroupedCall& call) {
  std::ostringstream out;
  out << text(static_cast<const GemmCall&>(call)) << " stacked=" << call.stacked
      << " total=" << call.total << " ends=" << call.ends << " index_type=" << call.index_type
      << " location=" << call.location;
  for (int number = 0; number < 7; ++number) {
    const GroupedCall::Array& array = call.arrays[number];
    if (!array.given) continue;
    out << ' ' << kArrayNames[number] << "s=";
    for (int64_t i = 0; i < std::min<int64_t>(call.batch, GroupedCall::kMost); ++i) {
      out << array.elements[i] << ',';
    }
    if (array.misplaced != 0) out << " misplaced by " << array.misplaced;
  }
  return out.str();
}

}  // namespace mygemm_tests
