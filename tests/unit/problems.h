// Unit tests: problems and devices to validate, plan and describe. Pointers are made up and never
// followed; operands lie apart and are aligned to 256 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "support/random.h"

namespace mygemm_tests {

// Far from one another, and from the ends of the address space.
template <class T>
T* address(int index) {
  return reinterpret_cast<T*>(uintptr_t{1} << 40 << index);
}

// A value for alpha or beta that is known when the call is made.
mygemm::Scalar host_scalar(float value);

// Dense problems with the smallest legal leading dimensions and strides; alpha = 1, beta = 0, C is
// D.
mygemm::GemmProblem gemm(bool transa, bool transb, int64_t m, int64_t n, int64_t k,
                         int64_t batch_count = 1);
// The same with a C of its own, beta = 0.5, bias and GELU.
mygemm::GemmProblem with_epilogue(mygemm::GemmProblem problem);
// The same in strict math, and in fast math.
mygemm::GemmProblem strict(mygemm::GemmProblem problem);
mygemm::GemmProblem fast(mygemm::GemmProblem problem);
// The same, batch-invariant.
mygemm::GemmProblem invariant(mygemm::GemmProblem problem);
// The same of BF16, of FP32 and BF16 with FP32 results, with odd leading dimensions of A and B, and
// with an activation.
mygemm::GemmProblem of_16_bits(mygemm::GemmProblem problem);
mygemm::GemmProblem mixed(mygemm::GemmProblem problem, bool fp32_a);
mygemm::GemmProblem with_odd_lds(mygemm::GemmProblem problem);
mygemm::GemmProblem with_relu(mygemm::GemmProblem problem);
mygemm::SoftmaxProblem softmax(int64_t rows, int64_t cols, mygemmDataType_t type = MYGEMM_R_32F);
mygemm::SoftmaxProblem softmax_backward(int64_t rows, int64_t cols,
                                        mygemmDataType_t type = MYGEMM_R_32F);
// The same, causal: the masking is one for all problems.
mygemm::SoftmaxProblem causal(mygemm::SoftmaxProblem problem);
// With all outputs, 64-bit targets and no dloss.
mygemm::CrossEntropyProblem cross_entropy(int64_t rows, int64_t cols,
                                          mygemmDataType_t type = MYGEMM_R_32F);
mygemm::TransposeProblem transpose(int64_t element_size, int64_t rows, int64_t cols,
                                   int64_t batch_count = 1);
mygemm::TransposeProblem transpose_in_place(int64_t element_size, int64_t rows, int64_t cols,
                                            int64_t batch_count = 1);

// The product as a saturating int64_t: strides of huge problems.
int64_t saturated_product(int64_t a, int64_t b);

// Sizes from nothing over every power of two and its neighbours to INT64_MAX.
int64_t random_size(Random& random);

// Problems of such sizes with every switch at random; legal as far as explain checks them.
void random_problem(Random& random, mygemm::GemmProblem* problem);
void random_problem(Random& random, mygemm::SoftmaxProblem* problem);
void random_problem(Random& random, mygemm::CrossEntropyProblem* problem);
void random_problem(Random& random, mygemm::TransposeProblem* problem);

// A kernel of the table of matrix products.
const mygemm::GemmKernel& gemm_kernel(const char* name);

// A host of two threads.
mygemm::DeviceTraits host_device(bool has_cblas);
// All known GPUs, and hosts with and without a CBLAS.
std::vector<mygemm::DeviceTraits> all_devices();

}  // namespace mygemm_tests
