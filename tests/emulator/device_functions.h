// Emulator of the CUDA runtime: the built-in functions of device code. Functions that wait for
// other threads record their place of call, for reports of deadlocks.
#pragma once

#include <math.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "execution.h"
#include "vector_types.h"

// Set by the scheduler whenever it switches threads; launches take turns, so plain variables do.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = emulator::kWarpSize;

// ---- waiting ----

inline void __syncthreads(emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_block(site);
}

inline void __syncwarp(unsigned mask = ~0u, emulator::Site site = emulator::Site::here()) {
  emulator::exchange("__syncwarp", mask, 0, site);
}

// Threads run one at a time and see each other's writes.
inline void __threadfence() {}
inline void __threadfence_block() {}

// ---- exchange within a warp ----

namespace emulator {

// The value that lane `source` passes; the caller's own where the source is outside its segment.
template <class T>
T shuffle(const char* name, unsigned mask, T value, int source, int first, int width, Site site) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const LaneValues& values = exchange(name, mask, bits, site);
  const int last = static_cast<int>(lane()) / width * width + width - 1;
  if (source < first || source > last) return value;
  std::memcpy(&value, &values[static_cast<size_t>(source)], sizeof value);
  return value;
}

inline int segment_start(int width) { return static_cast<int>(lane()) / width * width; }

}  // namespace emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize,
              emulator::Site site = emulator::Site::here()) {
  const int first = emulator::segment_start(width);
  return emulator::shuffle("__shfl_sync", mask, value, first + (lane & (width - 1)), first, width,
                           site);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 emulator::Site site = emulator::Site::here()) {
  const int source = static_cast<int>(emulator::lane()) - static_cast<int>(delta);
  return emulator::shuffle("__shfl_up_sync", mask, value, source, emulator::segment_start(width),
                           width, site);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   emulator::Site site = emulator::Site::here()) {
  const int source = static_cast<int>(emulator::lane()) + static_cast<int>(delta);
  return emulator::shuffle("__shfl_down_sync", mask, value, source, 0, width, site);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  emulator::Site site = emulator::Site::here()) {
  const int source = static_cast<int>(emulator::lane()) ^ lane_mask;
  return emulator::shuffle("__shfl_xor_sync", mask, value, source, 0, width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              emulator::Site site = emulator::Site::here()) {
  const auto& values = emulator::exchange("__ballot_sync", mask, predicate != 0, site);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < emulator::kWarpSize; ++lane) {
    ballot |= static_cast<unsigned>(values[lane] & 1) << lane;
  }
  return ballot & mask;
}

inline int __any_sync(unsigned mask, int predicate, emulator::Site site = emulator::Site::here()) {
  return __ballot_sync(mask, predicate, site) != 0;
}

inline int __all_sync(unsigned mask, int predicate, emulator::Site site = emulator::Site::here()) {
  return __ballot_sync(mask, predicate, site) == mask;
}

// T: int or unsigned.
template <class T>
T __reduce_max_sync(unsigned mask, T value, emulator::Site site = emulator::Site::here()) {
  const auto& values =
      emulator::exchange("__reduce_max_sync", mask, static_cast<uint64_t>(value), site);
  T largest = value;
  for (unsigned lane = 0; lane < emulator::kWarpSize; ++lane) {
    if (mask >> lane & 1) largest = std::max(largest, static_cast<T>(values[lane]));
  }
  return largest;
}

// ---- memory and arithmetic ----

template <class T>
T __ldg(const T* address) {
  return *address;
}

template <class T>
T __ldcg(const T* address) {
  return *address;
}

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmin(T(a), T(b));
  return T(b) < T(a) ? T(b) : T(a);
}

template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) return std::fmax(T(a), T(b));
  return T(a) < T(b) ? T(b) : T(a);
}

// The old value. Threads run one at a time, so that a plain sum does. Others may wait for it, and
// may draw from the same counter and be far ahead before this thread does anything with its number.
inline unsigned atomicAdd(unsigned* address, unsigned value,
                          emulator::Site site = emulator::Site::here()) {
  const unsigned old = *address;
  *address = old + value;
  emulator::wake_waiters(address);
  emulator::step_aside(site);
  return old;
}

inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  const unsigned long long old = *address;
  *address = old + value;
  return old;
}

// Cache hints do not change what is stored; misaligned vectors are reported by UBSan.
template <class T>
void __stcs(T* address, T value) {
  *address = value;
}

template <class T>
void __stcg(T* address, T value) {
  *address = value;
}

// Four bytes of (high, low), chosen by the digits of the selector; digits of 8 and more, which
// replicate a sign, are not used by any kernel.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned digit = selector >> 4 * i & 7;
    result |= static_cast<unsigned>(bytes >> 8 * digit & 0xff) << 8 * i;
  }
  return result;
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (bits & 31));
}

// The lowest set bit, counted from 1; 0 without one.
inline int __ffs(int bits) { return __builtin_ffs(bits); }

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}

inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fmul_rz(float x, float y) {
  const double product = static_cast<double>(x) * y;  // exact
  float rounded = static_cast<float>(product);
  if (std::fabs(rounded) > std::fabs(product)) rounded = std::nextafter(rounded, 0.0f);
  return rounded;
}
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }

inline unsigned __float_as_uint(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float __uint_as_float(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
