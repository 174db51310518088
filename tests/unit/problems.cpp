// Unit tests: makes problems and devices.
#include "unit/problems.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "plan/plan.h"

namespace mygemm_tests {

using mygemm::CrossEntropyProblem;
using mygemm::DeviceTraits;
using mygemm::GemmProblem;
using mygemm::Scalar;
using mygemm::SoftmaxProblem;
using mygemm::TransposeProblem;

Scalar host_scalar(float value) { return {value, address<const float>(12), false}; }

int64_t saturated_product(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

GemmProblem gemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k, int64_t batch_count) {
  GemmProblem p{};
  p.transa = transa;
  p.transb = transb;
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch_count = batch_count;
  p.epilogue.alpha = host_scalar(1.0f);
  p.epilogue.beta = host_scalar(0.0f);
  const auto stride = [&](int64_t ld, int64_t columns) {
    return batch_count == 1 ? 0 : saturated_product(ld, columns);
  };
  const int64_t lda = std::max<int64_t>(1, p.a_rows()), ldb = std::max<int64_t>(1, p.b_rows());
  const int64_t ldc = std::max<int64_t>(1, m);
  p.a = {address<void>(0), nullptr, lda, stride(lda, p.a_cols())};
  p.b = {address<void>(1), nullptr, ldb, stride(ldb, p.b_cols())};
  p.c = p.d = {address<void>(2), nullptr, ldc, stride(ldc, n)};
  p.math = MYGEMM_MATH_DEFAULT;
  return p;
}

GemmProblem with_epilogue(GemmProblem problem) {
  problem.c.data = address<void>(3);
  problem.epilogue.bias = address<void>(4);
  problem.epilogue.stride_bias = problem.batch_count == 1 ? 0 : problem.m;
  problem.epilogue.beta.value = 0.5f;
  problem.epilogue.activation = MYGEMM_ACTIVATION_GELU;
  problem.update_fused();
  return problem;
}

GemmProblem strict(GemmProblem problem) {
  problem.math = MYGEMM_MATH_STRICT;
  return problem;
}

GemmProblem invariant(GemmProblem problem) {
  problem.invariant = true;
  return problem;
}

GemmProblem of_16_bits(GemmProblem problem) {
  for (mygemm::Operand* x : {&problem.a, &problem.b, &problem.c, &problem.d}) {
    x->type = MYGEMM_R_16BF;
  }
  return problem;
}

GemmProblem mixed(GemmProblem problem, bool fp32_a) {
  problem.a.type = fp32_a ? MYGEMM_R_32F : MYGEMM_R_16BF;
  problem.b.type = fp32_a ? MYGEMM_R_16BF : MYGEMM_R_32F;
  problem.c.type = problem.d.type = MYGEMM_R_32F;
  return problem;
}

GemmProblem with_odd_lds(GemmProblem problem) {
  for (mygemm::Operand* x : {&problem.a, &problem.b}) x->ld += x->ld % 2 == 0 ? 1 : 2;
  return problem;
}

GemmProblem with_relu(GemmProblem problem) {
  problem.epilogue.activation = MYGEMM_ACTIVATION_RELU;
  problem.update_fused();
  return problem;
}

GemmProblem fast(GemmProblem problem) {
  problem.math = MYGEMM_MATH_FAST;
  return problem;
}

SoftmaxProblem softmax(int64_t rows, int64_t cols, mygemmDataType_t type) {
  const int64_t ld = std::max<int64_t>(1, cols);
  SoftmaxProblem p{};
  p.mode = MYGEMM_SOFTMAX;
  p.rows = rows;
  p.cols = cols;
  p.scale = 1.0f;
  p.in = {address<void>(0), type, ld};
  p.out = {address<void>(2), type, ld};
  return p;
}

SoftmaxProblem softmax_backward(int64_t rows, int64_t cols, mygemmDataType_t type) {
  SoftmaxProblem p = softmax(rows, cols, type);
  p.backward = true;
  p.dy = {address<void>(1), type, p.in.ld};
  return p;
}

SoftmaxProblem causal(SoftmaxProblem problem) {
  static const mygemm::SoftmaxMasking kCausal{.causal = true};
  problem.masking = &kCausal;
  return problem;
}

CrossEntropyProblem cross_entropy(int64_t rows, int64_t cols, mygemmDataType_t type) {
  const int64_t ld = std::max<int64_t>(1, cols);
  CrossEntropyProblem p{};
  p.rows = rows;
  p.cols = cols;
  p.x = {address<void>(0), type, ld};
  p.dx = {address<void>(2), type, ld};
  p.targets = address<void>(3);
  p.target_type = MYGEMM_INDEX_64I;
  p.ignore_index = -100;
  p.loss = address<float>(4);
  p.lse = address<float>(5);
  p.gradient_scale = 1.0f;
  return p;
}

TransposeProblem transpose(int64_t element_size, int64_t rows, int64_t cols, int64_t batch_count) {
  TransposeProblem p{};
  p.element_size = element_size;
  p.rows = rows;
  p.cols = cols;
  p.in = address<void>(0);
  p.ldin = std::max<int64_t>(1, cols);
  p.out = address<void>(1);
  p.ldout = std::max<int64_t>(1, rows);
  p.batch_count = batch_count;
  p.stride_in = p.stride_out = batch_count == 1 ? 0 : saturated_product(rows, cols);
  return p;
}

TransposeProblem transpose_in_place(int64_t element_size, int64_t rows, int64_t cols,
                                    int64_t batch_count) {
  TransposeProblem p = transpose(element_size, rows, cols, batch_count);
  p.in = p.out;
  return p;
}

int64_t random_size(Random& random) {
  const int64_t bits = random.integer(0, 63);
  if (bits == 63) return std::numeric_limits<int64_t>::max() - random.integer(0, 1);
  return std::max<int64_t>(0, (int64_t{1} << bits) + random.integer(-2, 2));
}

namespace {

// Mostly 1, else of any size.
int64_t random_batch(Random& random) { return random.integer(0, 1) == 0 ? 1 : random_size(random); }

// Half of all problems have sizes that a machine could hold.
int64_t random_extent(Random& random, bool huge) {
  return huge ? random_size(random) : std::min<int64_t>(random_size(random), 20000);
}

mygemmDataType_t random_type(Random& random) {
  constexpr mygemmDataType_t kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};
  return random.pick(kTypes, 3);
}

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Gradients read aux, which is legal for any activation but none; m is at most kMost - 32.
void add_aux_and_sums(Random& random, GemmProblem* problem) {
  mygemm::Epilogue& epilogue = problem->epilogue;
  if (epilogue.is_gradient() ||
      (epilogue.activation != MYGEMM_ACTIVATION_NONE && random.integer(0, 1) == 0)) {
    epilogue.aux = address<void>(7);
    epilogue.ldaux = mygemm::ceil_div(std::max<int64_t>(1, problem->m), 32) * 32;
    epilogue.stride_aux = saturated_product(epilogue.ldaux, problem->n) / 32 * 32;
  }
  constexpr mygemmSums_t kSums[] = {MYGEMM_SUMS_NONE, MYGEMM_SUMS_OF_D, MYGEMM_SUMS_OF_A,
                                    MYGEMM_SUMS_OF_B};
  const mygemmSums_t of = random.pick(kSums, 4);
  if (of == MYGEMM_SUMS_NONE) return;
  problem->sums = {of, address<float>(8), of == MYGEMM_SUMS_OF_B ? problem->n : problem->m};
}

}  // namespace

