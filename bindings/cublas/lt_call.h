// A call of cublasLtMatmul read out of its descriptors, as a call of mygemm_gemm.
#pragma once

#include <cublasLt.h>
#include <mygemm/mygemm.h>

#include "functions.h"

namespace mygemm::cublas {

// The arguments of cublasLtMatmul that say what is computed.
struct LtArguments {
  cublasLtMatmulDesc_t operation;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
  size_t workspace_bytes;  // of the call
};

struct LtCall {
  mygemmGemm_t product;
  bool scalars_on_device;
  bool pedantic;
  bool of_16bit;  // A and B are
};

// kTaken where mygemm can compute the call; else the reason why it is cuBLASLt's.
Outcome read_call(const LtArguments& arguments, LtCall* call);

// Operations of the call's product, whatever its types; 0 where the layouts cannot be read.
double flop_of(const LtArguments& arguments);

}  // namespace mygemm::cublas
