/*
 * Static test: the interface on its own, as C99, C11, C++11 and C++20. The numbers of its
 * enumerators and the layout of its structs are part of the ABI. Compiled, never run.
 */
#include "mygemm/mygemm.h"

/* A negative array size is an error in every one of these languages. */
#define SAME(name, value) typedef char name##_is_##value[(name) == (value) ? 1 : -1]

SAME(MYGEMM_STATUS_SUCCESS, 0);
SAME(MYGEMM_STATUS_NOT_INITIALIZED, 1);
SAME(MYGEMM_STATUS_ALLOC_FAILED, 3);
SAME(MYGEMM_STATUS_INVALID_VALUE, 7);
SAME(MYGEMM_STATUS_ARCH_MISMATCH, 8);
SAME(MYGEMM_STATUS_EXECUTION_FAILED, 13);
SAME(MYGEMM_STATUS_INTERNAL_ERROR, 14);
SAME(MYGEMM_STATUS_NOT_SUPPORTED, 15);
SAME(MYGEMM_OP_N, 0);
SAME(MYGEMM_OP_T, 1);
SAME(MYGEMM_OP_C, 2);
SAME(MYGEMM_R_32F, 0);
SAME(MYGEMM_R_16F, 2);
SAME(MYGEMM_R_16BF, 14);
SAME(MYGEMM_INDEX_32I, 10);
SAME(MYGEMM_INDEX_64I, 24);
SAME(MYGEMM_EMPTY_ROW_NAN, 0);
SAME(MYGEMM_EMPTY_ROW_ZERO, 1);
SAME(MYGEMM_SOFTMAX, 0);
SAME(MYGEMM_LOG_SOFTMAX, 1);
SAME(MYGEMM_MATH_DEFAULT, 0);
SAME(MYGEMM_MATH_STRICT, 1);
SAME(MYGEMM_MATH_FAST, 2);
SAME(MYGEMM_INVARIANCE_NONE, 0);
SAME(MYGEMM_INVARIANCE_BATCH, 1);
SAME(MYGEMM_ACTIVATION_NONE, 0);
SAME(MYGEMM_ACTIVATION_RELU, 1);
SAME(MYGEMM_ACTIVATION_GELU, 2);
SAME(MYGEMM_ACTIVATION_RELU_GRADIENT, 3);
SAME(MYGEMM_ACTIVATION_GELU_GRADIENT, 4);
SAME(MYGEMM_SUMS_NONE, 0);
SAME(MYGEMM_SUMS_OF_D, 1);
SAME(MYGEMM_SUMS_OF_A, 2);
SAME(MYGEMM_SUMS_OF_B, 3);
SAME(MYGEMM_FILL_FULL, 0);
SAME(MYGEMM_FILL_LOWER, 1);
SAME(MYGEMM_FILL_UPPER, 2);
SAME(MYGEMM_POINTER_MODE_HOST, 0);
SAME(MYGEMM_POINTER_MODE_DEVICE, 1);
SAME(MYGEMM_BACKEND_AUTO, 0);
SAME(MYGEMM_BACKEND_CUDA, 1);
SAME(MYGEMM_BACKEND_HOST, 2);

typedef char an_enum_is_an_int[sizeof(mygemmStatus_t) == sizeof(int) ? 1 : -1];
typedef char struct_size_is_first[offsetof(mygemmConfig_t, struct_size) == 0 ? 1 : -1];
typedef char backend_is_next[offsetof(mygemmConfig_t, backend) == sizeof(size_t) ? 1 : -1];
typedef char device_is_next[offsetof(mygemmConfig_t, device) == sizeof(size_t) + 4 ? 1 : -1];
typedef char
    workspace_is_last[offsetof(mygemmConfig_t, workspace_bytes) == sizeof(size_t) + 8 ? 1 : -1];
typedef char nothing_follows[sizeof(mygemmConfig_t) == sizeof(size_t) + 16 ? 1 : -1];

/* mygemmGemm_t: first a size_t, then sizes of 8 bytes and pairs of enumerations of 4, then nothing
 * but pointers, leading dimensions and strides, and another pair: no padding before the last. */
typedef char size_comes_first[offsetof(mygemmGemm_t, struct_size) == 0 ? 1 : -1];
typedef char transb_at[offsetof(mygemmGemm_t, transb) == sizeof(size_t) + 4 ? 1 : -1];
typedef char m_at[offsetof(mygemmGemm_t, m) == sizeof(size_t) + 8 ? 1 : -1];
typedef char atype_at[offsetof(mygemmGemm_t, atype) == sizeof(size_t) + 40 ? 1 : -1];
typedef char activation_at[offsetof(mygemmGemm_t, activation) == sizeof(size_t) + 60 ? 1 : -1];
typedef char alpha_at[offsetof(mygemmGemm_t, alpha) == sizeof(size_t) + 64 ? 1 : -1];
typedef char
    lda_at[offsetof(mygemmGemm_t, lda) == sizeof(size_t) + 64 + 3 * sizeof(void*) ? 1 : -1];
