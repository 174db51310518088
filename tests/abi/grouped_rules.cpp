// ABI tests: the rules of mygemm_gemm_grouped; see rules.h.
#include <algorithm>
#include <iterator>

#include "memory_rules.h"

namespace mygemm_tests {
namespace {

__extension__ typedef __int128 Wide;  // holds any product of 64-bit arguments

enum Extent { kM, kN, kK, kOne };
enum Array { kLda = 3, kLdb, kLdc, kLdd, kNone };
constexpr const char* kArrayNames[] = {"m", "n", "k", "lda", "ldb", "ldc", "ldd"};

int64_t bytes_of(int type) { return type == MYGEMM_R_32F ? 4 : 2; }
bool is_switch(int value) { return value == 0 || value == 1; }

bool misplaced(const void* pointer, int64_t alignment) {
  return pointer == nullptr ||
         reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(alignment) != 0;
}

// An operand of all products; `lds`: the array that its leading dimensions may be in. Bias is never
// stacked.
struct Matrix {
  const char* name;
  const void* data;
  Extent rows, columns;
  int64_t ld, stride;
  Array lds;
  int64_t element_bytes;
};

// The sizes of a call whose enumerations are right.
class Groups {
 public:
  explicit Groups(const GroupedCall& call) : call_(call) {
    for (int i = 0; i < 3 && call.stacked == 1 && call.batch != 0; ++i) {
      if (call.arrays[i].given) along_ = i;
    }
  }

  bool stacked() const { return along_ >= 0; }
  bool stacked(const Matrix& x) const {
    return stacked() && x.lds != kNone && (x.rows == along_ || x.columns == along_);
  }
  int64_t most(int extent) const {
    const int64_t sizes[] = {call_.m, call_.n, call_.k, 1};
    return sizes[extent];
  }
  // The same of the matrices as a whole.
  int64_t whole(int extent) const { return extent == along_ ? call_.total : most(extent); }
  int64_t size(int extent, int64_t i) const {
    if (extent == kOne || !call_.arrays[extent].given) return most(extent);
    const int64_t* const elements = call_.arrays[extent].elements;
    const Wide own = Wide{elements[i]} - (call_.ends == 1 && i > 0 ? elements[i - 1] : 0);
    return static_cast<int64_t>(std::clamp<Wide>(own, INT64_MIN, INT64_MAX));
  }
  // The stacked sizes of the products before this one.
  int64_t before(int64_t i) const {
    int64_t sum = 0;
    for (int64_t j = 0; j < i; ++j) sum += size(along_, j);
    return sum;
  }
  bool has_lds(const Matrix& x) const { return x.lds != kNone && call_.arrays[x.lds].given; }
  int64_t ld(const Matrix& x, int64_t i) const {
    return has_lds(x) ? call_.arrays[x.lds].elements[i] : x.ld;
  }

  // All of its matrices at their largest, with the smallest leading dimension where each has one.
  Operand largest(const Matrix& x) const {
    const bool one = stacked(x);
    const int64_t rows = x.lds == kNone ? most(x.rows) : whole(x.rows);
    return {x.name,
            x.data,
            whole(x.columns),
            rows,
            has_lds(x) ? std::max<int64_t>(1, rows) : x.ld,
            one ? 1 : call_.batch,
            one ? 0 : x.stride,
            x.element_bytes};
  }

  // Product i's own matrix; false where it is not in the arena.
  bool own(const Matrix& x, int64_t i, const Arena& arena, Operand* operand) const {
    const int64_t rows = size(x.rows, i), columns = size(x.columns, i), distance = ld(x, i);
    const bool empty = rows == 0 || columns == 0;
    *operand = {x.name, x.data, empty ? 0 : columns, rows, distance, 1, 0, x.element_bytes};
    if (empty) return true;
    const Wide step =
        !stacked(x) ? Wide{x.stride} * i : Wide{before(i)} * (x.rows == along_ ? 1 : distance);
    const Wide first = static_cast<Wide>(reinterpret_cast<uintptr_t>(x.data)) -
                       static_cast<Wide>(reinterpret_cast<uintptr_t>(arena.begin)) +
                       step * x.element_bytes;
    const Wide last = Wide{columns - 1} * distance;
    const Wide lowest = first + std::min<Wide>(last, 0) * x.element_bytes;
    const Wide end = first + (std::max<Wide>(last, 0) + rows) * x.element_bytes;
    if (lowest < 0 || end > arena.bytes) return false;
    operand->data = arena.begin + static_cast<int64_t>(first);
    return true;
  }

