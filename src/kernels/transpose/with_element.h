// Dispatch from an element size known at run time to one known at compile time. Host code.
#pragma once

#include <type_traits>

#include "problem.h"

namespace mygemm {

// Calls body with std::integral_constant<int, element_size>; element_size has been validated.
template <class Body>
auto with_element(int64_t element_size, Body body) {
  switch (element_size) {
    case 1: return body(std::integral_constant<int, 1>{});
    case 2: return body(std::integral_constant<int, 2>{});
    case 4: return body(std::integral_constant<int, 4>{});
    case 8: return body(std::integral_constant<int, 8>{});
    default: return body(std::integral_constant<int, 16>{});
  }
}

}  // namespace mygemm
