/* A program written for cuBLAS, compiled with mygemm/cublas_compat.h and run with
 * MYGEMM_BACKEND=host: every function of the header, with values that are checked. C99 and C++. */
#include <mygemm/cublas_compat.h>
#include <stdio.h>

static int failures = 0;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  printf("wrong: %s (%s)\n", what, mygemm_last_error());
}

#define EXPECT(condition) expect(condition, #condition)

static const float one = 1, zero = 0, two = 2, three = 3;

/* 2 A B + 3 C for column-major A = [1 3; 2 4], B = [5 7; 6 8], C = [1 1; 1 1]. */
static int is_product(const float* c) {
  return c[0] == 49 && c[1] == 71 && c[2] == 65 && c[3] == 95;
}

static void set(float* c) {
  int i;
  for (i = 0; i < 4; ++i) c[i] = 1;
}

static void products(cublasHandle_t handle) {
  const cublasOperation_t N = CUBLAS_OP_N;
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4];
  const float *as[1], *bs[1];
  float* cs[1];
  as[0] = a, bs[0] = b, cs[0] = c;
  set(c);
  EXPECT(!cublasSgemm(handle, N, N, 2, 2, 2, &two, a, 2, b, 2, &three, c, 2) && is_product(c));
  set(c);
  EXPECT(!cublasSgemmStridedBatched(handle, N, N, 2, 2, 2, &two, a, 2, 0, b, 2, 0, &three, c, 2, 4,
                                    1) &&
         is_product(c));
  set(c);
  EXPECT(!cublasSgemmBatched(handle, N, N, 2, 2, 2, &two, as, 2, bs, 2, &three, cs, 2, 1) &&
         is_product(c));
  set(c);
  EXPECT(!cublasGemmEx(handle, N, N, 2, 2, 2, &two, a, CUDA_R_32F, 2, b, CUDA_R_32F, 2, &three, c,
                       CUDA_R_32F, 2, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT) &&
         is_product(c));
  set(c);
  EXPECT(!cublasGemmStridedBatchedEx_64(handle, N, N, 2, 2, 2, &two, a, CUDA_R_32F, 2, 0, b,
                                        CUDA_R_32F, 2, 0, &three, c, CUDA_R_32F, 2, 4, 1,
                                        CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT) &&
         is_product(c));
  set(c);
  EXPECT(!cublasGemmBatchedEx(handle, N, N, 2, 2, 2, &two, (const void* const*)as, CUDA_R_32F, 2,
                              (const void* const*)bs, CUDA_R_32F, 2, &three, (void* const*)cs,
                              CUDA_R_32F, 2, 1, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT_TENSOR_OP) &&
         is_product(c));
}

static void refusals(cublasHandle_t handle) {
  const cublasOperation_t N = CUBLAS_OP_N;
  const float a[] = {1, 2, 3, 4};
  float c[] = {5, 6, 7, 8};
  cublasMath_t mode = CUBLAS_PEDANTIC_MATH;
  EXPECT(cublasSgemm(handle, N, N, 2, 2, 2, &one, a, 1, a, 2, &zero, c, 2) ==
         CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(NULL, N, N, 2, 2, 2, &one, a, 2, a, 2, &zero, c, 2) ==
         CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT(cublasGemmEx(handle, N, N, 2, 2, 2, &one, a, CUDA_R_16F, 2, a, CUDA_R_32F, 2, &zero, c,
                      CUDA_R_32F, 2, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasGemmEx(handle, N, N, 2, 2, 2, &one, a, CUDA_R_32F, 2, a, CUDA_R_32F, 2, &zero, c,
                      CUDA_R_32F, 2, (cublasComputeType_t)70,
                      CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasSgeam(handle, CUBLAS_OP_T, N, 2, 2, &two, a, 2, &zero, a, 2, c, 2) ==
         CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasSgeam(handle, (cublasOperation_t)3, N, 2, 2, &one, a, 2, &zero, a, 2, c, 2) ==
         CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgeam(handle, CUBLAS_OP_T, N, 2, 2, &one, c, 2, &zero, NULL, 2, c, 2) ==
         CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgeam(handle, CUBLAS_OP_T, N, 2, 2, NULL, a, 2, &zero, a, 2, c, 2) ==
         CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(c[0] == 5 && c[1] == 6 && c[2] == 7 && c[3] == 8);
  EXPECT(!cublasGetMathMode(handle, &mode) && mode == CUBLAS_DEFAULT_MATH);
  EXPECT(cublasSetMathMode(handle, (cublasMath_t)9) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasDestroy(NULL) == CUBLAS_STATUS_NOT_INITIALIZED);
}

static void transposes(cublasHandle_t handle) {
  const float a[] = {1, 2, 3, 4, 5, 6}; /* 3 x 2 */
  float c[6] = {0};
  const int i[] = {1, 4, 2, 5, 3, 6};
  int j;
  EXPECT(!cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 3, &one, a, 3, &zero, NULL, 2, c, 2));
  for (j = 0; j < 6; ++j) EXPECT(c[j] == i[j]);
  EXPECT(!cublasSgeam_64(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 3, &zero, NULL, 2, &one, a, 3, c, 2));
  for (j = 0; j < 6; ++j) EXPECT(c[j] == i[j]);
}

static void settings(cublasHandle_t handle) {
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  mygemmStream_t stream = NULL;
  EXPECT(!cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  EXPECT(!cublasGetPointerMode(handle, &pointer_mode));
  EXPECT(pointer_mode == CUBLAS_POINTER_MODE_DEVICE);
  EXPECT(cublasGetPointerMode(handle, NULL) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(!cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  EXPECT(!cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
  EXPECT(!cublasGetMathMode(handle, &math) && math == CUBLAS_PEDANTIC_MATH);
  EXPECT(!cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  EXPECT(!cublasGetMathMode(handle, &math) && math == CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT(!cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  EXPECT(!cublasGetMathMode(handle, &math) && math == CUBLAS_DEFAULT_MATH);
  EXPECT(!cublasSetStream(handle, NULL) && !cublasGetStream(handle, &stream) && !stream);
  EXPECT(!cublasSetWorkspace(handle, NULL, 0));
  EXPECT(cublasGetStatusString(CUBLAS_STATUS_INVALID_VALUE)[0] == 'i');
}

int main(void) {
  cublasHandle_t handle;
  EXPECT(!cublasCreate(&handle));
  settings(handle);
  products(handle);
  transposes(handle);
  refusals(handle);
  EXPECT(!cublasDestroy(handle));
  if (failures == 0) printf("right\n");
  return failures != 0;
}
