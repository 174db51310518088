// Emulator of the CUDA runtime: stands in for src/ptx/wgmma.cuh (sm_90a).
#pragma once

#include <cstdint>

#include "products.h"

namespace mygemm::ptx {

inline void wgmma_fence() { emulator::fence_products(); }

inline void wgmma_commit(emulator::Site site = emulator::Site::here()) {
  emulator::commit_products(site);
}

template <int kPending = 0, int kCount>
void wgmma_wait(float (&d)[kCount], emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_products(d, kPending, site);
}

inline unsigned wgmma_matrix(unsigned address) {
  constexpr unsigned kLeadingStride = 1;
  return kLeadingStride << 16 | address >> 4;
}
inline unsigned wgmma_matrix_mn(unsigned address) {
  constexpr unsigned kLeadingStride = 2048 / 16;
  return kLeadingStride << 16 | address >> 4;
}
constexpr unsigned kWgmmaMatrix = 1024 / 16 | 1u << 30;
constexpr unsigned kWgmmaMatrixBf16 = 512 / 16 | 2u << 30;

template <int kN>
void wgmma_tf32(float (&d)[kN / 2], const unsigned (&a)[4], unsigned b, bool add) {
  static_assert(kN == 64 || kN == 128 || kN == 192);
  emulator::start_product(emulator::ProductType::kTf32, d, kN / 2, a,
                          uint64_t{kWgmmaMatrix} << 32 | b, add);
}

template <int kN, bool kMNMajor, unsigned kMatrix = kWgmmaMatrixBf16>
void wgmma_bf16(float (&d)[kN / 2], const unsigned (&a)[4], unsigned b, bool add) {
  static_assert(kN == 32 || kN == 64 || kN == 128);
  const uint64_t matrix = uint64_t{kMatrix} << 32 | b;
  if constexpr (kMatrix == kWgmmaMatrix) {
    emulator::start_product_of_shared_b(d, kN / 2, a, {matrix, kMNMajor}, add);
  } else {
    emulator::start_product(
        kMNMajor ? emulator::ProductType::kBf16MNMajor : emulator::ProductType::kBf16, d, kN / 2, a,
        matrix, add);
  }
}

template <bool kMNMajor>
unsigned wgmma_matrix_16(unsigned address) {
  constexpr unsigned kLeadingStride = kMNMajor ? 8192 / 16 : 1;
  return kLeadingStride << 16 | address >> 4;
}

template <bool kBf16, int kN, bool kMNMajorA, bool kMNMajorB>
void wgmma_16(float (&d)[kN / 2], unsigned a, unsigned b, bool add) {
  static_assert(kN % 16 == 0 && 32 <= kN && kN <= 256);
  constexpr uint64_t kUpper = uint64_t{kWgmmaMatrix} << 32;
  emulator::start_product_of_shared(
      d, kN / 2, {.bf16 = kBf16, .a = {kUpper | a, kMNMajorA}, .b = {kUpper | b, kMNMajorB}}, add);
}

template <int kPending>
void wgmma_wait_for_operands(emulator::Site site = emulator::Site::here()) {
  emulator::wait_for_operands_of_products(kPending, site);
}

}  // namespace mygemm::ptx
