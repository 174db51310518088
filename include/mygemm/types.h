/*
 * The types of mygemm's ABI: statuses, enumerations, and the structs that are arguments. Programs
 * include mygemm.h, which includes this. C99 and C++; needs no CUDA header.
 */
#ifndef MYGEMM_TYPES_H
#define MYGEMM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a call. The numbers equal cuBLAS's for the same meaning. */
typedef enum {
  MYGEMM_STATUS_SUCCESS = 0,
  MYGEMM_STATUS_NOT_INITIALIZED = 1, /* the handle is NULL, or no usable backend was found */
  MYGEMM_STATUS_ALLOC_FAILED = 3,    /* host memory for a handle or a copy ran out */
  MYGEMM_STATUS_INVALID_VALUE = 7,   /* an argument breaks a rule; mygemm_last_error() says which */
  MYGEMM_STATUS_ARCH_MISMATCH = 8,   /* the library holds no code for this GPU */
  MYGEMM_STATUS_EXECUTION_FAILED = 13, /* CUDA refused a launch or reported an earlier failure */
  MYGEMM_STATUS_INTERNAL_ERROR = 14,   /* a defect of mygemm */
  MYGEMM_STATUS_NOT_SUPPORTED = 15 /* legal, but not possible in this build or on this machine */
} mygemmStatus_t;

/* op(X) in a matrix product. For real matrices C (conjugate transpose) equals T. */
typedef enum { MYGEMM_OP_N = 0, MYGEMM_OP_T = 1, MYGEMM_OP_C = 2 } mygemmOperation_t;

/* Element types, with CUDA's numbers: IEEE binary32, IEEE binary16, bfloat16. */
typedef enum { MYGEMM_R_32F = 0, MYGEMM_R_16F = 2, MYGEMM_R_16BF = 14 } mygemmDataType_t;

typedef enum { MYGEMM_SOFTMAX = 0, MYGEMM_LOG_SOFTMAX = 1 } mygemmSoftmaxMode_t;

/* The result of a row of mygemm_softmax_ex of which no element is left: NaN throughout, or
 * probabilities of 0 throughout (log-softmax: -inf). */
typedef enum { MYGEMM_EMPTY_ROW_NAN = 0, MYGEMM_EMPTY_ROW_ZERO = 1 } mygemmEmptyRow_t;

/* Types of class numbers and of lengths, with CUDA's numbers: signed integers of 32 and of 64 bits.
 */
typedef enum { MYGEMM_INDEX_32I = 10, MYGEMM_INDEX_64I = 24 } mygemmIndexType_t;

/* In every mode the bound of the error of each element is no larger than that of a chain of FP32
 * fused multiply-adds; nothing is rounded to TF32 or BF16 and left so.
 *   DEFAULT: where k is large, sums may be made on tensor cores, of six BF16 products for each FP32
 *            one. Operands lose no bit, and errors are those of multiply-adds or smaller.
 *   STRICT:  FP32 fused multiply-adds only.
 *   FAST:    sums may also be made of three TF32 products, which lose up to two last bits of an
 *            operand, and of six BF16 products of smaller k: faster, with larger errors where few
 *            products make a result.
 * docs/accuracy.md says what holds for which data.
 *   Operands of 16 bits have exact products in FP32: in every mode their sums are FP32, made by
 *   multiply-adds or on tensor cores. */
typedef enum {
  MYGEMM_MATH_DEFAULT = 0,
  MYGEMM_MATH_STRICT = 1,
  MYGEMM_MATH_FAST = 2
} mygemmMathMode_t;

/* The bits of a product's results, beside other products of the same library on the same GPU.
 *   NONE:  of the fastest kernel for each call: the order of a sum may depend on m, n, the batch,
 *          the workspace, leading dimensions and alignment.
 *   BATCH: an element of D depends on its row of op(A), its column of op(B), its element of C, its
 *          bias and aux, and on k, the operations, the types, alpha, beta, the activation and the
 *          math mode: not on where it lies, on m, n, the batch, or anything else. So do sums. Calls
 *          take longer, mostly those with few rows or columns and long sums. docs/invariance.md has
 *          the orders, the price, and what holds at the ends of FP32's range. NOT_SUPPORTED where
 *          there are 2^31 or more rows, columns or tiles, and for some triangles: those of pointer
 *          arrays, and without a workspace of 1 MiB. */
typedef enum { MYGEMM_INVARIANCE_NONE = 0, MYGEMM_INVARIANCE_BATCH = 1 } mygemmInvariance_t;

