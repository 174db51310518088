/*
 * mygemm: matrix products of FP32, FP16 and BF16, row softmax, cross entropy and matrix transposes
 * behind a BLAS-like C ABI.
 *
 * C99 and C++; needs no CUDA header. Link with libmygemm.so (CMake: mygemm::mygemm).
 *
 * Conventions that hold for every function here:
 *  - Sizes, leading dimensions and strides are int64_t and count elements, never bytes.
 *  - A leading dimension places the second column (softmax and transpose: row) and those after it;
 *    a matrix of one may have any that is legal. The elements of an operand lie within 2^63 bytes
 *    and at addresses below that.
 *  - Matrix pointers live where the handle's backend lives: device memory for the CUDA backend,
 *    host memory for the host backend.
 *  - Compute calls are asynchronous on the handle's stream (CUDA) or done on return (host). They
 *    never allocate device memory, synchronise, throw, print or abort; stream capture is legal.
 *  - Arguments are checked in this order: handle, enums, element types, sizes and leading
 *    dimensions; then calls with nothing to do succeed; then pointers, byte counts, overlap. A
 *    refused call writes nothing, returns a status, and leaves a sentence in mygemm_last_error().
 *  - Same inputs, same device, same library: the same bits, every time. See mygemmInvariance_t.
 *  - A handle may be used from several threads, one at a time.
 */
#ifndef MYGEMM_MYGEMM_H
#define MYGEMM_MYGEMM_H

#include <stddef.h>
#include <stdint.h>

#include "mygemm/types.h"

#define MYGEMM_VERSION_MAJOR 0
#define MYGEMM_VERSION_MINOR 1
#define MYGEMM_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define MYGEMM_API __attribute__((visibility("default")))
#else
#define MYGEMM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- library -------------------------------------------------------------------------------- */

/* 10000 * major + 100 * minor + patch of the library that is loaded. */
MYGEMM_API int mygemm_version(void);
/* A status as text, e.g. "invalid value". Never NULL; static storage. */
MYGEMM_API const char *mygemm_status_string(mygemmStatus_t status);

/* One sentence on the last call of this thread that failed, naming the argument, its value and
 * the rule: "lda = 5 is smaller than max(1, m) = 8 (transa = N)". Empty when none has failed.
 * Thread-local storage, valid until this thread's next failing call. */
MYGEMM_API const char *mygemm_last_error(void);

/* ---- handles -------------------------------------------------------------------------------- */

/* Creates a handle for MYGEMM_BACKEND (environment: auto, cuda, host; default auto).
 * Errors: INVALID_VALUE (handle is NULL), ARCH_MISMATCH, NOT_INITIALIZED, ALLOC_FAILED. */
MYGEMM_API mygemmStatus_t mygemm_create(mygemmHandle_t *handle);

/* The same with a backend, a device and a size of workspaces. config = NULL means the defaults. A
 * backend other than AUTO in config wins over the environment. NOT_INITIALIZED: CUDA was asked for,
 * by the backend or, where that is AUTO, by a device, and is not there. */
MYGEMM_API mygemmStatus_t mygemm_create_with_config(mygemmHandle_t *handle,
                                                    const mygemmConfig_t *config);

/* Frees a handle; NULL is ignored. Work already enqueued runs to its end: a handle with a workspace
 * of its own waits for the device, others do not. */
MYGEMM_API mygemmStatus_t mygemm_destroy(mygemmHandle_t handle);

/* The backend in use: MYGEMM_BACKEND_CUDA or MYGEMM_BACKEND_HOST. */
MYGEMM_API mygemmStatus_t mygemm_get_backend(mygemmHandle_t handle, mygemmBackend_t *backend);

/* The stream that later calls are enqueued on; NULL is the legacy default stream. The host
 * backend keeps it and ignores it. A handle with workspaces of its own has one for each stream,
 * made here when a stream is new (no synchronisation, legal during capture): the stream must
 * exist. Errors: NOT_INITIALIZED. Where there is no memory, its calls have no workspace. */
