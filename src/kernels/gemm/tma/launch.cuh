// The launch of the TMA-fed kernels: tensor maps, and the instance for the way in which each
// operand comes. Host only.
#pragma once

#include "kernels/gemm/persistent/launch.cuh"
#include "kernels/gemm/tma/tma.h"

namespace mygemm::tma {

using persistent::Args;
using persistent::OperandMap;

template <class Tile, template <class, OperandLoad, OperandLoad> class Kernels, OperandLoad kLoadA,
          OperandLoad kLoadB>
Status launch_with(const Args& args, const GemmConfig& config, const LaunchContext& context) {
  const GemmProblem& p = args.p;
  OperandMap a = {}, b = {};
  if (kLoadA == OperandLoad::kTensorMap) {
    RETURN_IF_ERROR(persistent::make_map(&a, p.a, p.m, p.k, p.batch_count, Tile::kBlockM,
                                         Tile::kBlockK, false));
  }
  if (kLoadB == OperandLoad::kTensorMap) {
    RETURN_IF_ERROR(persistent::make_map(&b, p.b, p.n, p.k, p.batch_count, Tile::kBlockN,
                                         Tile::kBlockK, false));
  }
  return persistent::launch_kernel(Kernels<Tile, kLoadA, kLoadB>::of(p.fused), args, config,
                                   context, a, b);
}

// kMN: how operands that are MN-major come. Misaligned ones are rare: where one is, the other one
// comes in the same way.
template <class Tile, template <class, OperandLoad, OperandLoad> class Kernels, OperandLoad kMN>
Status launch_for_ops(const Args& args, const GemmConfig& config, const LaunchContext& context) {
  constexpr OperandLoad kK = OperandLoad::kTransposing;
  if (args.p.transa) {
    return args.p.transb ? launch_with<Tile, Kernels, kK, kMN>(args, config, context)
                         : launch_with<Tile, Kernels, kK, kK>(args, config, context);
  }
  return args.p.transb ? launch_with<Tile, Kernels, kMN, kMN>(args, config, context)
                       : launch_with<Tile, Kernels, kMN, kK>(args, config, context);
}

// Kernels<Tile, kLoadA, kLoadB>::of(fused) is the kernel to launch.
template <class Tile, template <class, OperandLoad, OperandLoad> class Kernels>
Status launch_fed(const GemmProblem& p, const GemmConfig& config, const LaunchContext& context) {
  const Args args = persistent::args_of(p, config, context);
  const bool shifted = config.load_a == OperandLoad::kCopy4 || config.load_b == OperandLoad::kCopy4;
  return shifted ? launch_for_ops<Tile, Kernels, OperandLoad::kCopy4>(args, config, context)
                 : launch_for_ops<Tile, Kernels, OperandLoad::kTensorMap>(args, config, context);
}

}  // namespace mygemm::tma