/* The function that a product applies to each element t last, in FP32:
 *   RELU: t > 0 ? t : 0, and NaN stays NaN
 *   GELU: t / (1 + exp(-2 u)), u = sqrt(2 / pi) * (t + 0.044715 t^3): the tanh form,
 *         0.5 t (1 + tanh u), without its cancellation; its relative error is at most
 *         (4 + 8 |u|) * 2^-23, results next to 0 may become 0, and -inf gives NaN
 * The others are gradients: t times the derivative at what aux holds of an earlier product, as RELU
 * and GELU leave it there; see mygemm_gemm.
 *   RELU_GRADIENT: the bit of aux ? t : 0
 *   GELU_GRADIENT: t * g(x), x the element of aux, s = 1 / (1 + exp(-2 u(x))),
 *         g(x) = s + 2 x s (1 - s) u'(x), u'(x) = sqrt(2 / pi) * (1 + 3 * 0.044715 x^2); g has an
 *         absolute error of at most 2^-20, and is 0 or 1 where x is large */
typedef enum {
  MYGEMM_ACTIVATION_NONE = 0,
  MYGEMM_ACTIVATION_RELU = 1,
  MYGEMM_ACTIVATION_GELU = 2,
  MYGEMM_ACTIVATION_RELU_GRADIENT = 3,
  MYGEMM_ACTIVATION_GELU_GRADIENT = 4
} mygemmActivation_t;

/* Sums that a product makes besides D, as gradients of a bias are. */
typedef enum {
  MYGEMM_SUMS_NONE = 0,
  MYGEMM_SUMS_OF_D = 1, /* of each row of D: m values */
  MYGEMM_SUMS_OF_A = 2, /* of each row of op(A), over k: m values */
  MYGEMM_SUMS_OF_B = 3  /* of each column of op(B), over k: n values */
} mygemmSums_t;

/* The part of a square D that a product computes; the rest is neither read nor written. */
typedef enum {
  MYGEMM_FILL_FULL = 0,  /* all of it */
  MYGEMM_FILL_LOWER = 1, /* elements (i, j) with i >= j */
  MYGEMM_FILL_UPPER = 2  /* elements (i, j) with i <= j */
} mygemmFill_t;

/* Where alpha and beta of a matrix product live. Host values are read during the call; device
 * values are read when the kernel runs. The host backend reads both during the call. */
typedef enum { MYGEMM_POINTER_MODE_HOST = 0, MYGEMM_POINTER_MODE_DEVICE = 1 } mygemmPointerMode_t;

/* AUTO: the current CUDA device, or the host where the machine has none. */
typedef enum {
  MYGEMM_BACKEND_AUTO = 0,
  MYGEMM_BACKEND_CUDA = 1,
  MYGEMM_BACKEND_HOST = 2
} mygemmBackend_t;

typedef struct mygemmContext *mygemmHandle_t;

/* The type behind cudaStream_t, so that a cudaStream_t is passed without a cast. */
typedef struct CUstream_st *mygemmStream_t;

/* The argument of mygemm_create_with_config(). Start from MYGEMM_CONFIG_INIT: struct_size tells
 * the library which fields the caller knows; fields added later have a default for older callers.
 */
typedef struct {
  size_t struct_size; /* sizeof(mygemmConfig_t) of the caller */
  int32_t backend;    /* a mygemmBackend_t */
  int32_t device;     /* CUDA device ordinal, or -1 for the device current at creation */
  /* Device memory of the handle's own for each of its streams; see mygemm_set_workspace. 0: none;
   * -1: 32 MiB. The host backend has none. */
  int64_t workspace_bytes;
} mygemmConfig_t;

#define MYGEMM_CONFIG_INIT \
  { sizeof(mygemmConfig_t), MYGEMM_BACKEND_AUTO, -1, -1 }

/* As mygemmGemm_t.math: the math mode that the handle has. */
#define MYGEMM_MATH_OF_HANDLE (-1)
/* As mygemmGemm_t.invariance: the handle's, as for callers of versions without the field. */
#define MYGEMM_INVARIANCE_OF_HANDLE (-1)

/* The general matrix product, an argument of mygemm_gemm(). Start from MYGEMM_GEMM_INIT, which is
 * one FP32 product without epilogue whose C is D; fields added later have a default for older
 * callers. Enumerations are held as int32_t. */