MYGEMM_API mygemmStatus_t mygemm_set_stream(mygemmHandle_t handle, mygemmStream_t stream);
MYGEMM_API mygemmStatus_t mygemm_get_stream(mygemmHandle_t handle, mygemmStream_t *stream);

/* Memory that kernels may use during calls on this handle. With less than a call would like, it
 * uses another kernel and succeeds.
 *
 * A handle on a GPU owns a workspace for each stream that it is set to, of config->workspace_bytes,
 * up to 8. A ninth stream gets the workspace of one whose calls have ended, or waits, on the
 * device, for the one that was used least recently. Compute calls allocate nothing. A graph uses
 * the workspace of the stream that it was captured on, which no other stream then gets: it must not
 * run at the same time as another graph that was captured there or as calls on that stream, nor
 * outlive the handle.
 *
 * This function replaces the handle's own workspaces by memory of the caller's: device memory for
 * the CUDA backend, aligned to 256 bytes. It stays set when the stream changes, until it is set
 * again; NULL and 0 leave the handle without. Calls that overlap in time (two streams) must not
 * share it. Errors: INVALID_VALUE (misaligned; NULL with bytes > 0).
 * mygemm_get_workspace: the memory that a call would have now, whoever owns it. */
MYGEMM_API mygemmStatus_t mygemm_set_workspace(mygemmHandle_t handle, void *workspace,
                                               size_t bytes);
MYGEMM_API mygemmStatus_t mygemm_get_workspace(mygemmHandle_t handle, void **workspace,
                                               size_t *bytes);

MYGEMM_API mygemmStatus_t mygemm_set_pointer_mode(mygemmHandle_t handle, mygemmPointerMode_t mode);
MYGEMM_API mygemmStatus_t mygemm_get_pointer_mode(mygemmHandle_t handle, mygemmPointerMode_t *mode);

/* A new handle has MYGEMM_MATH (environment: default, strict, fast; default default) and
 * MYGEMM_INVARIANCE (none, batch; default none). */
MYGEMM_API mygemmStatus_t mygemm_set_math_mode(mygemmHandle_t handle, mygemmMathMode_t mode);
MYGEMM_API mygemmStatus_t mygemm_get_math_mode(mygemmHandle_t handle, mygemmMathMode_t *mode);
MYGEMM_API mygemmStatus_t mygemm_set_invariance(mygemmHandle_t handle, mygemmInvariance_t mode);
MYGEMM_API mygemmStatus_t mygemm_get_invariance(mygemmHandle_t handle, mygemmInvariance_t *mode);

/* ---- matrix product ------------------------------------------------------------------------- */

/* C = alpha * op(A) * op(B) + beta * C, all column-major, with the argument order and meaning of
 * cublasSgemm.
 *   op(A) is m x k: A is m x k (transa = N, lda >= max(1, m)) or k x m (T, C; lda >= max(1, k)).
 *   op(B) is k x n: B is k x n (transb = N, ldb >= max(1, k)) or n x k (T, C; ldb >= max(1, n)).
 *   C is m x n, ldc >= max(1, m). alpha, beta: one float each (mygemm_set_pointer_mode).
 * Reads A and B unless k = 0 or alpha = 0 (then they may be NULL and C becomes beta * C). Reads C
 * unless beta = 0, NaN or not. Writes the m x n elements of C, nothing between its columns. C must
 * not overlap A or B.
 * m = 0 or n = 0 succeeds and touches nothing; so does beta = 1 where A and B are not read.
 * Pointers are multiples of 4 bytes.
 * Errors: NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED. */
MYGEMM_API mygemmStatus_t mygemm_sgemm(mygemmHandle_t handle, mygemmOperation_t transa,
                                       mygemmOperation_t transb, int64_t m, int64_t n, int64_t k,
                                       const float *alpha, const float *A, int64_t lda,
                                       const float *B, int64_t ldb, const float *beta, float *C,
                                       int64_t ldc);

/* batch_count products; matrix i starts at A + i * stride_a, B + i * stride_b, C + i * stride_c.
 * stride_a and stride_b may be 0 (one matrix for all) or negative. The matrices of C must not
 * overlap one another. batch_count = 0 succeeds and touches nothing. */
