/*
 * Static test: the interface on its own, as C99, C11, C++11 and C++20. The numbers of its
 * enumerators and the layout of its struct are part of the ABI. Compiled, never run.
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
SAME(MYGEMM_SOFTMAX, 0);
SAME(MYGEMM_LOG_SOFTMAX, 1);
SAME(MYGEMM_MATH_DEFAULT, 0);
SAME(MYGEMM_MATH_STRICT, 1);
SAME(MYGEMM_POINTER_MODE_HOST, 0);
SAME(MYGEMM_POINTER_MODE_DEVICE, 1);
SAME(MYGEMM_BACKEND_AUTO, 0);
SAME(MYGEMM_BACKEND_CUDA, 1);
SAME(MYGEMM_BACKEND_HOST, 2);

typedef char an_enum_is_an_int[sizeof(mygemmStatus_t) == sizeof(int) ? 1 : -1];
typedef char struct_size_is_first[offsetof(mygemmConfig_t, struct_size) == 0 ? 1 : -1];
typedef char backend_is_next[offsetof(mygemmConfig_t, backend) == sizeof(size_t) ? 1 : -1];
typedef char device_is_next[offsetof(mygemmConfig_t, device) == sizeof(size_t) + 4 ? 1 : -1];
typedef char nothing_follows[sizeof(mygemmConfig_t) == sizeof(size_t) + 8 ? 1 : -1];

int create(mygemmHandle_t* handle);
int create(mygemmHandle_t* handle) {
  const mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  return mygemm_create_with_config(handle, &config) == MYGEMM_STATUS_SUCCESS;
}
