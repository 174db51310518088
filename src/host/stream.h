// Stores that go past the caches, for results too large to be found there by whoever reads them:
// a cached store would first read the line that it is about to overwrite. Host backend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mygemm::host {

// A result larger than this leaves the caches before anybody reads it.
constexpr double kStreamBytes = 4.0 * 1024 * 1024;

// Copies past the caches. Whole cache lines only: parts of lines at both ends are stored as usual,
// and meet their other parts in the cache.
inline void stream_copy(void* to, const void* from, int64_t bytes) {
#if defined(__SSE2__)
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  const int64_t head =
      std::min(bytes, static_cast<int64_t>(-reinterpret_cast<uintptr_t>(target) & 63));
  std::memcpy(target, source, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    for (int64_t part = i; part < i + 64; part += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + part)));
    }
  }
  std::memcpy(target + i, source + i, static_cast<size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

// Orders streamed stores before whatever this thread does next, such as ending a parallel loop.
inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace mygemm::host
