// The exception barrier of the extern "C" functions: none leaves the library.
#pragma once

#include <new>

#include "call.h"

namespace mygemm {

// Runs `body`, which returns a Status, and turns what it throws (std::bad_alloc) into one.
template <class Body>
Status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(MYGEMM_STATUS_ALLOC_FAILED, "host memory ran out");
  } catch (...) {
    return fail(MYGEMM_STATUS_INTERNAL_ERROR, "an unexpected exception was thrown");
  }
}

}  // namespace mygemm
