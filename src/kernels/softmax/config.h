// The Config of a softmax: everything that its launch needs. Pure.
#pragma once

#include "kernels/kernel.h"
#include "kernels/softmax/bundle.h"
#include "kernels/softmax/cluster.h"
#include "kernels/softmax/facts.h"
#include "kernels/softmax/masked.h"
#include "kernels/softmax/registers.h"
#include "kernels/softmax/split.h"
#include "kernels/softmax/wide.h"

namespace mygemm {

// Measured constants. efficiency: fraction of the copy bandwidth, for the bytes that the kernel
// reads and writes. reads: how often the input is read. masks: the kernel is one of masked
// softmaxes; no kernel takes both kinds.
struct SoftmaxFigures {
  int reads = 1;
  double efficiency = 0;
  bool masks = false;
};

inline const char* unfit_for(const SoftmaxKernel& kernel, const SoftmaxFacts& facts) {
  const bool masked = facts.problem.masking != nullptr;
  if (masked == kernel.figures.masks) return nullptr;
  return masked ? "takes neither masks, lengths nor caps" : "made for masks, lengths and caps";
}

// Kernels are few: a plan configures all of them.
inline double least_seconds(const SoftmaxKernel&, const SoftmaxFacts&) { return 0.0; }

// A part that a kernel does not use is not initialised, except for the member that says so: 0.
// (Full initialisation would double the time of a plan.)
struct SoftmaxConfig : LaunchConfig {
  RowShape shape;        // selects the instantiation; kernels for GPUs
  SoftmaxLanes lanes;    // warp, bundle
  SoftmaxBundle bundle;  // bundle
  SoftmaxBlock block;    // block, block_cluster
  WideRows rows;         // kernels for wide rows: runs > 0 means their order of summation
  ClusterRing ring;      // cluster
  SplitRows split;       // split
  int held_tiles = 0;    // wide_cluster: of a warp, at most
  MaskedRows masked;     // kernels of masked softmaxes
};

}  // namespace mygemm
