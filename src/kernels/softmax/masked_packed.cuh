// A masked softmax of 16-bit elements with neither mask nor cap, of which a thread holds the packs
// of a row as they are in memory: exponentials, which are cheap for results of 16 bits, are
// computed twice. Device only.
#pragma once

#include "kernels/softmax/masked.cuh"

namespace mygemm {

// The elements from number `rest` on of a pack become `bits`, where there are some before it.
__device__ __forceinline__ void cut_pack(unsigned (&word)[Packs16::kWords], int rest,
                                         unsigned bits) {
  if (rest <= 0 || rest >= Packs16::kPack) return;
#pragma unroll
  for (int i = 0; i < Packs16::kWords; ++i) {
    const unsigned kept = rest >= 2 * i + 2 ? 0xffffffffu : rest == 2 * i + 1 ? 0xffffu : 0u;
    word[i] = (word[i] & kept) | (bits & ~kept);
  }
}

// Two elements of a value that both types, or `type`, can hold.
__device__ __forceinline__ unsigned two_of(mygemmDataType_t type, float value) {
  const unsigned bits = type == MYGEMM_R_16F ? bits_of(from_float<__half>(value))
                                             : bits_of(from_float<__nv_bfloat16>(value));
  return bits | bits << 16;
}

template <int kPacks, class Team>
__device__ __forceinline__ void packed_forward(const SoftmaxProblem& p, const SoftmaxMasking& m,
                                               const MaskedRow& row, const MaskedPlace& place,
                                               Team& team) {
  using Format = Packs16;
  constexpr int kPack = Format::kPack;
  const PartOfPlace<kPack> at(place, row.valid);
  Packs<Format, kPacks> x;
  load(x, row.address<Format>(p.in), p.in.type, at, missing_x(p));
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    cut_pack(x.word[k], at.rest(k), two_of(p.in.type, missing_x(p)));
  }
  adjust_x(p, x, at);
  const Scale scale(p, false);
  const float maximum = team.template reduce<Max>(largest(p, x));
  const Reference to(scale, maximum);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (!at.whole(k)) continue;
    float e[kPack];
    x.get(k, p.in.type, e);
    subtract(e, to);
    take_exponentials<Exp::k16Bit>(scale, e, to);
    sum += sum_of<kPack>(e);
  }
  sum = team.template reduce<Sum>(sum);
  const MaskedResult result(p, m, sum);
  RowFactor factor{result.factor, 0.0f};
  if (p.log_mode() && sum != 0.0f) factor = factor_of<Exp::k16Bit>(p, scale, MaxSum{maximum, sum});
  const unsigned fill = two_of(p.out.type, result.fill);
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    if (at.whole(k)) {
      float value[kPack];
      x.get(k, p.in.type, value);
      if (p.log_mode()) {
#pragma unroll
        for (float& v : value) v = log_softmax_of(scale, v, masked_reference(maximum), factor);
      } else {
        subtract(value, to);
        take_exponentials<Exp::k16Bit>(scale, value, to);
#pragma unroll
        for (float& v : value) v *= factor.high;
      }
      x.set(k, p.out.type, value);
      cut_pack(x.word[k], at.rest(k), fill);
    } else {
#pragma unroll
      for (unsigned& word : x.word[k]) word = fill;
    }
  }
  store(x, row.address<Format>(p.out), p.out.type, PartOfPlace<kPack>(place, row.cols));
}

}  // namespace mygemm