MYGEMM_API mygemmStatus_t mygemm_sgemm_strided_batched(
    mygemmHandle_t handle, mygemmOperation_t transa, mygemmOperation_t transb, int64_t m, int64_t n,
    int64_t k, const float *alpha, const float *A, int64_t lda, int64_t stride_a, const float *B,
    int64_t ldb, int64_t stride_b, const float *beta, float *C, int64_t ldc, int64_t stride_c,
    int64_t batch_count);

/* batch_count products; A, B and C are arrays of batch_count matrix pointers. The arrays live
 * where the backend lives and are read when the kernel runs. A and B (the arrays) may be NULL when
 * k = 0 or alpha = 0. The matrix pointers are multiples of 4 bytes; on the CUDA backend they
 * cannot be checked. The matrices of C must not overlap one another or those of A and B. */
MYGEMM_API mygemmStatus_t mygemm_sgemm_batched(
    mygemmHandle_t handle, mygemmOperation_t transa, mygemmOperation_t transb, int64_t m, int64_t n,
    int64_t k, const float *alpha, const float *const A[], int64_t lda, const float *const B[],
    int64_t ldb, const float *beta, float *const C[], int64_t ldc, int64_t batch_count);

/* The general product, batch_count times:
 *   D = activation(alpha * op(A) * op(B) + beta * C + bias)
 * All matrices are column-major, as in mygemm_sgemm; bias has one value for each row of D. The
 * epilogue is computed in FP32, one rounding after another, as a program would that stores the
 * plain product, then adds the bias, then applies the activation: with bias and RELU, in one call
 * or in three, the bits are the same where D is FP32.
 *   A and B are of one type (atype, btype), or FP32 and BF16; C, D and bias are of one type (ctype,
 *   dtype; ctype counts where C is NULL too): FP32 if A or B is, else any. In every math mode the
 *   products of 16-bit elements, and of an FP32 element's three BF16 parts, are exact, sums are
 *   FP32, and each result is rounded once, to nearest even. Scalars, aux and sums are FP32 always.
 *   C may be D (the same pointer, leading dimension and stride; or NULL) or lie apart from D.
 *   D must not overlap A, B or bias, nor its matrices one another.
 * Reads A and B unless k = 0 or alpha = 0 (then they may be NULL), C unless beta = 0 (where that is
 * a host value, C may then point anywhere), bias unless it is NULL. Calls with nothing to do: m, n
 * or batch_count is 0; or C is D, beta = 1, A and B are not read and there is neither bias,
 * activation nor sums. Matrix pointers and bias are multiples of their elements' size, aux and sums
 * of 4 bytes. What arrays of pointers hold is checked as in mygemm_sgemm_batched, which with its
 * two siblings is a shorthand for this call. call->alpha and call->beta follow the handle's pointer
 * mode.
 *
 * aux belongs to the activation. RELU and GELU write it, or not where it is NULL, from the elements
 * t that they are applied to. RELU_GRADIENT and GELU_GRADIENT read it. NONE ignores it.
 *   GELU, GELU_GRADIENT: floats; element (i, j) is aux[i + j * ldaux]; ldaux >= max(1, m)
 *   RELU, RELU_GRADIENT: bits, 0 where t < 0, else 1, also where t is 0 or NaN. Element (i, j) is
 *     bit i % 8 of byte (i + j * ldaux) / 8; ldaux >= max(1, m); ldaux and stride_aux are multiples
 *     of 32. Written are the bytes with a bit of a row below m, whose other bits become 0; read are
 *     the aligned words of 4 bytes with such a bit. The bits that RELU writes are those of t as
 *     rounded to the type of D.
 *
 * sums receives the sums that sums_of names, one of the m or n values behind the other, in FP32.
 * Sums of D are made of D as stored. Those of A and B read that operand whatever alpha is; with
 * k = 0 they are 0.
 *
 * fill makes the product one of a triangle: symmetric products (B is A, transa and transb differ:
 * cublasSsyrk) or any other whose D is square. Of D and C only elements of that triangle are read
 * and written. m = n; bias, activation and sums_of are not given. Large triangles take half the
 * time of the whole product and a little more where there is a workspace.
 *
 * D, aux where it is written, and sums must overlap neither one another nor what is read, but C may
 * be D.
 * Errors: NOT_INITIALIZED, INVALID_VALUE (call is NULL, struct_size is too small, or an argument
 * breaks a rule), NOT_SUPPORTED (other element types together; a field that this library does not
 * know), EXECUTION_FAILED. */