void random_problem(Random& random, GemmProblem* problem) {
  const bool huge = random.integer(0, 1) == 0;
  const int64_t m = random_extent(random, huge), n = random_extent(random, huge);
  const int64_t k = random_extent(random, huge);
  *problem =
      gemm(random.integer(0, 1) == 1, random.integer(0, 1) == 1, m, n, k, random_batch(random));
  constexpr float kScalars[] = {0.0f, 1.0f, 2.0f, std::numeric_limits<float>::quiet_NaN()};
  problem->epilogue.alpha.value = random.pick(kScalars, 4);
  problem->epilogue.beta.value = random.pick(kScalars, 4);
  constexpr mygemmMathMode_t kModes[] = {MYGEMM_MATH_DEFAULT, MYGEMM_MATH_STRICT, MYGEMM_MATH_FAST};
  problem->math = random.pick(kModes, 3);
  problem->a.type = problem->b.type = random_type(random);
  if (problem->a.type != MYGEMM_R_32F) problem->c.type = problem->d.type = random_type(random);
  // Not drawn, so that the other problems of a seed stay the same.
  if ((m ^ n ^ k) % 5 == 0) *problem = mixed(*problem, m < n);
  if (random.integer(0, 3) > 0) return;
  constexpr mygemmActivation_t kActivations[] = {
      MYGEMM_ACTIVATION_NONE, MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU,
      MYGEMM_ACTIVATION_RELU_GRADIENT, MYGEMM_ACTIVATION_GELU_GRADIENT};
  problem->epilogue.activation = random.pick(kActivations, m <= kMost - 32 ? 5 : 1);
  add_aux_and_sums(random, problem);
  if (random.integer(0, 1) == 0) problem->epilogue.bias = address<void>(4);
  if (random.integer(0, 1) == 0) problem->c.data = address<void>(6);
  problem->update_fused();
}

