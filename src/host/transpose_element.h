// Element types of transposes on the host, and the algorithm for transposes in place without
// memory. Host backend; includes only problem.h.
#pragma once

#include <type_traits>

#include "host/transpose_tile.h"
#include "problem.h"

namespace mygemm::host {

// Calls f with a tag of the type that elements of this size are moved as.
template <class F>
void with_element(int64_t element_size, const F& f) {
  switch (element_size) {
    case 1: return f(std::type_identity<uint8_t>{});
    case 2: return f(std::type_identity<uint16_t>{});
    case 4: return f(std::type_identity<uint32_t>{});
    case 8: return f(std::type_identity<uint64_t>{});
    default: return f(std::type_identity<Element16>{});
  }
}

// Transposes in place, for any shape and leading dimensions (transpose_in_place.cpp).
void follow_cycles(const TransposeProblem& problem);

}  // namespace mygemm::host
