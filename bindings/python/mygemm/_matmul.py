"""matmul: products as numpy.matmul computes them, of vectors, matrices and broadcast batches."""
from __future__ import annotations

import ctypes
import itertools
from typing import Optional

from ._arrays import Array, check_writable
from ._calls import Arguments, Call
from ._gemm import blas_problem, result_dtype
from ._layouts import check_shape
from ._library import check, lib
from ._types import AnyArray, ArrayT


def _as_matrices(x: Array, last: bool) -> Array:
    """An array of two dimensions or more; a vector is a column (last) or a row."""
    if len(x.shape) == 0:
        raise ValueError(f"{x.name} has no dimension; matmul takes vectors, matrices and batches")
    if len(x.shape) > 1:
        return x
    (length,), (stride,) = x.shape, x.strides
    # The distance to a second vector, of which there is none, is any that is legal.
    far = max(1, length)
    return (x._replace(shape=(length, 1), strides=(stride, 1)) if last else
            x._replace(shape=(1, length), strides=(far, stride)))


def _broadcast(a: Array, b: Array) -> tuple[int, ...]:
    """The batch axes of a product."""
    batch = []
    for m, n in itertools.zip_longest(a.shape[-3::-1], b.shape[-3::-1], fillvalue=1):
        if m != n and 1 not in (m, n):
            raise ValueError(f"a has the shape {a.shape} and b {b.shape}: axes before the last two "
                             "must be equal, or one of them 1")
        batch.append(n if m == 1 else m)
    return tuple(reversed(batch))


def _batch_strides(x: Array, batch: tuple[int, ...]) -> list[int]:
    """The strides of x along the batch axes; 0 where it is broadcast."""
    missing = len(batch) - (len(x.shape) - 2)
    strides = [0] * missing + list(x.strides[:-2])
    extents = (1,) * missing + x.shape[:-2]
    return [0 if extent == 1 else stride for extent, stride in zip(extents, strides)]


def _collapsed(batch: tuple[int, ...], strides: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Batch axes as few as possible: (extent, the strides of a, b and out) of each."""
    axes: list[tuple[int, list[int]]] = []
    for extent, along in zip(batch, zip(*strides)):
        if extent == 1:
            continue
        if axes and all(outer == extent * inner for outer, inner in zip(axes[-1][1], along)):
            axes[-1] = (axes[-1][0] * extent, list(along))
        else:
            axes.append((extent, list(along)))
    return axes or [(1, [0, 0, 0])]


def _refuse_overlap(out: Array, operands: tuple[Array, ...]) -> None:
    """Several calls of the library, which checks each alone, must not read what others write."""
    def ends(x: Array) -> tuple[int, int]:
        spans = [(extent - 1) * stride * x.itemsize for extent, stride in zip(x.shape, x.strides)]
        return (x.pointer + sum(span for span in spans if span < 0),
                x.pointer + sum(span for span in spans if span > 0) + x.itemsize)
    for x in operands:
        (first, last), (begin, end) = ends(x), ends(out)
        if first < end and begin < last:
            raise ValueError(f"out overlaps {x.name}")


def matmul(a: ArrayT, b: AnyArray, out: Optional[ArrayT] = None, *,
           dtype: Optional[object] = None, math: Optional[str] = None) -> ArrayT:
    """a @ b as numpy.matmul computes it: vectors, matrices, batches of any dimension.

    a: (..., m, k), or (k,) for one row.
    b: (..., k, n), or (k,) for one column.
    The axes before the last two are broadcast: they must be equal, or one of them 1 or missing.
    Where the batch axes of a, b and out have one distance each, all products are one call of the
    library; otherwise there is a call for each index of the axes that have not. Every matrix needs
    strides as in sgemm().
    out: what is written, of the product's shape, without the axes of a vector; it must not overlap
    a or b. Without it a new array in C order is made by the library of a.
    The types, dtype and math are as in gemm().
    Returns out; of two vectors it has no dimension.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    arguments = Arguments(a=a, b=b, out=out)
    left, right = (_as_matrices(arguments[name], name == "b") for name in ("a", "b"))
    out_dtype = result_dtype(arguments, dtype, "matmul")
    m, k = left.shape[-2:]
    inner, n = right.shape[-2:]
    if inner != k:
        raise ValueError(f"a has the shape {arguments['a'].shape} and b {arguments['b'].shape}: "
                         f"a's last axis, {k}, must be as long as b's {inner}")
    batch = _broadcast(left, right)
    row, column = len(arguments["a"].shape) > 1, len(arguments["b"].shape) > 1
    shape = (*batch, *((m,) if row else ()), *((n,) if column else ()))
    result = arguments.get("out")
    if result is None:
        result = arguments.empty(arguments["a"], shape, out_dtype)
    check_writable(result)
    check_shape(result, shape, "that of the product")
    strides = list(result.strides)
    if not column:
        strides.append(1)
    if not row:
        strides.insert(len(strides) - 1, max(1, n))
    target = result._replace(shape=(*batch, m, n), strides=tuple(strides))
    axes = _collapsed(batch, [_batch_strides(x, batch) for x in (left, right, target)])
    (count, along), outer = axes[-1], axes[:-1]
    if outer and 0 not in shape:
        _refuse_overlap(target, (left, right))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    with Call(arguments, math) as call:
        for index in itertools.product(*(range(extent) for extent, _ in outer)):
            first, second, third = (
                x._replace(pointer=x.pointer + x.itemsize * sum(
                    i * axis[1][operand] for i, axis in zip(index, outer)),
                    shape=(count, *x.shape[-2:]), strides=(along[operand], *x.strides[-2:]))
                for operand, x in enumerate((left, right, target)))
            p = blas_problem(first, second, third)
            descriptor = p.descriptor(one, zero)
            if not any(index):
                call.give_workspace(lib.mygemm_gemm_workspace_size, ctypes.byref(descriptor))
            check(lib.mygemm_gemm(call.handle, ctypes.byref(descriptor)), "matmul", p.names("D"))
    written: ArrayT = result.source
    return written
