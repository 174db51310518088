// Products of 16-bit matrices: which are taken. cuBLAS is mostly as fast with them or faster, so
// that MYGEMM_TAKE_16BIT says how eager to be:
//   auto (or unset)  the products that mygemm is expected to compute at cuBLAS's speed
//   always           all that mygemm can compute: for results that do not depend on the batch, say
//   never            none
#pragma once

#include <library_types.h>

#include <cstddef>
#include <cstdint>

#include "functions.h"

namespace mygemm::cublas {

struct ProductSizes {
  int64_t m, n, k, batch_count;
};

// The choice depends on this besides the sizes.
struct ProductForm {
  bool strided;            // matrices are at strides, not at pointers
  bool aligned;            // the columns of all matrices begin at multiples of 16 bytes
  bool plain;              // nothing is applied to the product, and C is not read
  size_t workspace_bytes;  // that mygemm will have
};

double flop_of(const ProductSizes& sizes);

// kTaken where the product has the types of FP32 products or of 16-bit ones that cuBLAS has too: A
// and B both FP16 or both BF16, C and D of their type or FP32. Else kOtherTypes.
Outcome judge_types(cudaDataType a, cudaDataType b, cudaDataType c);

bool is_16bit(cudaDataType type);

// Whether the columns of a matrix, or of `batch_count` matrices, begin at multiples of 16 bytes.
bool is_aligned(cudaDataType type, const void* matrix, int64_t ld, int64_t stride,
                int64_t batch_count);

// kTaken, or why a product of 16-bit matrices is left to cuBLAS, as far as its sizes tell. The
// variable is read once a thread.
Outcome judge_16bit(const ProductSizes& sizes);

// The same, of a product on the current device.
Outcome judge_16bit(const ProductSizes& sizes, const ProductForm& form);

}  // namespace mygemm::cublas