 private:
  const GroupedCall& call_;
  int along_ = -1;
};

// Enumerations, and which arguments go together.
Verdict form_rules(const GroupedCall& call) {
  Stage enums, arrays, extras;
  enums.refuse_if(call.index_type != MYGEMM_INDEX_32I && call.index_type != MYGEMM_INDEX_64I,
                  "index_type");
  enums.refuse_if(!is_switch(call.location), "location");
  enums.refuse_if(!is_switch(call.stacked), "stacked");
  enums.refuse_if(!is_switch(call.ends), "ends");
  if (enums.broken()) return enums.verdict();
  const int sizes = call.arrays[0].given + call.arrays[1].given + call.arrays[2].given;
  arrays.refuse_if(call.stacked == 0 && call.ends == 1, "ends");
  const bool stacked = call.stacked == 1 && call.batch != 0;  // arrays of no element may be NULL
  arrays.refuse_if(stacked && sizes != 1, "stacked");
  for (int i = kLda; i < kNone; ++i) {
    arrays.refuse_if(stacked && call.arrays[i].given, kArrayNames[i]);
  }
  if (arrays.broken()) return arrays.verdict();
  const bool gradient = call.activation == MYGEMM_ACTIVATION_RELU_GRADIENT ||
                        call.activation == MYGEMM_ACTIVATION_GELU_GRADIENT;
  extras.refuse_if(gradient || (call.activation != MYGEMM_ACTIVATION_NONE && call.aux != nullptr),
                   "aux");
  extras.refuse_if(call.sums_of != MYGEMM_SUMS_NONE, "sums_of");
  extras.refuse_if(call.fill != MYGEMM_FILL_FULL, "fill");
  Verdict verdict = extras.verdict();
  verdict.status = extras.broken() ? MYGEMM_STATUS_NOT_SUPPORTED : MYGEMM_STATUS_SUCCESS;
  return verdict;
}

bool array_is_misplaced(const GroupedCall& call, int number) {
  return call.arrays[number].misplaced % (call.index_type == MYGEMM_INDEX_32I ? 4 : 8) != 0;
}

void check_sizes(const GroupedCall& call, const Groups& groups, Stage* sizes) {
  for (int extent = kM; extent <= kK; ++extent) {
    if (!call.arrays[extent].given) continue;
    sizes->refuse_if(array_is_misplaced(call, extent), kArrayNames[extent]);
    Wide sum = 0;
    for (int64_t i = 0; i < call.batch; ++i) {
      const int64_t size = groups.size(extent, i);
      sum += size;
      const bool too_many = groups.stacked() && sum > call.total;
      sizes->refuse_if(size < 0 || size > groups.most(extent) || too_many, kArrayNames[extent]);
    }
  }
}

// Leading dimensions of the call, or those of the products.
bool lds_are_wrong(const GroupedCall& call, const Groups& groups, const Matrix& x) {
  if (!groups.has_lds(x)) return x.ld < std::max<int64_t>(1, groups.whole(x.rows));
  for (int64_t i = 0; i < call.batch; ++i) {
    if (groups.ld(x, i) < std::max<int64_t>(1, groups.size(x.rows, i))) return true;
  }
  return array_is_misplaced(call, x.lds);
}

Verdict open_verdict() {
  Verdict verdict;
  verdict.open = true;
  return verdict;
}

Verdict refused_or_open(const Verdict& refused, bool open) {
  return open ? open_verdict() : refused;
}

}  // namespace

// Byte counts and overlap are those of matrices of the call's sizes, the most that a product has.
// Left open are overlap where matrices have leading dimensions of their own, pointers and overlap
// where nothing is computed although the total is not 0, and leading dimensions and strides of a C
// that is D.
Verdict rules(const GroupedCall& call, const Arena& arena) {
  for (const Verdict& verdict : {type_rules(call), form_rules(call)}) {
    if (verdict.status != MYGEMM_STATUS_SUCCESS) return verdict;
  }
  const Groups groups(call);
  const bool ta = call.transa != MYGEMM_OP_N, tb = call.transb != MYGEMM_OP_N;
  const int64_t out_bytes = bytes_of(call.types[3]);
  const Matrix a = {"A",      call.a,        ta ? kK : kM, ta ? kM : kK,
                    call.lda, call.stride_a, kLda,         bytes_of(call.types[0])};
  const Matrix b = {"B",      call.b,        tb ? kN : kK, tb ? kK : kN,
                    call.ldb, call.stride_b, kLdb,         bytes_of(call.types[1])};
  const Matrix d = {"D", call.c, kM, kN, call.ldc, call.stride_c, kLdd, out_bytes};
  const Matrix bias = {"bias", call.bias, kM, kOne, call.m, call.stride_bias, kNone, out_bytes};
  // C has the strides of D where these count.
  const bool same_place = call.old_c == call.c && call.ld_old_c == call.ldc;
  const bool same_strides = call.batch == 1 || call.stride_old_c == call.stride_c;
  const bool c_is_d = call.old_c == nullptr || (same_place && (same_strides || groups.stacked(d)));
  Matrix c = {"C", call.old_c, kM, kN, call.ld_old_c, call.stride_old_c, kLdc, out_bytes};
  if (c_is_d) c = d, c.name = "C", c.lds = kLdc;

  Stage sizes;
  sizes.refuse_if(groups.stacked() && call.total < 0, "total");
  sizes.refuse_if(call.m < 0, "m");
  sizes.refuse_if(call.n < 0, "n");
  sizes.refuse_if(call.k < 0, "k");
  sizes.refuse_if(call.batch < 0, "batch_count");
  sizes.refuse_if(lds_are_wrong(call, groups, a), "lda");
  sizes.refuse_if(lds_are_wrong(call, groups, b), "ldb");
  sizes.refuse_if(lds_are_wrong(call, groups, d), "ldd");
  sizes.refuse_if(!c_is_d && lds_are_wrong(call, groups, c), "ldc");
  check_sizes(call, groups, &sizes);
  const bool ignored_ldc = c_is_d && groups.has_lds(c) && lds_are_wrong(call, groups, c);
  const bool other_c = ignored_ldc || (c_is_d && call.old_c != nullptr && !same_strides);
  if (sizes.broken()) {
    sizes.refuse_if(other_c, "ldc");
    return sizes.verdict();
  }

  const bool alpha_placed = !misplaced(call.alpha, 4), beta_placed = !misplaced(call.beta, 4);
  const bool scales_by_1 = beta_placed && *call.beta == 1;
  const bool alone = c_is_d && call.bias == nullptr && call.activation == MYGEMM_ACTIVATION_NONE;
  const bool no_alpha = alpha_placed && *call.alpha == 0;
  const bool reads_inputs = groups.whole(kK) > 0 && !no_alpha;
  const bool reads_c = !c_is_d && !(beta_placed && *call.beta == 0);
  const bool nothing_computed = call.m == 0 || call.n == 0 || call.k == 0;
  const bool open = other_c || (groups.stacked() && nothing_computed);
  if (groups.whole(kM) == 0 || groups.whole(kN) == 0 || call.batch == 0 ||
      (!reads_inputs && alone && scales_by_1)) {
    Verdict done;
    done.nothing_to_do = true;
    done.open = open;
    return done;
  }

  Stage pointers;
  pointers.refuse_if(!alpha_placed, "alpha");
  pointers.refuse_if(!beta_placed, "beta");
  pointers.refuse_if(reads_inputs && misplaced(call.a, a.element_bytes), "A");
  pointers.refuse_if(reads_inputs && misplaced(call.b, b.element_bytes), "B");
  pointers.refuse_if(reads_c && misplaced(call.old_c, out_bytes), "C");
  pointers.refuse_if(misplaced(call.c, out_bytes), "D");
  pointers.refuse_if(call.bias != nullptr && misplaced(call.bias, out_bytes), "bias");
  if (pointers.broken()) return refused_or_open(pointers.verdict(), open);

  std::vector<Matrix> read;
  if (reads_inputs) read = {a, b};
  if (reads_c) read.push_back(c);
  if (call.bias != nullptr) read.push_back(bias);
  std::vector<Input> inputs;
  for (const Matrix& x : read) inputs.push_back({groups.largest(x), false});
  if (!call.has_arrays()) {
    const Verdict verdict = memory_rules(inputs, {groups.largest(d)}, arena);
    return verdict.status == MYGEMM_STATUS_SUCCESS ? verdict : refused_or_open(verdict, open);
  }

  // Elements of the products in the arena; C where it is D, too, whatever its leading dimensions.
  std::vector<bool> writes(static_cast<size_t>(arena.bytes));
  if (c_is_d) read.push_back(c);
  for (int64_t i = 0; i < call.batch; ++i) {
    Operand own;
    bool inside = true;
    for (const Matrix& x : read) inside = inside && groups.own(x, i, arena, &own);
    if (!inside || !groups.own(d, i, arena, &own)) {
      Verdict outside;
      outside.outside_arena = true;
      return outside;
    }
    visit_matrix(arena, own, 0, [&](int64_t byte) { writes[static_cast<size_t>(byte)] = true; });
  }
  const bool has_lds = std::any_of(call.arrays + kLda, std::end(call.arrays),
                                   [](const GroupedCall::Array& lds) { return lds.given; });
  Verdict verdict = memory_rules(inputs, {groups.largest(d)}, arena);
  if (verdict.outside_arena) return open_verdict();
  if (verdict.status != MYGEMM_STATUS_SUCCESS) {
    return refused_or_open(verdict, open || has_lds);
  }
  verdict.open = other_c;
  verdict.writes = writes;
  return verdict;
}

}  // namespace mygemm_tests