typedef struct {
  size_t struct_size;                 /* sizeof(mygemmGemm_t) of the caller */
  int32_t transa, transb;             /* mygemmOperation_t */
  int64_t m, n, k;                    /* op(A) is m x k, op(B) is k x n, C and D are m x n */
  int64_t batch_count;                /* products */
  int32_t atype, btype, ctype, dtype; /* mygemmDataType_t; see mygemm_gemm */
  int32_t math;                       /* mygemmMathMode_t or MYGEMM_MATH_OF_HANDLE */
  int32_t activation;                 /* mygemmActivation_t */
  const void *alpha, *beta;           /* one float each; see mygemm_set_pointer_mode */
  /* Matrix i of a batch begins stride elements behind matrix i - 1. Strides of A, B, C and bias may
   * be 0 (one for all products) or negative. With batch_count = 1 they are ignored. */
  const void *A;
  int64_t lda, stride_a;
  const void *B;
  int64_t ldb, stride_b;
  const void *C; /* NULL, with ldc and stride_c then ignored: C is D */
  int64_t ldc, stride_c;
  void *D;
  int64_t ldd, stride_d;
  /* NULL, or the values to add: one for each of the m rows of D, one behind the other, of dtype. */
  const void *bias;
  int64_t stride_bias;
  /* Instead of A, B, C and D and their strides, if D_array is not NULL: arrays of batch_count
   * matrix pointers, which live where the backend lives and are read when the kernel runs. C_array
   * may be NULL: C is D. */
  const void *const *A_array;
  const void *const *B_array;
  const void *const *C_array;
  void *const *D_array;
  /* NULL, or what the activation stores for its gradient, or the gradient reads: column-major m x n
   * of bits or of floats; see mygemm_gemm. */
  void *aux;
  int64_t ldaux, stride_aux; /* elements: bits or floats */
  /* With sums_of: m or n floats, one behind the other, for each product of the batch. */
  void *sums;
  int64_t stride_sums;
  int32_t sums_of;    /* mygemmSums_t */
  int32_t fill;       /* mygemmFill_t */
  int32_t invariance; /* mygemmInvariance_t or MYGEMM_INVARIANCE_OF_HANDLE */
} mygemmGemm_t;

#define MYGEMM_GEMM_INIT                                                                          \
  {                                                                                               \
    sizeof(mygemmGemm_t), MYGEMM_OP_N, MYGEMM_OP_N, 0, 0, 0, 1, MYGEMM_R_32F, MYGEMM_R_32F,       \
        MYGEMM_R_32F, MYGEMM_R_32F, MYGEMM_MATH_OF_HANDLE, MYGEMM_ACTIVATION_NONE, NULL, NULL,    \
        NULL, 0, 0, NULL, 0, 0, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, \
        0, NULL, 0, MYGEMM_SUMS_NONE, MYGEMM_FILL_FULL, MYGEMM_INVARIANCE_OF_HANDLE               \
  }

/* Sizes that differ from one product of a batch to the next: an argument of mygemm_gemm_grouped(),
 * which says how they are read. Start from MYGEMM_GROUPS_INIT, with which all products have the
 * sizes of the call; fields added later have a default for older callers. */
typedef struct {
  size_t struct_size; /* sizeof(mygemmGroups_t) of the caller */
  /* NULL: every product has the size of the call. Otherwise batch_count sizes, one behind the
   * other. */
  const void *m, *n, *k;
  /* NULL: the leading dimension of the call. Otherwise batch_count of them. Not with stacked. */
  const void *lda, *ldb, *ldc, *ldd;
  int64_t total;      /* stacked: rows, columns or k of the matrices that all products share */
  int32_t index_type; /* mygemmIndexType_t, of the elements of these arrays */
  int32_t location;   /* mygemmPointerMode_t: memory that these arrays are in */
  int32_t stacked;    /* 0 or 1 */
  int32_t ends;       /* stacked: 0, or 1: element i is the sum of the sizes 0 to i */
} mygemmGroups_t;

#define MYGEMM_GROUPS_INIT                                                                 \
  {                                                                                        \
    sizeof(mygemmGroups_t), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, MYGEMM_INDEX_32I, \
        MYGEMM_POINTER_MODE_HOST, 0, 0                                                     \
  }

/* The loss of logits, an argument of mygemm_cross_entropy(). Start from MYGEMM_CROSS_ENTROPY_INIT,
 * which is the plain loss of FP32 logits and 64-bit classes; fields added later have a default for
 * older callers. Enumerations are held as int32_t. */
