/* ABI tests: the interface as a plain C99 program uses it, on the host backend. Every function that
 * is not a compute call, and each compute call once. No framework: C has none here. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mygemm/mygemm.h"

static int checks = 0;
static int failures = 0;

#define CHECK(condition)                                                               \
  do {                                                                                 \
    ++checks;                                                                          \
    if (!(condition)) {                                                                \
      ++failures;                                                                      \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, \
              mygemm_last_error());                                                    \
    }                                                                                  \
  } while (0)

static int last_error_names(const char* argument) {
  return strstr(mygemm_last_error(), argument) != NULL;
}

/* The numbers are part of the ABI. */
static void test_enumerators(void) {
  CHECK(MYGEMM_STATUS_SUCCESS == 0 && MYGEMM_STATUS_NOT_INITIALIZED == 1);
  CHECK(MYGEMM_STATUS_ALLOC_FAILED == 3 && MYGEMM_STATUS_INVALID_VALUE == 7);
  CHECK(MYGEMM_STATUS_ARCH_MISMATCH == 8 && MYGEMM_STATUS_EXECUTION_FAILED == 13);
  CHECK(MYGEMM_STATUS_INTERNAL_ERROR == 14 && MYGEMM_STATUS_NOT_SUPPORTED == 15);
  CHECK(MYGEMM_OP_N == 0 && MYGEMM_OP_T == 1 && MYGEMM_OP_C == 2);
  CHECK(MYGEMM_R_32F == 0 && MYGEMM_R_16F == 2 && MYGEMM_R_16BF == 14);
  CHECK(MYGEMM_SOFTMAX == 0 && MYGEMM_LOG_SOFTMAX == 1);
  CHECK(MYGEMM_MATH_DEFAULT == 0 && MYGEMM_MATH_STRICT == 1 && MYGEMM_MATH_FAST == 2);
  CHECK(MYGEMM_MATH_OF_HANDLE == -1);
  CHECK(MYGEMM_ACTIVATION_NONE == 0 && MYGEMM_ACTIVATION_RELU == 1 && MYGEMM_ACTIVATION_GELU == 2);
  CHECK(MYGEMM_POINTER_MODE_HOST == 0 && MYGEMM_POINTER_MODE_DEVICE == 1);
  CHECK(MYGEMM_BACKEND_AUTO == 0 && MYGEMM_BACKEND_CUDA == 1 && MYGEMM_BACKEND_HOST == 2);
}

static void test_library(void) {
  static const mygemmStatus_t statuses[] = {
      MYGEMM_STATUS_SUCCESS,        MYGEMM_STATUS_NOT_INITIALIZED, MYGEMM_STATUS_ALLOC_FAILED,
      MYGEMM_STATUS_INVALID_VALUE,  MYGEMM_STATUS_ARCH_MISMATCH,   MYGEMM_STATUS_EXECUTION_FAILED,
      MYGEMM_STATUS_INTERNAL_ERROR, MYGEMM_STATUS_NOT_SUPPORTED};
  const size_t count = sizeof statuses / sizeof *statuses;
  size_t i, j;
  CHECK(mygemm_version() ==
        10000 * MYGEMM_VERSION_MAJOR + 100 * MYGEMM_VERSION_MINOR + MYGEMM_VERSION_PATCH);
  CHECK(strcmp(mygemm_status_string(MYGEMM_STATUS_INVALID_VALUE), "invalid value") == 0);
  for (i = 0; i < count; ++i) {
    CHECK(mygemm_status_string(statuses[i])[0] != '\0');
    for (j = 0; j < i; ++j) {
      CHECK(strcmp(mygemm_status_string(statuses[i]), mygemm_status_string(statuses[j])) != 0);
    }
  }
  CHECK(mygemm_status_string((mygemmStatus_t)99) != NULL);
  CHECK(mygemm_last_error() != NULL && mygemm_last_error()[0] == '\0');
}