MYGEMM_API mygemmStatus_t mygemm_gemm(mygemmHandle_t handle, const mygemmGemm_t *call);

/* ---- softmax -------------------------------------------------------------------------------- */

/* Softmax along each row of a row-major rows x cols matrix, computed in FP32:
 *   SOFTMAX:      y[r][c] = exp(s[c] - max s) / sum_j exp(s[j] - max s),  s[c] = scale * x[r][c]
 *   LOG_SOFTMAX:  y[r][c] = s[c] - max s - log(sum_j exp(s[j] - max s))
 * x: rows x cols of xtype, row r at x + r * ldx, ldx >= max(1, cols); y likewise. Any mix of the
 * three types. scale: any finite value, any sign, or zero.
 * In place when y = x with ytype of the same width as xtype and ldy = ldx; any other overlap of
 * their elements is an error.
 * A row with a NaN, or whose largest s is infinite once rounded to FP32, gives NaN throughout
 * (log-softmax: likewise); an s of -inf in any other row gives exactly 0 (log: -inf). Nothing else
 * overflows on the way, whatever the scale. A row of one column gives exactly 1 (log: 0).
 * Probabilities never exceed 1, their logarithms never 0. docs/accuracy.md has the errors.
 * rows = 0 or cols = 0 succeeds and touches nothing. Padding (columns cols to ld) is neither read
 * nor written. Pointers are multiples of their element's size.
 * Errors: NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED. */
MYGEMM_API mygemmStatus_t mygemm_softmax(mygemmHandle_t handle, mygemmSoftmaxMode_t mode,
                                         int64_t rows, int64_t cols, float scale, const void *x,
                                         mygemmDataType_t xtype, int64_t ldx, void *y,
                                         mygemmDataType_t ytype, int64_t ldy);

/* Gradient of the above with respect to x, from its output y and the gradient dy of y:
 *   SOFTMAX:      dx[r][c] = scale * y[r][c] * (dy[r][c] - sum_j dy[r][j] * y[r][j])
 *   LOG_SOFTMAX:  dx[r][c] = scale * (dy[r][c] - exp(y[r][c]) * sum_j dy[r][j])
 * All three are row-major rows x cols with types and leading dimensions of their own. dx may be y
 * or dy (same width of type, same ld); any other overlap of dx is an error. */
MYGEMM_API mygemmStatus_t mygemm_softmax_backward(mygemmHandle_t handle, mygemmSoftmaxMode_t mode,
                                                  int64_t rows, int64_t cols, float scale,
                                                  const void *y, mygemmDataType_t ytype,
                                                  int64_t ldy, const void *dy,
                                                  mygemmDataType_t dytype, int64_t lddy, void *dx,
                                                  mygemmDataType_t dxtype, int64_t lddx);

