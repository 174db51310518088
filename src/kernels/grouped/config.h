// The table of grouped products has the Configs and the figures of products. Pure.
#pragma once

#include "kernels/grouped/facts.h"
#include "kernels/kernel.h"

namespace mygemm {

inline const char* unfit_for(const GroupedKernel& kernel, const GroupedFacts& facts) {
  if (!takes(kernel.figures, facts.operands)) return "takes operands of other types";
  const GemmFigures& figures = kernel.figures;
  const bool fits = !facts.order || figures.any_order || figures.order == facts.order;
  return fits ? nullptr : facts.order->refusal;
}

// Kernels are few: a plan configures all of them.
inline double least_seconds(const GroupedKernel&, const GroupedFacts&) { return 0.0; }

// Plans each product by itself and launches it (plan/one_by_one.cpp).
Status launch_one_by_one(const GroupedProblem&, const GemmConfig&, const LaunchContext&);

}  // namespace mygemm