static void test_creation(void) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle = NULL;
  mygemmBackend_t backend = MYGEMM_BACKEND_AUTO;
  struct {
    mygemmConfig_t known;
    int64_t later;
  } newer;

  CHECK(config.struct_size == sizeof config && config.backend == MYGEMM_BACKEND_AUTO);
  CHECK(config.device == -1 && config.workspace_bytes == -1);
  CHECK(mygemm_create(NULL) == MYGEMM_STATUS_INVALID_VALUE && last_error_names("handle"));
  CHECK(mygemm_create_with_config(NULL, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_destroy(NULL) == MYGEMM_STATUS_SUCCESS);

  config.backend = MYGEMM_BACKEND_HOST;
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_SUCCESS && handle != NULL);
  CHECK(mygemm_get_backend(handle, &backend) == MYGEMM_STATUS_SUCCESS);
  CHECK(backend == MYGEMM_BACKEND_HOST);
  CHECK(mygemm_destroy(handle) == MYGEMM_STATUS_SUCCESS);

  /* A newer caller may leave its extra field at zero, not use it. No caller knows less than the
   * first version. */
  handle = NULL;
  memset(&newer, 0, sizeof newer);
  newer.known.struct_size = sizeof newer;
  newer.known.backend = MYGEMM_BACKEND_HOST;
  newer.known.device = -1;
  CHECK(mygemm_create_with_config(&handle, &newer.known) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_destroy(handle) == MYGEMM_STATUS_SUCCESS);
  newer.later = 1;
  CHECK(mygemm_create_with_config(&handle, &newer.known) == MYGEMM_STATUS_NOT_SUPPORTED);

  config.struct_size = offsetof(mygemmConfig_t, device);
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("struct_size"));
  /* The first version ended before workspace_bytes. */
  config.struct_size = offsetof(mygemmConfig_t, workspace_bytes);
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_destroy(handle) == MYGEMM_STATUS_SUCCESS);
  config.struct_size = sizeof config;
  config.workspace_bytes = -2;
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("workspace_bytes"));
  config.workspace_bytes = -1;
  config.backend = 7;
  config.device = -1;
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("backend"));
}

