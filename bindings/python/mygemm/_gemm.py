"""sgemm and gemm: matrix products of float32, float16 or bfloat16 arrays, single or in batches."""
from __future__ import annotations

import ctypes
from typing import NamedTuple, Optional

from ._arrays import Array, as_bool, as_float32, check_dtype, check_writable
from ._calls import Arguments, Call
from ._layouts import (Matrix, batch_count, batch_stride, check_dimensions, check_shape, matrix,
                       matrix_in_order)
from ._library import ACTIVATIONS, DATA_TYPES, OP_N, OP_T, Gemm, check, dtype_name, lib
from ._types import AnyArray, ArrayT


class _Product(NamedTuple):
    """op(a) op(b): m x k times k x n, `batch` times; `shape` is that of the result."""

    m: int
    n: int
    k: int
    batch: int
    shape: tuple[int, ...]


def _product(a: Array, b: Array, transa: bool, transb: bool) -> _Product:
    m, k = reversed(a.shape[-2:]) if transa else a.shape[-2:]
    inner, n = reversed(b.shape[-2:]) if transb else b.shape[-2:]
    if inner != k:
        raise ValueError(f"op(a) is {m} x {k} and op(b) is {inner} x {n}: the one must have as "
                         "many columns as the other has rows")
    counts = batch_count(a), batch_count(b)
    if counts[0] != counts[1] and 1 not in counts:
        raise ValueError(f"a is a batch of {counts[0]} and b one of {counts[1]}; they must have as "
                         "many matrices, or one of them must have one")
    batch = counts[1] if counts[0] == 1 else counts[0]
    single = len(a.shape) == len(b.shape) == 2
    return _Product(m, n, k, batch, (m, n) if single else (batch, m, n))


def _operation(x: Matrix, trans: bool, c: Matrix) -> int:
    """The operation of an operand for BLAS, which reads it in the result's order."""
    return OP_T if (x.row_major != c.row_major) != trans else OP_N


class _Operand(NamedTuple):
    """A or B in BLAS's terms."""

    array: Array
    matrix: Matrix
    operation: int

    def strided(self) -> tuple[int, int, int]:
        """Pointer, leading dimension and stride."""
        return self.array.pointer, self.matrix.ld, batch_stride(self.array)


class _Problem(NamedTuple):
    """A product in BLAS's terms, of column-major matrices."""

    first: _Operand
    second: _Operand
    sizes: tuple[int, int, int]
    batch: int
    out: Array
    matrix: Matrix  # of out
    shape: tuple[int, ...]

    def names(self, output: str) -> str:
        """Which arguments the names in the library's messages mean."""
        return f"A is {self.first.array.name}, B is {self.second.array.name}, {output} is out"

    def descriptor(self, alpha: ctypes.c_float, beta: ctypes.c_float) -> Gemm:
        """The library's call, without C, bias and activation; alpha and beta must outlive it."""
        m, n, k = self.sizes
        first, second, out_type = (self.first.strided(), self.second.strided(),
                                   DATA_TYPES[self.out.dtype])
        return Gemm(
            atype=DATA_TYPES[self.first.array.dtype], btype=DATA_TYPES[self.second.array.dtype],
            ctype=out_type, dtype=out_type, transa=self.first.operation,
            transb=self.second.operation, m=m, n=n, k=k, batch_count=self.batch,
            alpha=ctypes.addressof(alpha), beta=ctypes.addressof(beta), A=first[0], lda=first[1],
            stride_a=first[2], B=second[0], ldb=second[1], stride_b=second[2],
            D=self.out.pointer, ldd=self.matrix.ld, stride_d=batch_stride(self.out))


def activation_number(activation: Optional[str]) -> int:
    """A mygemmActivation_t by name."""
    if activation not in ACTIVATIONS:
        names = ", ".join(map(repr, ACTIVATIONS))
        raise ValueError(f"activation = {activation!r} is none of: {names}")
    return ACTIVATIONS[activation]


