// Compares two outputs of one problem on the host. Large ones are sampled.
#pragma once

#include <cstddef>
#include <vector>

#include "machine.h"

namespace bench {

// All bytes of an output, or windows spread evenly over it, its ends included.
std::vector<std::byte> sample(const Machine& machine, const std::byte* data, size_t bytes);

// max |ours - theirs| / max |theirs| over finite elements; NaN where only one of two elements is
// NaN, or was not overwritten. Elements with equal bits agree: padding between rows, and poison
// that neither has overwritten; so do NaNs of other bits.
double largest_difference(const std::vector<std::byte>& ours, const std::vector<std::byte>& theirs,
                          mygemmDataType_t type);

double share_of_different_bytes(const std::vector<std::byte>& ours,
                                const std::vector<std::byte>& theirs);

}  // namespace bench
