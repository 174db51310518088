// Tensor maps of a product's operand, for any leading dimension and any alignment. Host code of .cu
// files makes them, kernels read them.
//
// The accelerator wants addresses, strides and first coordinates that are multiples of 16 bytes. A
// matrix whose leading dimension is no multiple of 4 elements has none of these; but every fourth
// of its columns has: those with the same number modulo 4 are a matrix with 4 times the leading
// dimension, which begins up to 3 elements behind a multiple of 16 bytes. So there are four maps,
// one for each class of columns, from which boxes are 4 elements wider than what is wanted.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/gemm/columns.h"
#include "problem.h"
#include "status.h"

namespace mygemm {

// How far behind a map's first element a class can begin, rounded up to what a box can be wider.
constexpr int kMostShift = 4;

struct OperandMaps {
  CUtensorMap maps[kColumnClasses];  // of a class each, or the first of the whole matrix
  int shifts[kColumnClasses];        // elements that the class begins behind its map
  bool shifted;                      // any of them is not 0
  int batch_step;  // matrices from one of the batch to the next: 0 where all are the same
};

// An operand as stored, `rows` contiguous, and its boxes.
struct BoxShape {
  int64_t rows, cols;
  int box_rows, box_cols;
  bool by_class;  // box_cols are of a class; and where the operand is shifted, boxes are wider
};

// Fills the maps. x must pass has_operand_maps() (columns.h); without by_class, its columns must be
// aligned.
Status make_operand_maps(OperandMaps* maps, const GemmOperand<const float>& x,
                         const BoxShape& shape, int64_t batch_count);

}  // namespace mygemm
