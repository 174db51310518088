"""sgemm: matrix products of float32 arrays, single or in batches."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional

from ._arrays import Array, as_bool, as_float32, check_dtype, check_writable
from ._calls import Arguments, Call
from ._layouts import Matrix, batch_count, batch_stride, check_dimensions, check_shape, matrix
from ._library import OP_N, OP_T, check, lib


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
        raise ValueError(f"op(a) is {m} x {k} and op(b) is {inner} x {n}: the columns of the one "
                         "are as many as the rows of the other")
    counts = batch_count(a), batch_count(b)
    if counts[0] != counts[1] and 1 not in counts:
        raise ValueError(f"a is a batch of {counts[0]} and b one of {counts[1]}; they have as "
                         "many matrices, or one of them has one")
    batch = counts[1] if counts[0] == 1 else counts[0]
    single = len(a.shape) == len(b.shape) == 2
    return _Product(m, n, k, batch, (m, n) if single else (batch, m, n))


def _operation(x: Matrix, trans: bool, c: Matrix) -> int:
    """What BLAS is told of an operand, given that the result's order is taken for its own."""
    return OP_T if (x.row_major != c.row_major) != trans else OP_N


def sgemm(a: Any, b: Any, *, transa: bool = False, transb: bool = False, alpha: float = 1.0,
          beta: float = 0.0, out: Any = None, math: Optional[str] = None) -> Any:
    """out = alpha * op(a) @ op(b) + beta * out, with op(x) = x or its transpose, in float32.

    a: (m, k), or (k, m) with transa; b: (k, n), or (n, k) with transb. With three dimensions the
    first counts the matrices of a batch; a or b with two, or with a batch of one, stands for each
    of the other's. Every matrix needs a stride of 1 along one axis, and along the other one of at
    least the first axis's length: C and Fortran order, their transposes, blocks of both. All
    arrays are float32, in host memory or on one CUDA device.
    out: what is written, of shape (m, n) or (batch, m, n); it must not overlap a or b. Without it
    a new array in C order is made by the library of a. beta other than 0 needs it; with
    beta = 0 it is not read.
    math: "default" (float32-accurate) or "strict" (float32 fused multiply-adds only); without it
    the environment's MYGEMM_MATH.
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
        check_dimensions(x, "sgemm")
    left, right = arguments["a"], arguments["b"]
    product = _product(left, right, transa, transb)
    left_matrix, right_matrix = matrix(left), matrix(right)
    result = arguments.get("out")
    if result is None:
        result = arguments.empty(left, product.shape, "float32")
    check_writable(result)
    check_shape(result, product.shape, "that of the product")
    c = matrix(result)
    first = _Operand(left, left_matrix, _operation(left_matrix, transa, c))
    second = _Operand(right, right_matrix, _operation(right_matrix, transb, c))
    m, n = product.m, product.n
    if c.row_major:  # BLAS sees the transpose of a row-major matrix: C' = op(b)' op(a)'
        first, second, m, n = second, first, n, m
    _run(arguments, first, second, (m, n, product.k), product.batch, alpha, beta, c, math)
    return result.source


class _Operand(NamedTuple):
    array: Array
    matrix: Matrix
    operation: int

    def strided(self) -> tuple[int, int, int]:
        """Pointer, leading dimension and stride."""
        return self.array.pointer, self.matrix.ld, batch_stride(self.array)


def _run(arguments: Arguments, first: _Operand, second: _Operand, sizes: tuple[int, int, int],
         batch: int, alpha: float, beta: float, c: Matrix, math: Optional[str]) -> None:
    out = arguments["out"]
    operations = first.operation, second.operation
    names = f"A is {first.array.name}, B is {second.array.name}, C is out"
    with Call(arguments, math) as call:
        call.give_workspace(lib.mygemm_sgemm_workspace_size, *operations, *sizes, batch)
        check(lib.mygemm_sgemm_strided_batched(
            call.handle, *operations, *sizes, ctypes.c_float(alpha), *first.strided(),
            *second.strided(), ctypes.c_float(beta), out.pointer, c.ld, batch_stride(out), batch),
            "sgemm", names)
