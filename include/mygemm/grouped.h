/*
 * Grouped matrix products: a batch whose products differ in size, in one call. Programs include
 * mygemm.h, which includes this. C99 and C++; needs no CUDA header.
 */
#ifndef MYGEMM_GROUPED_H
#define MYGEMM_GROUPED_H

#include "mygemm/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The products of mygemm_gemm, batch_count of them, of which each has sizes of its own:
 *   D_i = activation(alpha * op(A_i) * op(B_i) + beta * C_i + bias_i)
 * op(A_i) is m_i x k_i, op(B_i) is k_i x n_i, C_i and D_i are m_i x n_i. call->m, n and k are the
 * sizes that no array of `groups` gives; where there is an array, the most that any product has.
 * alpha, beta, operations, types, bias, activation and math are those of all products. Products of
 * a size 0 are legal: with k_i = 0, D_i is made of C_i and the bias.
 *
 * Sizes on the device (groups->location) are read when the kernel runs: the host need not know
 * them, as with the tokens of each expert. They are not checked: a size less than 0 counts as 0,
 * and one of more than the call's m, n or k as that. In host memory they are read, and checked,
 * during the call; the host backend takes no others.
 *
 * Matrices are found as in mygemm_gemm: by strides, or by arrays of pointers. With groups->stacked
 * exactly one of m, n and k is an array, no pointer arrays are, and the matrices that have this
 * size lie one behind the other along it, as the rows or columns of one matrix of groups->total:
 *   m: op(A) is total x k, and C and D are total x n; B has strides
 *   n: op(B) is k x total, and C and D are m x total; A has strides
 *   k: op(A) is m x total and op(B) is total x n; C and D have strides
 * Product i begins behind the sizes of those before it. Sizes add up to total at most. On the
 * device, what is beyond total does not count; ends must not fall.
 * Matrices have room for the call's m, n and k, or for total. Of D, C and the bias the elements of
 * products alone are read and written; of A and B others may be read, and have no effect.
 * So Y = X W_i^T of row-major X (tokens x inputs) and W_i (outputs x inputs) is a product of
 * operations T and N: A is W with stride_a = inputs * outputs, B is X, D is Y, and n is stacked.
 *
 * D must not overlap what is read, the arrays of groups included, nor one D_i another; that is not
 * checked for these arrays, nor where matrices have pointers or leading dimensions of their own.
 * Where C is D, ldc does not count. aux, sums and triangles are not supported. On a GPU,
 * sizes on the device need a workspace of mygemm_gemm_grouped_workspace_size; without it, those in
 * host memory have the products computed one by one.
 * Errors: those of mygemm_gemm, and NOT_SUPPORTED for sizes on the device without a workspace, of
 * more than 2^24 products, or whose batch-invariant order needs each product planned by itself. */
MYGEMM_API mygemmStatus_t mygemm_gemm_grouped(mygemmHandle_t handle, const mygemmGemm_t *call,
                                              const mygemmGroups_t *groups);

/* The workspace in bytes with which the call would run fastest; arguments are taken as in
 * mygemm_explain_gemm_grouped. */
MYGEMM_API mygemmStatus_t mygemm_gemm_grouped_workspace_size(mygemmHandle_t handle,
                                                             const mygemmGemm_t *call,
                                                             const mygemmGroups_t *groups,
                                                             size_t *bytes);

/* The plan of the call as text: see mygemm_explain_gemm. Sizes in host memory are read. */
MYGEMM_API mygemmStatus_t mygemm_explain_gemm_grouped(mygemmHandle_t handle, const char *device,
                                                      const mygemmGemm_t *call,
                                                      const mygemmGroups_t *groups, char *text,
                                                      size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#endif /* MYGEMM_GROUPED_H */