/* The same with a cap, an additive mask, causality and lengths, computed in FP32:
 *   s[c] = scale * x[r][c], or with softcap > 0: softcap * tanh(scale * x[r][c] / softcap)
 *   y[r] = the softmax, or log-softmax, of s[c] + mask(r, c) over the columns c < n(r)
 * Row r is row i of group g of batch b: r = (b * batch_groups + g) * group_rows + i; for attention
 * scores of batch x heads x queries x keys, group_rows is queries and batch_groups heads. The last
 * group and the last batch may be incomplete.
 *   mask(r, c) = mask[b * mask_stride_batch + g * mask_stride_group + i * mask_stride_row
 *                     + c * mask_stride_col], of mask_type. Strides may be 0 (one for all) and
 *                negative. A value of -inf masks its element.
 *   n(r): the least of cols, i + causal_offset + 1 where causal is 1, and where there are lengths
 *         lengths[b * lengths_stride_batch + g * lengths_stride_group + i * lengths_stride_row];
 *         less than 0 counts as 0.
 * Elements from column n(r) on come out as exactly 0 (log: -inf); so do those that mask masks. x
 * there has no effect, even where it is NaN, and from column n(r) on neither x, mask, y nor dy is
 * read, but for the rest of 16 bytes of an operand that has some element before it.
 * A row with nothing left, as n(r) is 0 or no s[c] + mask(r, c) is more than -inf, is filled as
 * empty_rows says. Other rows are as in mygemm_softmax: a NaN in s[c] + mask(r, c), or a largest
 * one of +inf, gives NaN in all elements before n(r), and not from there on. Softcap makes an x of
 * -inf -softcap, which masks nothing. Where nothing of all this is given, bits are
 * mygemm_softmax's. In place when y = x with ytype of the same width as xtype and ldy = ldx;
 * otherwise y must not overlap x, nor ever the range of addresses from the first to the last
 * element that mask, or lengths, may have.
 * backward = 1: the gradient with respect to x, from y as the call above leaves it and the gradient
 * dy of y. mask is not read: an element whose y is 0 (log: -inf) is masked.
 *   SOFTMAX:      dx[r][c] = s'[c] * y[r][c] * (dy[r][c] - sum_j dy[r][j] * y[r][j])
 *   LOG_SOFTMAX:  dx[r][c] = s'[c] * (dy[r][c] - exp(y[r][c]) * sum_j dy[r][j])
 * s'[c] is scale, and with softcap scale * (1 - tanh(scale * x[r][c] / softcap)^2), for which x is
 * read. Masked elements have a dx of exactly 0, and what dy and x have there has no effect. dx may
 * be y, dy or, where it is read, x (same width of type, same ld); any other overlap of dx with what
 * is read is an error. The gradient of a mask is dx with scale = 1 and softcap = 0.
 * scale: any finite value. softcap: 0 (none) or positive. rows = 0 or cols = 0 succeeds and touches
 * nothing. Pointers are multiples of their element's size. Errors: those of mygemm_gemm. */
MYGEMM_API mygemmStatus_t mygemm_softmax_ex(mygemmHandle_t handle, const mygemmSoftmax_t *call);

/* The cross entropy of logits x and one class t for each row, with its gradient, in one pass over
 * the logits. With e = label_smoothing, C = cols and w = gradient_scale * dloss[r]:
 *   lse[r]   = log(sum_j exp(x[r][j]))
 *   loss[r]  = (1 - e) * (lse - x[r][t]) + e * (lse - sum_j x[r][j] / C) + z_loss * lse^2
 *   dx[r][c] = w * (exp(x[r][c] - lse) * (1 + 2 * z_loss * lse) - e / C - (c = t ? 1 - e : 0))
 * computed in FP32; docs/accuracy.md has the errors. Any mix of the three element types. A term
 * whose factor is 0 is not computed: with e = 0, a logit of -inf does no harm.
 * Any of dx, loss and lse may be NULL; where dx is, dloss is not read. In place when dx = x with
 * dxtype of the same width as xtype and lddx = ldx; any other overlap of dx, loss or lse with each
 * other or with what is read is an error.
 * A row whose target is ignore_index has a loss and a gradient of exactly 0, whatever its logits,
 * and the same lse as with any other target. A target that is neither this nor a class (0 to
 * cols - 1) makes the loss and the gradient of its row NaN: classes are data, which a call does not
 * wait for. Both rows have no effect on others.
 * A row with a NaN, or whose largest logit is infinite, gives NaN throughout, except where ignored.
 * A logit of -inf in any other row has a probability of exactly 0; as the target it makes the loss
 * +inf, and the gradient is finite.
 * rows = 0 or cols = 0 succeeds and touches nothing; so does a call without dx, loss and lse.
 * Pointers are multiples of their element's size. Errors: those of mygemm_gemm. */
MYGEMM_API mygemmStatus_t mygemm_cross_entropy(mygemmHandle_t handle,
                                               const mygemmCrossEntropy_t *call);