void random_problem(Random& random, SoftmaxProblem* problem) {
  const bool huge = random.integer(0, 1) == 0;
  const int64_t rows = random_extent(random, huge), cols = random_extent(random, huge);
  *problem = random.integer(0, 1) == 0 ? softmax(rows, cols) : softmax_backward(rows, cols);
  problem->mode = random.integer(0, 1) == 0 ? MYGEMM_SOFTMAX : MYGEMM_LOG_SOFTMAX;
  problem->in.type = random_type(random);
  problem->dy.type = random_type(random);
  problem->out.type = random_type(random);
  if (random.integer(0, 2) == 0) *problem = causal(*problem);
}

void random_problem(Random& random, CrossEntropyProblem* problem) {
  const bool huge = random.integer(0, 1) == 0;
  *problem = cross_entropy(random_extent(random, huge), random_extent(random, huge));
  problem->x.type = random_type(random);
  problem->dx.type = random.integer(0, 1) == 0 ? problem->x.type : random_type(random);
  if (random.integer(0, 2) == 0) problem->dx.data = problem->x.data;
  if (random.integer(0, 3) == 0) problem->dx.data = nullptr;
  if (random.integer(0, 1) == 0) problem->dloss = address<float>(6);
  problem->stride_dloss = random.integer(0, 2);
  problem->target_type = random.integer(0, 1) == 0 ? MYGEMM_INDEX_32I : MYGEMM_INDEX_64I;
}

void random_problem(Random& random, TransposeProblem* problem) {
  const bool huge = random.integer(0, 1) == 0;
  const int64_t element_size = int64_t{1} << random.integer(0, 4);
  const int64_t rows = random_extent(random, huge);
  const int64_t cols = random.integer(0, 3) == 0 ? rows : random_extent(random, huge);
  const int64_t batch_count = random_batch(random);
  *problem = random.integer(0, 1) == 0 ? transpose(element_size, rows, cols, batch_count)
                                       : transpose_in_place(element_size, rows, cols, batch_count);
}

const mygemm::GemmKernel& gemm_kernel(const char* name) {
  for (const mygemm::GemmKernel& kernel : mygemm::kernels_for(GemmProblem{})) {
    if (std::strcmp(kernel.name, name) == 0) return kernel;
  }
  throw name;
}

DeviceTraits host_device(bool has_cblas) {
  DeviceTraits host{};
  std::snprintf(host.name, sizeof host.name, "%s", has_cblas ? "host" : "host without CBLAS");
  host.num_sms = 2;
  host.fp32_flops = 120e9;
  host.memory_bandwidth = 20e9;
  host.has_cblas = has_cblas;
  return host;
}

std::vector<DeviceTraits> all_devices() {
  const auto known = mygemm::known_devices();
  std::vector<DeviceTraits> devices(known.begin(), known.end());
  devices.push_back(host_device(true));
  devices.push_back(host_device(false));
  return devices;
}

}  // namespace mygemm_tests