def result_dtype(arguments: Arguments, dtype: Optional[object], call: str) -> str:
    """The type of a product's elements: that of out or c, or the one asked for, or that of a.

    It is float32 where a or b has it.
    """
    a, b = arguments["a"], arguments["b"]
    check_dtype(a, tuple(DATA_TYPES), call)
    check_dtype(b, ("float16",) if a.dtype == "float16" else ("float32", "bfloat16"),
                f"{call} of a {a.dtype} a")
    fp32 = "float32" in (a.dtype, b.dtype)
    allowed = ("float32",) if fp32 else tuple(DATA_TYPES)
    given = [x for x in map(arguments.get, ("out", "c", "bias")) if x is not None]
    for x in given:
        check_dtype(x, allowed, call)
    wanted = None if dtype is None else dtype_name(dtype)
    if wanted not in (None, *allowed):
        raise TypeError(f"dtype = {wanted}, but {call} of float32 makes float32")
    fallback = "float32" if fp32 else a.dtype
    result = given[0].dtype if given and given[0].name != "bias" else wanted or fallback
    if wanted not in (None, result):
        raise ValueError(f"dtype = {wanted}, but {given[0].name} has dtype {result}")
    for x in given:
        check_dtype(x, (result,), f"{call} with a result of {result}")
    return result


def _prepare(call: str, arguments: Arguments, transa: bool, transb: bool,
             dtype: str) -> _Problem:
    for name in ("a", "b", "out"):
        x = arguments.get(name)
        if x is not None:
            check_dimensions(x, call)
    left, right = arguments["a"], arguments["b"]
    product = _product(left, right, transa, transb)
    matrix(left), matrix(right)  # refused before anything is made
    out = arguments.get("out")
    if out is None:
        out = arguments.empty(left, product.shape, dtype)
    check_writable(out)
    check_shape(out, product.shape, "that of the product")
    return blas_problem(left, right, out, transa, transb)


def blas_problem(left: Array, right: Array, out: Array, transa: bool = False,
                 transb: bool = False) -> _Problem:
    """The product of matrices, or of batches of them, whose shapes fit."""
    product = _product(left, right, transa, transb)
    left_matrix, right_matrix, c = matrix(left), matrix(right), matrix(out)
    first = _Operand(left, left_matrix, _operation(left_matrix, transa, c))
    second = _Operand(right, right_matrix, _operation(right_matrix, transb, c))
    m, n = product.m, product.n
    if c.row_major:  # BLAS sees the transpose of a row-major matrix: C' = op(b)' op(a)'
        first, second, m, n = second, first, n, m
    return _Problem(first, second, (m, n, product.k), product.batch, out, c, product.shape)


