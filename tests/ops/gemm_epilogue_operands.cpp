// Ops tests: see gemm_epilogue_operands.h.
#include "gemm_epilogue_operands.h"

#include <cmath>
#include <limits>

namespace mygemm_tests {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSpecial[] = {kInfinity, -kInfinity, std::nanf(""), -0.0f, 3e38f, -20.0f};

int64_t aux_rows(const EpilogueCase& g) { return g.aux_is_bits() ? (g.m + 31) / 32 : g.m; }

}  // namespace

Operands::Operands(const EpilogueCase& g)
    : gemm(g),
      a(g.transa ? g.k : g.m, g.transa ? g.m : g.k, g.padding, g),
      b(g.transb ? g.n : g.k, g.transb ? g.k : g.n, g.padding, g),
      c(g.m, g.n, g.own_c ? g.c_padding : g.padding, g),
      d(g.m, g.n, g.padding, g),
      bias(g.m, 1, 0, g),
      aux(aux_rows(g), g.n, g.aux_padding, g),
      sums(g.sums_of == MYGEMM_SUMS_OF_B ? g.n : g.m, 1, 0, g) {
  Random random(7);
  a.fill(random);
  b.fill(random);
  c.fill(random);
  bias.fill(random);
  if (g.special) fill_special();
  if (g.beta == 0) {  // then C is not read
    c.each([&](int64_t matrix, int64_t i, int64_t j) { c.at(matrix, i, j) = std::nanf(""); });
    c.buffer.upload(c.image.data());
  }
  fill_aux();
  const float both[2] = {g.alpha, g.beta};
  scalars = DeviceBuffer(both, sizeof both, 4);
  a_list = a.pointers();
  b_list = b.pointers();
  c_list = c.pointers();
  d_list = d.pointers();
}

void Operands::fill_special() {
  for (int64_t i = 0; i < 6; ++i) {
    c.at(0, i + 7, 1) = kSpecial[i];
    bias.at(0, i, 0) = kSpecial[i];
  }
  // A row of results that is not finite before C is added.
  (gemm.transa ? a.at(0, 2, 20) : a.at(0, 20, 2)) = kInfinity;
  a.buffer.upload(a.image.data());
  c.buffer.upload(c.image.data());
  bias.buffer.upload(bias.image.data());
}

// For a gradient the values or bits that it reads; else poison.
void Operands::fill_aux() {
  if (gemm.is_gradient()) {
    Random random(8);
    aux.each([&](int64_t matrix, int64_t i, int64_t j) {
      float& to = aux.at(matrix, i, j);
      const auto bits = static_cast<uint32_t>(random.bits());
      if (gemm.aux_is_bits()) {
        std::memcpy(&to, &bits, sizeof bits);
      } else {
        to = static_cast<float>(random.real(-6, 6));
      }
    });
    for (int64_t i = 0; gemm.special && !gemm.aux_is_bits() && i < 6; ++i) {
      aux.at(0, i + 14, 2) = kSpecial[i];
    }
  }
  aux.buffer.upload(aux.image.data());
}

void Operands::prepare_d(bool with_c) {
  if (with_c) {
    d.each([&](int64_t matrix, int64_t i, int64_t j) { d.at(matrix, i, j) = c.at(matrix, i, j); });
  } else {
    std::memset(d.image.data(), kPoison, d.image.size() * sizeof(float));
  }
  d.buffer.upload(d.image.data());
  if (gemm.leaves_aux) aux.buffer.upload(aux.image.data());
  sums.buffer.upload(sums.image.data());
}

mygemmGemm_t Operands::descriptor() const {
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  call.transa = gemm.transa;
  call.transb = gemm.transb;
  call.m = gemm.m;
  call.n = gemm.n;
  call.k = gemm.k;
  call.batch_count = gemm.batch;
  call.activation = gemm.activation;
  call.alpha = alpha();
  call.beta = beta();
  call.lda = a.given_ld;
  call.ldb = b.given_ld;
  call.ldc = c.given_ld;
  call.ldd = d.given_ld;
  if (gemm.bias) call.bias = bias.buffer.as<float>() + bias.first(gemm.bias_step);
  call.stride_bias = bias.stepped(gemm.bias_step);
  if (gemm.has_aux()) {
    const int64_t in_word = gemm.aux_is_bits() ? 32 : 1;
    call.aux = aux.buffer.as<float>() + aux.first(gemm.aux_step);
    call.ldaux = aux.ld * in_word;
    call.stride_aux = aux.stepped(gemm.aux_step) * in_word;
  }
  call.sums_of = gemm.sums_of;
  if (gemm.sums_of != MYGEMM_SUMS_NONE) {
    call.sums = sums.buffer.as<float>() + sums.first(gemm.sums_step);
    call.stride_sums = sums.stepped(gemm.sums_step);
  }
  if (gemm.form == Form::kPointers) {
    call.A_array = gemm.null_inputs ? nullptr : a_list.as<const void* const>();
    call.B_array = gemm.null_inputs ? nullptr : b_list.as<const void* const>();
    call.C_array = gemm.own_c ? c_list.as<const void* const>() : nullptr;
    call.D_array = d_list.as<void* const>();
    return call;
  }
  call.A = gemm.null_inputs ? nullptr : a.buffer.data();
  call.B = gemm.null_inputs ? nullptr : b.buffer.data();
  call.C = gemm.own_c ? c.buffer.data() : nullptr;
  call.D = d.buffer.data();
  call.stride_a = a.stride;
  call.stride_b = b.stride;
  call.stride_c = c.stride;
  call.stride_d = d.stride;
  return call;
}

mygemmStatus_t Operands::plain(mygemmHandle_t handle) const {
  if (gemm.form == Form::kPointers) {
    return mygemm_sgemm_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k, alpha(),
                                a_list.as<const float* const>(), a.given_ld,
                                b_list.as<const float* const>(), b.given_ld, beta(),
                                d_list.as<float* const>(), d.given_ld, gemm.batch);
  }
  return mygemm_sgemm_strided_batched(handle, gemm.transa, gemm.transb, gemm.m, gemm.n, gemm.k,
                                      alpha(), a.buffer.as<float>(), a.given_ld, a.stride,
                                      b.buffer.as<float>(), b.given_ld, b.stride, beta(),
                                      d.buffer.as<float>(), d.given_ld, d.stride, gemm.batch);
}

}  // namespace mygemm_tests
