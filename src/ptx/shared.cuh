// Dynamic shared memory as a typed struct. Any SM. Device only.
#pragma once

namespace mygemm {

// The block's dynamic shared memory as a T; the launch must have asked for sizeof(T) bytes or
// more. No static shared memory is used anywhere, so sizeof(T) is all a kernel takes. It begins at
// a multiple of 1024 bytes, which costs none: the swizzle of tensor maps repeats after so many.
template <class T>
__device__ __forceinline__ T& shared_storage() {
  extern __shared__ __align__(1024) unsigned char bytes[];
  static_assert(alignof(T) <= 1024);
  return *reinterpret_cast<T*>(bytes);
}

}  // namespace mygemm