def sgemm(a: ArrayT, b: AnyArray, *, transa: bool = False, transb: bool = False,
          alpha: float = 1.0, beta: float = 0.0, out: Optional[ArrayT] = None,
          math: Optional[str] = None) -> ArrayT:
    """out = alpha * op(a) @ op(b) + beta * out, with op(x) = x or its transpose, in float32.

    a: (m, k), or (k, m) with transa.
    b: (k, n), or (n, k) with transb.
    With three dimensions the first counts the matrices of a batch; a or b with two, or with a
    batch of one, stands for each of the other's. Every matrix needs a stride of 1 along one axis,
    and along the other one of at least the first axis's length: C and Fortran order, their
    transposes, blocks of both. All arrays are float32, in host memory or on one CUDA device.
    out: what is written, of shape (m, n) or (batch, m, n); it must not overlap a or b. Without it
    a new array in C order is made by the library of a. beta other than 0 needs it; with
    beta = 0 it is not read.
    math: "default" (as exact as float32 fused multiply-adds), "strict" (those only) or "fast" (the
    same bound, but operands may lose their last bits); without it the environment's MYGEMM_MATH.
    Returns out. On a CUDA device the product is enqueued on the current stream.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    transa, transb = as_bool("transa", transa), as_bool("transb", transb)
    alpha, beta = as_float32("alpha", alpha), as_float32("beta", beta)
    if beta != 0 and out is None:
        raise ValueError(f"beta = {beta:g} needs out, which it is a multiple of")
    arguments = Arguments(a=a, b=b, out=out)
    for x in arguments.values():
        check_dtype(x, ("float32",), "sgemm")
    p = _prepare("sgemm", arguments, transa, transb, "float32")
    operations = p.first.operation, p.second.operation
    with Call(arguments, math) as call:
        call.give_workspace(lib.mygemm_sgemm_workspace_size, *operations, *p.sizes, p.batch)
        check(lib.mygemm_sgemm_strided_batched(
            call.handle, *operations, *p.sizes, ctypes.c_float(alpha), *p.first.strided(),
            *p.second.strided(), ctypes.c_float(beta), p.out.pointer, p.matrix.ld,
            batch_stride(p.out), p.batch), "sgemm", p.names("C"))
    written: ArrayT = p.out.source
    return written


def gemm(a: ArrayT, b: AnyArray, *, c: Optional[AnyArray] = None, bias: Optional[AnyArray] = None,
         activation: Optional[str] = None, alpha: float = 1.0, beta: float = 0.0,
         transa: bool = False, transb: bool = False, out: Optional[ArrayT] = None,
         dtype: Optional[object] = None, math: Optional[str] = None) -> ArrayT:
    """out = activation(alpha * op(a) @ op(b) + beta * c + bias), in one call.

    a, b, alpha, transa, transb, out and math as in sgemm(), but for the types: a and b are both
    float32, float16 or bfloat16, or one is float32 and the other bfloat16. c, bias and out have one
    type: float32 where a or b has it, else any of the three. Sums are float32; each element of out
    is rounded once.
    dtype: the type of a new out, a name such as "float32" or a dtype of NumPy or PyTorch; without
    it that of c, or float32 where a or b has it, or that of a.
    c: what beta is a multiple of, of out's shape and order, or one matrix for a whole batch; it may
    be out, and is out where it is not given. With beta = 0 it is not read.
    bias: one value for each column of the result, of shape (n,), or (batch, n) for one of its own
    for each matrix; it needs a result in C order: gemm(x, weight, transb=True, bias=bias) is a
    linear layer.
    activation: None, "relu" or "gelu" (the tanh form).
    Each step is rounded to float32 by itself: with bias and "relu", the bits of a float32 result
    are those of separate steps.
    Returns out. Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    transa, transb = as_bool("transa", transa), as_bool("transb", transb)
    alpha, beta = as_float32("alpha", alpha), as_float32("beta", beta)
    if beta != 0 and out is None and c is None:
        raise ValueError(f"beta = {beta:g} needs c or out, which it is a multiple of")
    activation_mode = activation_number(activation)
    optional = {name: x for name, x in (("c", c), ("bias", bias)) if x is not None}
    arguments = Arguments(a=a, b=b, **optional, out=out)
    out_dtype = result_dtype(arguments, dtype, "gemm")
    p = _prepare("gemm", arguments, transa, transb, out_dtype)
    c_alpha, c_beta = ctypes.c_float(alpha), ctypes.c_float(beta)
    descriptor = p.descriptor(c_alpha, c_beta)
    descriptor.activation = activation_mode
    if c is not None:
        addend = arguments["c"]
        one = p.shape[-2:]
        if addend.shape not in (p.shape, one, (1, *one)):
            check_shape(addend, p.shape, "that of the result")
        descriptor.C, descriptor.ldc = addend.pointer, matrix_in_order(addend, p.matrix).ld
        descriptor.stride_c = batch_stride(addend)
    if bias is not None:
        descriptor.bias, descriptor.stride_bias = column_bias(arguments["bias"], p)
    with Call(arguments, math) as call:
        call.give_workspace(lib.mygemm_gemm_workspace_size, ctypes.byref(descriptor))
        check(lib.mygemm_gemm(call.handle, ctypes.byref(descriptor)), "gemm", p.names("D"))
    written: ArrayT = p.out.source
    return written


def column_bias(x: Array, p: _Problem) -> tuple[int, int]:
    """Pointer and stride of a bias for each column of the result."""
    columns = p.shape[-1]
    if x.shape not in ((columns,), (p.batch, columns), (1, columns)):
        check_shape(x, (columns,), "one value for each column of the result")
    if not p.matrix.row_major:
        raise ValueError("out is in Fortran order; a bias for each column needs a result in C "
                         "order")
    if columns > 1 and x.strides[-1] != 1:
        raise ValueError(f"bias has shape {x.shape} and strides {x.strides}, in elements; its last "
                         "axis needs a stride of 1. Nothing is copied silently: pass a contiguous "
                         "copy")
    return x.pointer, x.strides[0] if len(x.shape) == 2 and x.shape[0] > 1 else 0