static void test_handle_state(mygemmHandle_t handle) {
  static unsigned char memory[1024];
  unsigned char* aligned = memory + (256 - (uintptr_t)memory % 256);
  mygemmStream_t stream = (mygemmStream_t)memory;
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
  mygemmMathMode_t math = MYGEMM_MATH_STRICT;
  mygemmInvariance_t invariance = MYGEMM_INVARIANCE_BATCH;
  void* workspace = memory;
  size_t bytes = 1;

  CHECK(mygemm_get_stream(handle, &stream) == MYGEMM_STATUS_SUCCESS && stream == NULL);
  CHECK(mygemm_get_workspace(handle, &workspace, &bytes) == MYGEMM_STATUS_SUCCESS);
  CHECK(workspace == NULL && bytes == 0);
  CHECK(mygemm_get_pointer_mode(handle, &pointer_mode) == MYGEMM_STATUS_SUCCESS);
  CHECK(pointer_mode == MYGEMM_POINTER_MODE_HOST);
  CHECK(mygemm_get_math_mode(handle, &math) == MYGEMM_STATUS_SUCCESS);
  CHECK(math == MYGEMM_MATH_DEFAULT);
  CHECK(mygemm_get_invariance(handle, &invariance) == MYGEMM_STATUS_SUCCESS);
  CHECK(invariance == MYGEMM_INVARIANCE_NONE);

  CHECK(mygemm_set_workspace(handle, aligned, 512) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_set_stream(handle, (mygemmStream_t)memory) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_get_stream(handle, &stream) == MYGEMM_STATUS_SUCCESS);
  CHECK(stream == (mygemmStream_t)memory);
  CHECK(mygemm_get_workspace(handle, &workspace, &bytes) == MYGEMM_STATUS_SUCCESS);
  CHECK(workspace == aligned && bytes == 512);

  /* Refused settings change nothing. */
  CHECK(mygemm_set_workspace(handle, aligned + 4, 256) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("workspace"));
  CHECK(mygemm_set_workspace(handle, NULL, 256) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_set_pointer_mode(handle, (mygemmPointerMode_t)5) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("mode"));
  CHECK(mygemm_set_math_mode(handle, (mygemmMathMode_t)5) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("mode"));
  CHECK(mygemm_set_invariance(handle, (mygemmInvariance_t)2) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(strcmp(mygemm_last_error(), "mode = 2 is not a mygemmInvariance_t") == 0);
  CHECK(mygemm_get_workspace(handle, &workspace, &bytes) == MYGEMM_STATUS_SUCCESS);
  CHECK(workspace == aligned && bytes == 512);
  CHECK(mygemm_set_workspace(handle, NULL, 0) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_set_stream(handle, NULL) == MYGEMM_STATUS_SUCCESS);

  CHECK(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_DEVICE) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_get_pointer_mode(handle, &pointer_mode) == MYGEMM_STATUS_SUCCESS);
  CHECK(pointer_mode == MYGEMM_POINTER_MODE_DEVICE);
  CHECK(mygemm_set_pointer_mode(handle, MYGEMM_POINTER_MODE_HOST) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_set_math_mode(handle, MYGEMM_MATH_STRICT) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_get_math_mode(handle, &math) == MYGEMM_STATUS_SUCCESS);
  CHECK(math == MYGEMM_MATH_STRICT);
  CHECK(mygemm_set_math_mode(handle, MYGEMM_MATH_DEFAULT) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_set_invariance(handle, MYGEMM_INVARIANCE_BATCH) == MYGEMM_STATUS_SUCCESS);
  CHECK(mygemm_get_invariance(handle, &invariance) == MYGEMM_STATUS_SUCCESS);
  CHECK(invariance == MYGEMM_INVARIANCE_BATCH);
  CHECK(mygemm_set_invariance(handle, MYGEMM_INVARIANCE_NONE) == MYGEMM_STATUS_SUCCESS);

  CHECK(mygemm_get_backend(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_get_stream(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_get_pointer_mode(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_get_math_mode(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_get_invariance(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE);
}

static void test_null_handle(void) {
  const mygemmStatus_t expected = MYGEMM_STATUS_NOT_INITIALIZED;
  const mygemmOperation_t n = MYGEMM_OP_N;
  float x[4] = {1, 2, 3, 4};
  const float* list[1] = {x};
  float* out_list[1] = {x};
  mygemmBackend_t backend;
  mygemmStream_t stream;
  mygemmPointerMode_t pointer_mode;
  mygemmMathMode_t math;
  mygemmInvariance_t invariance;
  mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
  void* workspace;
  size_t bytes;

  CHECK(mygemm_gemm(NULL, NULL) == expected && last_error_names("handle"));
  CHECK(mygemm_gemm(NULL, &gemm) == expected);
  CHECK(mygemm_gemm_workspace_size(NULL, &gemm, &bytes) == expected);
  CHECK(mygemm_explain_gemm(NULL, NULL, &gemm, NULL, 0, &bytes) == expected);
  CHECK(mygemm_get_backend(NULL, &backend) == expected && last_error_names("handle"));
  CHECK(mygemm_set_stream(NULL, NULL) == expected);
  CHECK(mygemm_get_stream(NULL, &stream) == expected);
  CHECK(mygemm_set_workspace(NULL, NULL, 0) == expected);
  CHECK(mygemm_get_workspace(NULL, &workspace, &bytes) == expected);
  CHECK(mygemm_set_pointer_mode(NULL, MYGEMM_POINTER_MODE_HOST) == expected);
  CHECK(mygemm_get_pointer_mode(NULL, &pointer_mode) == expected);
  CHECK(mygemm_set_math_mode(NULL, MYGEMM_MATH_DEFAULT) == expected);
  CHECK(mygemm_get_math_mode(NULL, &math) == expected);
  CHECK(mygemm_set_invariance(NULL, MYGEMM_INVARIANCE_NONE) == expected);
  CHECK(mygemm_get_invariance(NULL, &invariance) == expected);
  CHECK(mygemm_sgemm(NULL, n, n, 1, 1, 1, x, x, 1, x, 1, x, x, 1) == expected);
  CHECK(mygemm_sgemm(NULL, (mygemmOperation_t)9, n, -1, 1, 1, x, x, 1, x, 1, x, x, 1) == expected);
  CHECK(mygemm_sgemm_strided_batched(NULL, n, n, 1, 1, 1, x, x, 1, 0, x, 1, 0, x, x, 1, 1, 1) ==
        expected);
  CHECK(mygemm_sgemm_batched(NULL, n, n, 1, 1, 1, x, list, 1, list, 1, x, out_list, 1, 1) ==
        expected);
  CHECK(mygemm_softmax(NULL, MYGEMM_SOFTMAX, 1, 1, 1, x, MYGEMM_R_32F, 1, x, MYGEMM_R_32F, 1) ==
        expected);
  CHECK(mygemm_softmax_backward(NULL, MYGEMM_SOFTMAX, 1, 1, 1, x, MYGEMM_R_32F, 1, x, MYGEMM_R_32F,
                                1, x, MYGEMM_R_32F, 1) == expected);
  CHECK(mygemm_transpose(NULL, 4, 1, 1, x, 1, x, 1) == expected);
  CHECK(mygemm_transpose_strided_batched(NULL, 4, 1, 1, x, 1, 1, x, 1, 1, 1) == expected);
  CHECK(mygemm_sgemm_workspace_size(NULL, n, n, 1, 1, 1, 1, &bytes) == expected);
  CHECK(mygemm_softmax_workspace_size(NULL, MYGEMM_SOFTMAX, 1, 1, MYGEMM_R_32F, MYGEMM_R_32F,
                                      &bytes) == expected);
  CHECK(mygemm_transpose_workspace_size(NULL, 4, 1, 1, 1, 0, &bytes) == expected);
  CHECK(mygemm_explain_sgemm(NULL, NULL, n, n, 1, 1, 1, NULL, 1, 0, NULL, 1, 0, NULL, 1, 0, 1, NULL,
                             0, &bytes) == expected);
}

static void test_compute(mygemmHandle_t handle) {
  const mygemmOperation_t n = MYGEMM_OP_N;
  const float a[4] = {1, 2, 3, 4}; /* columns (1, 2) and (3, 4) */
  const float b[2] = {5, 6};
  const float dy[2] = {1, 1};
  float c[2] = {1, 1};
  float y[2] = {9, 9};
  const float one = 1, two = 2;
  const float* a_list[1];
  const float* b_list[1];
  float* c_list[1];
  size_t bytes = 0;
  a_list[0] = a;
  b_list[0] = b;
  c_list[0] = c;

  CHECK(mygemm_sgemm(handle, n, n, 2, 1, 2, &one, a, 2, b, 2, &two, c, 2) == 0);
  CHECK(c[0] == 25 && c[1] == 36);
  CHECK(mygemm_sgemm_strided_batched(handle, n, n, 2, 1, 2, &one, a, 2, 0, b, 2, 0, &one, c, 2, 2,
                                     1) == 0);
  CHECK(c[0] == 48 && c[1] == 70);
  CHECK(mygemm_sgemm_batched(handle, n, n, 2, 1, 2, &one, a_list, 2, b_list, 2, &one, c_list, 2,
                             1) == 0);
  CHECK(c[0] == 71 && c[1] == 104);
  CHECK(mygemm_softmax(handle, MYGEMM_SOFTMAX, 1, 2, 0.0f, a, MYGEMM_R_32F, 2, y, MYGEMM_R_32F,
                       2) == 0);
  CHECK(y[0] == 0.5f && y[1] == 0.5f);
  CHECK(mygemm_softmax_backward(handle, MYGEMM_SOFTMAX, 1, 2, 1.0f, y, MYGEMM_R_32F, 2, dy,
                                MYGEMM_R_32F, 2, y, MYGEMM_R_32F, 2) == 0);
  CHECK(y[0] == 0 && y[1] == 0);
  CHECK(mygemm_transpose(handle, 4, 1, 2, b, 2, y, 1) == 0);
  CHECK(y[0] == 5 && y[1] == 6);
  CHECK(mygemm_transpose_strided_batched(handle, 4, 1, 1, b, 1, 1, c, 1, 1, 2) == 0);
  CHECK(c[0] == 5 && c[1] == 6);

  CHECK(mygemm_sgemm_workspace_size(handle, n, n, 5, 6, 7, 1, &bytes) == 0);
  CHECK(mygemm_softmax_workspace_size(handle, MYGEMM_LOG_SOFTMAX, 5, 6, MYGEMM_R_16F, MYGEMM_R_32F,
                                      &bytes) == 0);
  CHECK(mygemm_transpose_workspace_size(handle, 16, 5, 6, 1, 1, &bytes) == 0);
  CHECK(mygemm_transpose_workspace_size(handle, 3, 5, 6, 1, 1, &bytes) ==
        MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("element_size"));
  CHECK(mygemm_sgemm_workspace_size(handle, n, n, 5, 6, 7, 1, NULL) == MYGEMM_STATUS_INVALID_VALUE);
}

/* The general product: its descriptor, its epilogue, what it refuses. */
static void test_gemm(mygemmHandle_t handle) {
  const float a[4] = {1, 2, 3, 4}; /* columns (1, 2) and (3, 4) */
  const float b[2] = {5, 6}, c[2] = {1, -100}, bias[2] = {0.5f, 0.25f};
  const float one = 1, two = 2;
  float d[2] = {9, 9};
  size_t bytes = 1, length = 0;
  struct {
    mygemmGemm_t known;
    int64_t later;
  } newer;
  mygemmGemm_t call = MYGEMM_GEMM_INIT;
  CHECK(call.struct_size == sizeof call && call.transa == MYGEMM_OP_N && call.batch_count == 1);
  CHECK(call.atype == MYGEMM_R_32F && call.dtype == MYGEMM_R_32F && call.C == NULL);
  CHECK(call.math == MYGEMM_MATH_OF_HANDLE && call.activation == MYGEMM_ACTIVATION_NONE);
  CHECK(call.invariance == MYGEMM_INVARIANCE_OF_HANDLE && call.invariance == -1);
  CHECK(call.stride_bias == 0 && call.bias == NULL && call.D_array == NULL);
  call.m = call.k = call.lda = call.ldb = call.ldc = call.ldd = 2;
  call.n = 1;
  call.alpha = &one;
  call.beta = &two;
  call.A = a;
  call.B = b;
  call.C = c;
  call.D = d;
  call.bias = bias;
  call.activation = MYGEMM_ACTIVATION_RELU;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_SUCCESS);
  CHECK(d[0] == 25.5f && d[1] == 0 && c[0] == 1);
  call.activation = MYGEMM_ACTIVATION_NONE;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_SUCCESS && d[0] == 25.5f && d[1] == -165.75f);
  CHECK(mygemm_gemm_workspace_size(handle, &call, &bytes) == MYGEMM_STATUS_SUCCESS && bytes == 0);
  CHECK(mygemm_gemm_workspace_size(handle, &call, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_explain_gemm(NULL, "H200", &call, NULL, 0, &length) == MYGEMM_STATUS_SUCCESS);
  CHECK(length > 0);

  CHECK(mygemm_gemm(handle, NULL) == MYGEMM_STATUS_INVALID_VALUE && last_error_names("call"));
  CHECK(mygemm_gemm_workspace_size(handle, NULL, &bytes) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(mygemm_explain_gemm(handle, NULL, NULL, NULL, 0, &length) == MYGEMM_STATUS_INVALID_VALUE);
  /* The first version of the struct ends before invariance. */
  call.struct_size = offsetof(mygemmGemm_t, invariance);
  call.invariance = 77;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_SUCCESS && d[1] == -165.75f);
  call.struct_size = sizeof call;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("invariance = 77 is neither a mygemmInvariance_t nor"));
  call.invariance = MYGEMM_INVARIANCE_BATCH;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_SUCCESS && d[1] == -165.75f);
  call.struct_size = offsetof(mygemmGemm_t, D_array);
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("struct_size"));
  memset(&newer, 0, sizeof newer);
  newer.known = call;
  newer.known.struct_size = sizeof newer;
  CHECK(mygemm_gemm(handle, &newer.known) == MYGEMM_STATUS_SUCCESS);
  newer.later = 1;
  CHECK(mygemm_gemm(handle, &newer.known) == MYGEMM_STATUS_NOT_SUPPORTED);
  call.struct_size = sizeof call;
  call.ldd = 1;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(strcmp(mygemm_last_error(), "ldd = 1 is smaller than max(1, m) = 2") == 0);
  call.dtype = MYGEMM_R_16F;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_NOT_SUPPORTED && last_error_names("dtype"));
  call.math = 9;
  CHECK(mygemm_gemm(handle, &call) == MYGEMM_STATUS_INVALID_VALUE && last_error_names("math"));
}

