// The general product with its epilogue: one case as a Contest. Peers compute the plain product:
// mygemm_sgemm on the same handle, so that the ratio says what the epilogue costs, and a library.
#include "gemm.h"
#include "values.h"

namespace bench {
namespace {

mygemmActivation_t activation(const std::string& name) {
  return name == "relu"            ? MYGEMM_ACTIVATION_RELU
         : name == "gelu"          ? MYGEMM_ACTIVATION_GELU
         : name == "relu-gradient" ? MYGEMM_ACTIVATION_RELU_GRADIENT
         : name == "gelu-gradient" ? MYGEMM_ACTIVATION_GELU_GRADIENT
                                   : MYGEMM_ACTIVATION_NONE;
}

mygemmSums_t sums(const std::string& name) {
  return name == "d"   ? MYGEMM_SUMS_OF_D
         : name == "a" ? MYGEMM_SUMS_OF_A
         : name == "b" ? MYGEMM_SUMS_OF_B
                       : MYGEMM_SUMS_NONE;
}

mygemmFill_t fill(const std::string& name) {
  return name == "lower"   ? MYGEMM_FILL_LOWER
         : name == "upper" ? MYGEMM_FILL_UPPER
                           : MYGEMM_FILL_FULL;
}

// The product whose C is this one's D.
SgemmCase plain_case(const GemmCase& c) {
  SgemmCase plain = c;
  plain.ldc = c.ldd;
  plain.stride_c = c.stride_d;
  return plain;
}

// Empty where there is no such operand.
Extent extent_of_c(const GemmCase& c) {
  return c.c_is_d ? Extent(0, 0, 0, 1) : Extent(c.ldc, c.n, *c.stride_c, c.batch);
}
Extent extent_of_bias(const GemmCase& c) {
  return c.bias ? Extent(c.m, 1, *c.stride_bias, c.batch) : Extent(0, 0, 0, 1);
}

// In floats: 32 bits each.
Extent extent_of_aux(const GemmCase& c) {
  if (!c.aux || c.activation == "none") return Extent(0, 0, 0, 1);
  const int64_t to_float = has_bits(c) ? 32 : 1;
  return Extent(c.ldaux / to_float, c.n, *c.stride_aux / to_float, c.batch);
}
Extent extent_of_sums(const GemmCase& c) {
  if (c.sums == "none") return Extent(0, 0, 0, 1);
  return Extent(c.sums == "b" ? c.n : c.m, 1, *c.stride_sums, c.batch);
}

// cublasSsyrkx, where it computes this product.
void add_triangle_peer(Session* session, const GemmCase& c, const Product& plain,
                       Contest* contest) {
  Cublas* const cublas = session->cublas.get();
  if (!cublas || c.form != "single" || !c.c_is_d || !fits_int(c)) return;
  if ((c.transa == "N") == (c.transb == "N")) return;
  BlasGemm gemm = blas_gemm(plain_case(c));
  gemm.beta = c.reads_c ? 1.0f : 0.0f;
  const bool lower = c.fill == "lower";
  contest->peer_names.push_back("cublas");
  contest->peers.push_back({"cublas",
                            [&plain, cublas, gemm, lower](int64_t i) {
                              cublas->syrkx(gemm, lower, plain.a(i), plain.b(i), plain.out(i));
                            },
                            false});
}

}  // namespace

int64_t FusedProduct::bytes_of_a_set(const GemmCase& c) {
  const int64_t more = extent_of_c(c).elements + extent_of_bias(c).elements +
                       extent_of_aux(c).elements + extent_of_sums(c).elements;
  return Product::bytes_of_a_set(plain_case(c)) + more * static_cast<int64_t>(sizeof(float));
}

FusedProduct::FusedProduct(const Machine& machine, const GemmCase& c, int64_t sets)
    : case_(c),
      plain_case_(plain_case(c)),
      plain_(machine, plain_case_, sets),
      c_(operand(machine, extent_of_c(c), sets, 4, data_type(c.dtype))),
      bias_(operand(machine, extent_of_bias(c), sets, 5, data_type(c.dtype))),
      aux_(operand(machine, extent_of_aux(c), sets, 6)),
      sums_(operand(machine, extent_of_sums(c), sets, 7)),
      beta_(c.reads_c ? 1.0f : 0.0f) {
  if (c.form == "pointers" && !c.c_is_d) {
    const auto size = static_cast<int64_t>(type_bytes(data_type(c.dtype)));
    c_pointers_ = PointerArrays(machine, c_, sets, c.batch, *c.stride_c * size);
  }
}

mygemmGemm_t FusedProduct::strided_call(int64_t i) const {
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = operation(case_.transa);
  call.transb = operation(case_.transb);
  call.m = case_.m;
  call.n = case_.n;
  call.k = case_.k;
  call.batch_count = case_.batch;
  call.atype = data_type(case_.atype);
  call.btype = data_type(case_.btype);
  call.ctype = call.dtype = data_type(case_.dtype);
  call.activation = activation(case_.activation);
  call.alpha = &Product::kAlpha;
  call.beta = &beta_;
  call.A = plain_.a(i);
  call.lda = case_.lda;
  call.stride_a = *case_.stride_a;
  call.B = plain_.b(i);
  call.ldb = case_.ldb;
  call.stride_b = *case_.stride_b;
  if (!case_.c_is_d) call.C = c_.at(i);
  call.ldc = case_.ldc;
  call.stride_c = *case_.stride_c;
  call.D = plain_.out(i);
  call.ldd = case_.ldd;
  call.stride_d = *case_.stride_d;
  if (case_.bias) call.bias = bias_.at(i);
  call.stride_bias = *case_.stride_bias;
  if (case_.aux) call.aux = aux_.at(i);
  call.ldaux = case_.ldaux;
  call.stride_aux = *case_.stride_aux;
  call.sums_of = sums(case_.sums);
  if (call.sums_of != MYGEMM_SUMS_NONE) call.sums = sums_.at(i);
  call.stride_sums = *case_.stride_sums;
  call.fill = fill(case_.fill);
  return call;
}

mygemmGemm_t FusedProduct::call(int64_t i) const {
  mygemmGemm_t call = strided_call(i);
  if (case_.form == "pointers") {
    call.A_array = reinterpret_cast<const void* const*>(plain_.a_pointers(i));
    call.B_array = reinterpret_cast<const void* const*>(plain_.b_pointers(i));
    call.D_array = reinterpret_cast<void* const*>(plain_.out_pointers(i));
    if (!case_.c_is_d) call.C_array = static_cast<const void* const*>(c_pointers_.at(i));
  }
  return call;
}

void FusedProduct::prepare(const Machine& machine) const {
  const int byte = case_.c_is_d && case_.reads_c ? 0 : 0xff;
  machine.fill_bytes(plain_.output().first(), byte, plain_.output().bytes());
}

Result measure(Session* session, const GemmCase& c) {
  const Machine& machine = session->machine;
  session->library.set_invariance(c.invariance);
  const int64_t set_bytes = FusedProduct::bytes_of_a_set(c);
  const int64_t sets = rotation_sets(machine, set_bytes, session->options.hot);
  const FusedProduct fused(machine, c, sets);
  const Product& plain = fused.plain();
  Contest contest = contest_of(c, plain, sets, set_bytes);
  contest.prepare = [&] { fused.prepare(machine); };
  contest.ours = [&](mygemmHandle_t handle) -> Call {
    return [&fused, handle](int64_t i) {
      const mygemmGemm_t call = fused.call(i);
      check(mygemm_gemm(handle, &call), "mygemm_gemm");
    };
  };
  contest.workspace_size = [&](mygemmHandle_t handle, size_t* bytes) {
    const mygemmGemm_t call = fused.call(0);
    return mygemm_gemm_workspace_size(handle, &call, bytes);
  };
  contest.explain = [&](mygemmHandle_t handle, char* text, size_t capacity, size_t* length) {
    const mygemmGemm_t call = fused.call(0);
    return mygemm_explain_gemm(handle, nullptr, &call, text, capacity, length);
  };
  if (!c.fp32_operands()) {  // no peer has these products yet
    contest.peer_names.push_back(kNaive);
    return run_contest(session, contest);
  }
  // On the handle of ours: the same workspace, the same kernel forced.
  mygemmHandle_t handle = session->library.handle(Family::kGemm, session->options.force);
  contest.peer_names.push_back("plain");
  contest.peers.push_back(
      {"plain", [&plain, handle](int64_t i) { check(plain.call_ours(handle, i), "mygemm_sgemm"); },
       false});
  if (c.fill == "full") {
    add_peers(session, fused.plain_case_of(), plain, /*same_result=*/false, &contest);
  } else {
    contest.work /= 2;
    add_triangle_peer(session, c, plain, &contest);
  }
  return run_contest(session, contest);
}

}  // namespace bench
