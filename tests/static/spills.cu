// Static test: a kernel that cannot keep its values in registers. Compiled with the library's
// options it must be refused; see cmake/warnings.cmake.
__global__ void __launch_bounds__(1024, 2) spills(float* p) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) p[i * 1024 + threadIdx.x * 2] = v[63 - i] * v[i];
}
