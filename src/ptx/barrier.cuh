// Named barriers of a block: rendezvous of some of its warps. Any SM. Device only.
#pragma once

namespace mygemm::ptx {

// bar.red.or: waits until `threads` threads of the block have called it with this `barrier`, 1 to
// 15, and returns whether any of them passed true. Whole warps call it. What they wrote before is
// seen by all of them behind it.
__device__ __forceinline__ bool any_at_barrier(int barrier, int threads, bool value) {
  unsigned any;
  asm volatile(
      "{\n"
      ".reg .pred own, any;\n"
      "setp.ne.u32 own, %3, 0;\n"
      "bar.red.or.pred any, %1, %2, own;\n"
      "selp.u32 %0, 1, 0, any;\n"
      "}"
      : "=r"(any)
      : "r"(barrier), "r"(threads), "r"(static_cast<unsigned>(value))
      : "memory");
  return any != 0;
}

// bar.sync: the same without a value.
__device__ __forceinline__ void meet_at_barrier(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

}  // namespace mygemm::ptx