typedef struct {
  size_t struct_size;    /* sizeof(mygemmCrossEntropy_t) of the caller */
  int64_t rows, cols;    /* cols: classes */
  const void *x;         /* logits: row-major rows x cols, row r at x + r * ldx */
  int64_t ldx;           /* ldx >= max(1, cols) */
  const void *targets;   /* the class of each row, one behind the other */
  int64_t ignore_index;  /* rows whose target is this one do not count */
  void *dx;              /* NULL, or the gradient with respect to x; may be x */
  int64_t lddx;          /* ignored where dx is NULL */
  const float *dloss;    /* NULL, or the gradient of each row's loss: dloss[r * stride_dloss] */
  int64_t stride_dloss;  /* 0: one value for all rows; ignored where dloss is NULL */
  float *loss;           /* NULL, or one value for each row, one behind the other */
  float *lse;            /* NULL, or the same: log(sum_j exp(x[r][j])) */
  int32_t xtype, dxtype; /* mygemmDataType_t */
  int32_t target_type;   /* mygemmIndexType_t */
  float label_smoothing; /* 0 to 1 */
  float z_loss;          /* factor of lse^2 in the loss */
  float gradient_scale;  /* factor of dx, beside dloss: 1 / the number of rows for their mean */
} mygemmCrossEntropy_t;

#define MYGEMM_CROSS_ENTROPY_INIT                                                          \
  {                                                                                        \
    sizeof(mygemmCrossEntropy_t), 0, 0, NULL, 0, NULL, -100, NULL, 0, NULL, 0, NULL, NULL, \
        MYGEMM_R_32F, MYGEMM_R_32F, MYGEMM_INDEX_64I, 0.0f, 0.0f, 1.0f                     \
  }

/* A softmax with masks, or its gradient, an argument of mygemm_softmax_ex(). Start from
 * MYGEMM_SOFTMAX_INIT, which is the softmax of FP32 with nothing masked; fields added later have a
 * default for older callers. Enumerations are held as int32_t. */
typedef struct {
  size_t struct_size;   /* sizeof(mygemmSoftmax_t) of the caller */
  int32_t mode;         /* mygemmSoftmaxMode_t */
  int32_t backward;     /* 0: y from x; 1: dx from y and dy */
  int64_t rows, cols;   /* of all matrices, which are row-major */
  int64_t group_rows;   /* rows of a group (queries of a head); 0: all rows are one group */
  int64_t batch_groups; /* groups of a batch (heads of a sequence); 0: all groups are in one */
  const void *x;        /* backward: read where softcap is not 0, else ignored with ldx, xtype */
  int64_t ldx;          /* leading dimensions are at least max(1, cols) */
  void *y;              /* the result; backward: read */
  int64_t ldy;
  const void *dy; /* backward: the gradient of y; ignored forward, as all that follows it */
  int64_t lddy;
  void *dx; /* backward: the result */
  int64_t lddx;
  int32_t xtype, ytype, dytype, dxtype; /* mygemmDataType_t */
  float scale;
  float softcap;    /* 0: none */
  const void *mask; /* NULL, or values to add; backward ignores it with its strides */
  int64_t mask_stride_batch, mask_stride_group, mask_stride_row, mask_stride_col;
  const void *lengths; /* NULL, or the number of columns that count */
  int64_t lengths_stride_batch, lengths_stride_group, lengths_stride_row;
  int64_t causal_offset; /* with causal: column c of row i of a group counts if c <= i + this */
  int32_t causal;        /* 0 or 1 */
  int32_t mask_type;     /* mygemmDataType_t */
  int32_t lengths_type;  /* mygemmIndexType_t */
  int32_t empty_rows;    /* mygemmEmptyRow_t */
} mygemmSoftmax_t;

#define MYGEMM_SOFTMAX_INIT                                                                     \
  {                                                                                             \
    sizeof(mygemmSoftmax_t), MYGEMM_SOFTMAX, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, \
        MYGEMM_R_32F, MYGEMM_R_32F, MYGEMM_R_32F, MYGEMM_R_32F, 1.0f, 0.0f, NULL, 0, 0, 0, 1,   \
        NULL, 0, 0, 0, 0, 0, MYGEMM_R_32F, MYGEMM_INDEX_32I, MYGEMM_EMPTY_ROW_NAN               \
  }

#ifdef __cplusplus
}
#endif

#endif /* MYGEMM_TYPES_H */