/* ---- transpose ------------------------------------------------------------------------------ */

/* out[c][r] = in[r][c]: a row-major rows x cols matrix becomes a row-major cols x rows one (or,
 * which is the same bytes, a column-major cols x rows one becomes column-major rows x cols).
 * Elements of element_size = 1, 2, 4, 8 or 16 bytes are moved bit by bit.
 *   in:  row r at in + r * ldin elements, ldin >= max(1, cols)
 *   out: row c at out + c * ldout elements, ldout >= max(1, rows)
 * In place when out = in, for any shape and any leading dimensions: afterwards the elements of
 * out's layout hold the transpose and bytes outside both layouts are untouched; rectangular
 * matrices are much faster with a workspace (mygemm_transpose_workspace_size). Any other overlap
 * of in and out is an error.
 * rows = 0 or cols = 0 succeeds and touches nothing. Pointers are multiples of
 * min(element_size, 8) bytes. Errors: NOT_INITIALIZED, INVALID_VALUE, EXECUTION_FAILED. */
MYGEMM_API mygemmStatus_t mygemm_transpose(mygemmHandle_t handle, size_t element_size, int64_t rows,
                                           int64_t cols, const void *in, int64_t ldin, void *out,
                                           int64_t ldout);

/* batch_count transposes; matrix i starts at in + i * stride_in and out + i * stride_out elements.
 * stride_in may be 0 or negative; the matrices of out must not overlap one another. In place when
 * out = in and stride_out = stride_in. */
MYGEMM_API mygemmStatus_t mygemm_transpose_strided_batched(mygemmHandle_t handle,
                                                           size_t element_size, int64_t rows,
                                                           int64_t cols, const void *in,
                                                           int64_t ldin, int64_t stride_in,
                                                           void *out, int64_t ldout,
                                                           int64_t stride_out, int64_t batch_count);

/* ---- workspace queries ---------------------------------------------------------------------- */

/* The workspace in bytes with which the call would run fastest; 0 when none would help. Leading
 * dimensions are taken as the smallest legal ones. Errors: NOT_INITIALIZED, INVALID_VALUE. */
MYGEMM_API mygemmStatus_t mygemm_sgemm_workspace_size(mygemmHandle_t handle,
                                                      mygemmOperation_t transa,
                                                      mygemmOperation_t transb, int64_t m,
                                                      int64_t n, int64_t k, int64_t batch_count,
                                                      size_t *bytes);
MYGEMM_API mygemmStatus_t mygemm_softmax_workspace_size(mygemmHandle_t handle,
                                                        mygemmSoftmaxMode_t mode, int64_t rows,
                                                        int64_t cols, mygemmDataType_t xtype,
                                                        mygemmDataType_t ytype, size_t *bytes);
/* The same for mygemm_gemm; arguments are taken as in mygemm_explain_gemm. */
MYGEMM_API mygemmStatus_t mygemm_gemm_workspace_size(mygemmHandle_t handle,
                                                     const mygemmGemm_t *call, size_t *bytes);
/* The same for mygemm_cross_entropy; arguments are taken as in mygemm_explain_cross_entropy. */
MYGEMM_API mygemmStatus_t mygemm_cross_entropy_workspace_size(mygemmHandle_t handle,
                                                              const mygemmCrossEntropy_t *call,
                                                              size_t *bytes);
/* The same for mygemm_softmax_ex; arguments are taken as in mygemm_explain_softmax_ex. */
MYGEMM_API mygemmStatus_t mygemm_softmax_ex_workspace_size(mygemmHandle_t handle,
                                                           const mygemmSoftmax_t *call,
                                                           size_t *bytes);
/* in_place: 1 for out = in, else 0. */
MYGEMM_API mygemmStatus_t mygemm_transpose_workspace_size(mygemmHandle_t handle,
                                                          size_t element_size, int64_t rows,
                                                          int64_t cols, int64_t batch_count,
                                                          int in_place, size_t *bytes);

/* ---- explain -------------------------------------------------------------------------------- */

