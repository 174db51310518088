// Softmax of a row that the registers of its threads hold, whether these are of one block
// (block.cu) or of several (block_cluster.cu). Device only.
#pragma once

#include "kernels/softmax/packs.cuh"
#include "kernels/softmax/registers.h"

namespace mygemm {

// Each thread computes its exponentials against its own maximum, before the row's is known. That
// takes one barrier, and one exponential an element where exponentials are kept. merge(scale, part)
// combines the parts of all threads and gives each the row's maximum and sum.
template <class Format, int kPacks, class Place, class Merge>
__device__ __forceinline__ void forward_row(const SoftmaxProblem& p, int64_t r, const Place& at,
                                            int shift, Merge merge) {
  // Eight packs of 16 bits are loaded before the factors of x are computed: on sm_86 and sm_89 the
  // loads of ragged rows do not leave registers for them. With four packs only the reverse fits.
  constexpr bool kLoadsFirst = Place::kRagged && !Format::kKeepsFloats && kPacks >= kBlockManyPacks;
  Packs<Format, kPacks> x;
  if constexpr (kLoadsFirst) load_x(p, x, address_of<Format>(p.in, r, -shift), at);
  const Scale scale(p, Format::kAccurate);
  if constexpr (!kLoadsFirst) load_x(p, x, address_of<Format>(p.in, r, -shift), at);
  MaxSum own;
  own.maximum = largest(p, x);
  own.sum = exponentials<kNarrowExp<Format>>(p, scale, x, Reference(scale, own.maximum));
  const auto row = merge(scale, own);
  if (Format::kKeepsFloats && !p.log_mode()) {
    change_reference(scale, x, own.maximum, Reference(scale, row.maximum));
  }
  finish<Format::kAccurate>(p, scale, x, row.maximum, factor_of<kNarrowExp<Format>>(p, scale, row));
  store(x, address_of<Format>(p.out, r, -shift), p.out.type, at);
}

}  // namespace mygemm
