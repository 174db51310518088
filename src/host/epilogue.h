// The epilogue of the host's products, made once from a problem and used at each place where a
// result is complete: D = activation(alpha * sum + beta * C + bias). Host backend.
//
// Kernels store alpha * sum + beta * C themselves, by multiply-adds, and call finish() after the
// last k step: until then an element is a partial sum. Sums are FP32. They are in D where D is
// FP32, and may be elsewhere; where D is not, finish() rounds them once, on their way to D.
#pragma once

#include <vector>

#include "problem.h"

namespace mygemm::host {

class Epilogue {
 public:
  // Keeps a reference to the problem.
  explicit Epilogue(const GemmProblem& problem);

  // Adds the bias to rows x columns elements from (row, column) on, whose sums lie at `sums`,
  // applies the activation, and stores them in D where they are not there. The bits do not depend
  // on how D is divided into calls.
  void finish(int64_t matrix, int64_t row, int64_t column, int64_t rows, int64_t columns,
              float* sums, int64_t ld) const;
  // The same for all of an FP32 D that has the sums, on several threads.
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

  void finish_in_place(int64_t matrix, int64_t row, int64_t column, int64_t rows,
                       int64_t columns) const;
  template <class Body>
  void for_columns(const Body& body) const;
  void scale(int64_t matrix, int64_t column, int64_t columns) const;
  void finish_scaled_column(int64_t matrix, int64_t column) const;

  const GemmProblem& problem_;
  // The bias as floats, and their distance from one matrix to the next.
  const float* bias_ = nullptr;
  int64_t stride_bias_ = 0;
  std::vector<float> converted_bias_;
  FinishColumns finish_columns_;  // nullptr: there is nothing to add or apply
};

}  // namespace mygemm::host