typedef char d_array_at[offsetof(mygemmGemm_t, D_array) == sizeof(size_t) + 136 + 10 * sizeof(void*)
                            ? 1
                            : -1];
/* The first version of the struct ends where invariance begins, behind which is padding. */
typedef char first_size[offsetof(mygemmGemm_t, invariance) ==
                                sizeof(size_t) + 72 + 13 * sizeof(void*) + 12 * 8
                            ? 1
                            : -1];
typedef char gemm_size[sizeof(mygemmGemm_t) == offsetof(mygemmGemm_t, invariance) + 8 ? 1 : -1];

int multiply(mygemmHandle_t handle);
int multiply(mygemmHandle_t handle) {
  const mygemmGemm_t call = MYGEMM_GEMM_INIT;
  return call.batch_count == 1 && mygemm_gemm(handle, &call) == MYGEMM_STATUS_SUCCESS;
}

/* mygemmGroups_t: pointers, the total, then four fields of 4 bytes: no padding. */
typedef char groups_m_at[offsetof(mygemmGroups_t, m) == sizeof(size_t) ? 1 : -1];
typedef char
    groups_lda_at[offsetof(mygemmGroups_t, lda) == sizeof(size_t) + 3 * sizeof(void*) ? 1 : -1];
typedef char
    total_at[offsetof(mygemmGroups_t, total) == sizeof(size_t) + 7 * sizeof(void*) ? 1 : -1];
typedef char stacked_at[offsetof(mygemmGroups_t, stacked) == offsetof(mygemmGroups_t, total) + 8 + 8
                            ? 1
                            : -1];
typedef char
    groups_size[sizeof(mygemmGroups_t) == offsetof(mygemmGroups_t, total) + 8 + 4 * 4 ? 1 : -1];

int multiply_groups(mygemmHandle_t handle);
int multiply_groups(mygemmHandle_t handle) {
  const mygemmGemm_t call = MYGEMM_GEMM_INIT;
  const mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
  return groups.index_type == MYGEMM_INDEX_32I && groups.location == MYGEMM_POINTER_MODE_HOST &&
         mygemm_gemm_grouped(handle, &call, &groups) == MYGEMM_STATUS_SUCCESS;
}

/* mygemmCrossEntropy_t: no padding before the last fields, which are six of 4 bytes. */
typedef char
    ldx_at[offsetof(mygemmCrossEntropy_t, ldx) == sizeof(size_t) + 16 + sizeof(void*) ? 1 : -1];
typedef char xtype_at
    [offsetof(mygemmCrossEntropy_t, xtype) == sizeof(size_t) + 6 * 8 + 6 * sizeof(void*) ? 1 : -1];
typedef char loss_size[sizeof(mygemmCrossEntropy_t) == offsetof(mygemmCrossEntropy_t, xtype) + 6 * 4
                           ? 1
                           : -1];

int lose(mygemmHandle_t handle);
int lose(mygemmHandle_t handle) {
  const mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  return call.ignore_index == -100 && mygemm_cross_entropy(handle, &call) == MYGEMM_STATUS_SUCCESS;
}

/* mygemmSoftmax_t: no padding, with an even number of fields of 4 bytes at its end. */
typedef char scale_at[offsetof(mygemmSoftmax_t, scale) ==
                              sizeof(size_t) + 10 * 8 - 8 + 4 * sizeof(void*) + 16
                          ? 1
                          : -1];
typedef char softmax_size
    [sizeof(mygemmSoftmax_t) == offsetof(mygemmSoftmax_t, causal_offset) + 8 + 4 * 4 ? 1 : -1];
typedef char empty_rows[MYGEMM_EMPTY_ROW_NAN == 0 && MYGEMM_EMPTY_ROW_ZERO == 1 ? 1 : -1];

int mask_rows(mygemmHandle_t handle);
int mask_rows(mygemmHandle_t handle) {
  const mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
  return call.scale == 1.0f && call.mask_stride_col == 1 &&
         mygemm_softmax_ex(handle, &call) == MYGEMM_STATUS_SUCCESS;
}

int create(mygemmHandle_t* handle);
int create(mygemmHandle_t* handle) {
  const mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  return mygemm_create_with_config(handle, &config) == MYGEMM_STATUS_SUCCESS;
}
