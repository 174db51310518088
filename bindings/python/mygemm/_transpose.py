"""transpose: matrices of any elements of 1 to 16 bytes, single or in batches."""
from __future__ import annotations

from typing import Optional

from ._arrays import Array, check_dtype, check_writable
from ._calls import Arguments, Call
from ._layouts import (batch_count, batch_stride, check_dimensions, check_shape, column_major_ld,
                       matrix, refuse_strides, row_major_ld)
from ._library import check, lib
from ._types import ArrayT

_ELEMENT_SIZES = (1, 2, 4, 8, 16)


def _common_order(x: Array, out: Array) -> tuple[int, int, int, int]:
    """Rows, columns and the two leading dimensions, both matrices seen in one order."""
    rows, cols = x.shape[-2:]
    row_major = row_major_ld(x), row_major_ld(out)
    if None not in row_major:
        return rows, cols, row_major[0] or 0, row_major[1] or 0
    column_major = column_major_ld(x), column_major_ld(out)
    if None not in column_major:
        return cols, rows, column_major[0] or 0, column_major[1] or 0
    matrix(x)  # refuses what is in no order at all
    matrix(out)
    refuse_strides(x, f"out has strides {out.strides}: one is row-major and the other "
                      "column-major, so that out is a mere copy of x.T, whose order is out's")


def transpose(x: ArrayT, *, out: Optional[ArrayT] = None) -> ArrayT:
    """The transpose of a matrix, or of each matrix of a batch, moved bit by bit.

    x: (rows, cols) or (batch, rows, cols), of elements of 1, 2, 4, 8 or 16 bytes, row-major with
    any leading dimension; on the host or on a CUDA device.
    out: what is written, of shape (cols, rows) or (batch, cols, rows), of x's type; without it a
    new array in C order is made by x's library. It may start where x does: out=x for square
    matrices, out=x.reshape(cols, rows) for others. Any other overlap is refused.
    A column-major x is taken where out is column-major too; otherwise x.T already is what is
    asked for, and it is refused.
    Returns out. On a CUDA device the work is enqueued on the current stream.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    arguments = Arguments(x=x, out=out)
    given, result = arguments["x"], arguments.get("out")
    check_dimensions(given, "transpose")
    if given.itemsize not in _ELEMENT_SIZES:
        raise TypeError(f"x has dtype {given.dtype} of {given.itemsize} bytes; transpose takes "
                        f"elements of {', '.join(map(str, _ELEMENT_SIZES))} bytes")
    shape = (*given.shape[:-2], given.shape[-1], given.shape[-2])
    if result is None:
        result = arguments.empty(given, shape, given.dtype)
    check_writable(result)
    check_dtype(result, (given.dtype,), "transpose to it")
    check_shape(result, shape, "that of the transpose")
    rows, cols, ldin, ldout = _common_order(given, result)
    batch, in_place = batch_count(given), given.pointer == result.pointer
    with Call(arguments) as call:
        call.give_workspace(lib.mygemm_transpose_workspace_size, given.itemsize, rows, cols, batch,
                            int(in_place))
        check(lib.mygemm_transpose_strided_batched(
            call.handle, given.itemsize, rows, cols, given.pointer, ldin, batch_stride(given),
            result.pointer, ldout, batch_stride(result), batch), "transpose", "in is x")
    written: ArrayT = result.source
    return written