/* The plan of a call as text: the kernel chosen, and every other kernel with its estimated cost or
 * the reason why it cannot run. Nothing is launched and no pointer is followed.
 *   device: NULL for the handle's own, or a GPU by name ("H200", "A100", "RTX 4090", ...) or
 *           architecture ("sm_86"), or "host"; works on any machine. The sentence on another one
 *           lists them behind "none of: ". handle: gives math mode, invariance, workspace size and
 *           forced kernels; NULL means the defaults, and then device is needed.
 *   Matrix pointers are used for their alignment and for out = in; NULL is taken as aligned to
 *   256 bytes and distinct.
 *   text: receives at most capacity bytes with the final NUL, cut if longer; NULL with capacity 0
 *   asks for the length. length: if not NULL, the whole text's length without the NUL.
 * Arguments are checked as the call itself would (quick returns and pointers aside).
 * Errors: NOT_INITIALIZED (no handle and no device), INVALID_VALUE. */
MYGEMM_API mygemmStatus_t mygemm_explain_sgemm(mygemmHandle_t handle, const char *device,
                                               mygemmOperation_t transa, mygemmOperation_t transb,
                                               int64_t m, int64_t n, int64_t k, const float *A,
                                               int64_t lda, int64_t stride_a, const float *B,
                                               int64_t ldb, int64_t stride_b, const float *C,
                                               int64_t ldc, int64_t stride_c, int64_t batch_count,
                                               char *text, size_t capacity, size_t *length);
/* The same for mygemm_gemm. Leading dimensions of 0 are taken as the smallest legal ones. alpha and
 * beta are read where they are host values (handle = NULL: always), and taken as numbers that are
 * known only when the kernel runs where they are NULL or device pointers. */
MYGEMM_API mygemmStatus_t mygemm_explain_gemm(mygemmHandle_t handle, const char *device,
                                              const mygemmGemm_t *call, char *text, size_t capacity,
                                              size_t *length);
MYGEMM_API mygemmStatus_t mygemm_explain_softmax(mygemmHandle_t handle, const char *device,
                                                 mygemmSoftmaxMode_t mode, int64_t rows,
                                                 int64_t cols, const void *x,
                                                 mygemmDataType_t xtype, int64_t ldx, const void *y,
                                                 mygemmDataType_t ytype, int64_t ldy, char *text,
                                                 size_t capacity, size_t *length);
MYGEMM_API mygemmStatus_t mygemm_explain_softmax_backward(
    mygemmHandle_t handle, const char *device, mygemmSoftmaxMode_t mode, int64_t rows, int64_t cols,
    const void *y, mygemmDataType_t ytype, int64_t ldy, const void *dy, mygemmDataType_t dytype,
    int64_t lddy, const void *dx, mygemmDataType_t dxtype, int64_t lddx, char *text,
    size_t capacity, size_t *length);
/* The same for mygemm_softmax_ex. Leading dimensions of 0 are taken as the smallest legal ones.
 * mask = NULL and lengths = NULL mean none, as in the call. */
MYGEMM_API mygemmStatus_t mygemm_explain_softmax_ex(mygemmHandle_t handle, const char *device,
                                                    const mygemmSoftmax_t *call, char *text,
                                                    size_t capacity, size_t *length);
/* The same for mygemm_cross_entropy. Leading dimensions of 0 are taken as the smallest legal ones;
 * dx = NULL means the loss without its gradient, as in the call. */
MYGEMM_API mygemmStatus_t mygemm_explain_cross_entropy(mygemmHandle_t handle, const char *device,
                                                       const mygemmCrossEntropy_t *call, char *text,
                                                       size_t capacity, size_t *length);
MYGEMM_API mygemmStatus_t mygemm_explain_transpose(mygemmHandle_t handle, const char *device,
                                                   size_t element_size, int64_t rows, int64_t cols,
                                                   const void *in, int64_t ldin, int64_t stride_in,
                                                   const void *out, int64_t ldout,
                                                   int64_t stride_out, int64_t batch_count,
                                                   char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#include "mygemm/grouped.h"
#endif /* MYGEMM_MYGEMM_H */
