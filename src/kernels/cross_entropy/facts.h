// Facts of a cross entropy on a device, worked out once for the configurations of all its kernels.
// Pure.
#pragma once

#include "kernels/cross_entropy/rows.h"
#include "kernels/softmax/facts.h"

namespace mygemm {

struct CrossEntropyFacts {
  CrossEntropyFacts(const CrossEntropyProblem& p, const DeviceTraits&)
      : problem(p),
        softmax(p.softmax()),
        shape(row_shape(softmax)),
        rows(wide_rows(softmax, shape)),
        work(softmax) {
    if (!p.has_gradient()) work.written = 0.0;
  }

  bool narrow() const { return problem.cols <= kMostNarrowLossColumns; }

  const CrossEntropyProblem& problem;
  SoftmaxProblem softmax;  // whose rows lie as those of the problem
  RowShape shape;
  WideRows rows;
  SoftmaxWork work;
};

}  // namespace mygemm
