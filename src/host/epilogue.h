// The epilogue of the host's products, made once from a problem and used at each place where a
// result is complete: D = activation(alpha * sum + beta * C + bias). Host backend.
//
// Kernels store alpha * sum + beta * C in D themselves, by multiply-adds, and call finish() after
// the last k step: until then an element of D is a partial sum.
#pragma once

#include "problem.h"

namespace mygemm::host {

class Epilogue {
 public:
  // Keeps a reference to the problem.
  explicit Epilogue(const GemmProblem& problem);

  // Adds the bias to rows x columns elements of D from (row, column) on, and applies the
  // activation. The bits do not depend on how D is divided into calls.
  void finish(int64_t matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) const {
    if (finish_columns_) finish_some(matrix, row, column, rows, columns);
  }
  // The same for all of D, on several threads.
  void finish_all() const;
  // All of D where nothing of A and B is read: activation(beta * C + bias). Does not read C where
  // beta is 0.
  void finish_without_sums() const;
  // Copies C to D where they differ, for kernels that scale D in place.
  void copy_c_to_d() const;

 private:
  // The places of a block's first element, and the distances of columns. aux: a number; see
  // Epilogue in problem.h.
  struct Block {
    float* d;
    int64_t ld;
    const float* bias;
    void* aux;
    int64_t aux_number, ldaux;
  };
  using FinishColumns = void (*)(const Block& block, int64_t rows, int64_t columns);

  void finish_some(int64_t matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns) const;
  template <class Body>
  void for_columns(const Body& body) const;
  void scale(int64_t matrix, int64_t column, int64_t columns) const;

  const GemmProblem& problem_;
  FinishColumns finish_columns_;  // nullptr: there is nothing to add or apply
};

}  // namespace mygemm::host