static void test_last_error(mygemmHandle_t handle) {
  const float x[64] = {0};
  float c[64];
  CHECK(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, 8, 8, 1, x, x, 5, x, 8, x, c, 8) ==
        MYGEMM_STATUS_INVALID_VALUE);
  CHECK(strcmp(mygemm_last_error(), "lda = 5 is smaller than max(1, m) = 8 (transa = N)") == 0);
  /* A call that succeeds leaves it. */
  CHECK(mygemm_set_stream(handle, NULL) == MYGEMM_STATUS_SUCCESS && last_error_names("lda"));
  CHECK(mygemm_softmax(handle, MYGEMM_SOFTMAX, 1, 1, 1.0f, x, (mygemmDataType_t)7, 1, c,
                       MYGEMM_R_32F, 1) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(strcmp(mygemm_last_error(), "xtype = 7 is not a mygemmDataType_t") == 0);
}

/* Explanations: whole, by length, cut, for any machine. */
static void test_explain(mygemmHandle_t handle) {
  const mygemmOperation_t n = MYGEMM_OP_N;
  char text[8192];
  char cut[11];
  size_t length = 0, length_again = 0;
#define EXPLAIN(handle_, device_, text_, capacity_, length_)                                      \
  mygemm_explain_sgemm(handle_, device_, n, n, 64, 64, 64, NULL, 64, 0, NULL, 64, 0, NULL, 64, 0, \
                       1, text_, capacity_, length_)
  CHECK(EXPLAIN(handle, NULL, NULL, 0, &length) == MYGEMM_STATUS_SUCCESS);
  CHECK(length > 0 && length < sizeof text);
  CHECK(EXPLAIN(handle, NULL, text, sizeof text, &length_again) == MYGEMM_STATUS_SUCCESS);
  CHECK(length_again == length && strlen(text) == length);
  CHECK(strncmp(text, "chosen: host_", 13) == 0);
  memset(cut, 'x', sizeof cut);
  CHECK(EXPLAIN(handle, NULL, cut, 10, &length_again) == MYGEMM_STATUS_SUCCESS);
  CHECK(length_again == length && cut[9] == '\0' && strncmp(cut, text, 9) == 0 && cut[10] == 'x');
  CHECK(EXPLAIN(NULL, "H200", text, sizeof text, NULL) == MYGEMM_STATUS_SUCCESS);
  CHECK(strncmp(text, "chosen: ", 8) == 0);
  CHECK(EXPLAIN(NULL, "sm_86", text, sizeof text, NULL) == MYGEMM_STATUS_SUCCESS);
  CHECK(EXPLAIN(handle, "no such device", text, sizeof text, NULL) == MYGEMM_STATUS_INVALID_VALUE);
  CHECK(last_error_names("no such device"));
  CHECK(EXPLAIN(handle, NULL, NULL, 5, NULL) == MYGEMM_STATUS_INVALID_VALUE);
#undef EXPLAIN
}

int main(void) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  mygemmHandle_t handle = NULL;
  config.backend = MYGEMM_BACKEND_HOST;

  test_enumerators();
  test_library();
  test_creation();
  test_null_handle();
  CHECK(mygemm_create_with_config(&handle, &config) == MYGEMM_STATUS_SUCCESS);
  if (handle == NULL) return 1;
  test_handle_state(handle);
  test_compute(handle);
  test_gemm(handle);
  test_last_error(handle);
  test_explain(handle);
  CHECK(mygemm_destroy(handle) == MYGEMM_STATUS_SUCCESS);
  printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
