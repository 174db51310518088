// The Config of a cross entropy: everything that its launch needs. Pure.
#pragma once

#include "kernels/cross_entropy/facts.h"
#include "kernels/kernel.h"

namespace mygemm {

// Measured constants. efficiency: fraction of the copy bandwidth, for the bytes that the kernel
// reads and writes. reads: how often the logits are read.
struct CrossEntropyFigures {
  int reads = 1;
  double efficiency = 0;
};

// Kernels are few: a plan configures all of them.
inline double least_seconds(const CrossEntropyKernel&, const CrossEntropyFacts&) { return 0.0; }

struct CrossEntropyConfig : LaunchConfig {
  RowShape shape;    // selects the instantiation; kernels for GPUs
  WideRows rows;     // kernels that divide rows: runs > 0 means their order of summation
  ClusterRing ring;  // cluster
  NarrowLoss narrow;
};

}  // namespace mygemm
