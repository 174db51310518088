"""From shapes and strides to BLAS's terms: leading dimensions, orders, rows. Pure."""
from __future__ import annotations

import math
from typing import NamedTuple, NoReturn, Optional

from ._arrays import Array


class Matrix(NamedTuple):
    """A matrix, or each matrix of a batch, as BLAS sees it."""

    ld: int
    row_major: bool


class Rows(NamedTuple):
    """An array as a row-major matrix of its last axis."""

    rows: int
    cols: int
    ld: int


def _leading_dimension(x: Array, lines: int, length: int, line_stride: int,
                       stride: int) -> Optional[int]:
    """The leading dimension of x as `lines` lines of contiguous elements; None where it has none.
    """
    if 0 in x.shape:  # strides mean nothing
        return max(1, length)
    if length > 1 and stride != 1:
        return None
    if lines == 1:
        return length
    return line_stride if line_stride >= length else None


def row_major_ld(x: Array) -> Optional[int]:
    """The leading dimension of the last two axes as a row-major matrix, or None."""
    (rows, cols), (row_stride, col_stride) = x.shape[-2:], x.strides[-2:]
    return _leading_dimension(x, rows, cols, row_stride, col_stride)


def column_major_ld(x: Array) -> Optional[int]:
    """The leading dimension of the last two axes as a column-major matrix, or None."""
    (rows, cols), (row_stride, col_stride) = x.shape[-2:], x.strides[-2:]
    return _leading_dimension(x, cols, rows, col_stride, row_stride)


def refuse_strides(x: Array, rule: str) -> NoReturn:
    """Raises the ValueError of an array whose strides the library cannot take."""
    raise ValueError(f"{x.name} has shape {x.shape} and strides {x.strides}, in elements; {rule}. "
                     "Nothing is copied silently: pass a contiguous copy")


def matrix(x: Array) -> Matrix:
    """The last two axes, row-major where they can be seen so, else column-major."""
    ld = row_major_ld(x)
    if ld is not None:
        return Matrix(ld, True)
    ld = column_major_ld(x)
    if ld is not None:
        return Matrix(ld, False)
    refuse_strides(x, "BLAS needs a stride of 1 along one axis of a matrix, and along the other "
                      "one of at least the first axis's length")


def matrix_in_order(x: Array, like: Matrix) -> Matrix:
    """The last two axes, row-major or column-major as `like` is."""
    ld = row_major_ld(x) if like.row_major else column_major_ld(x)
    if ld is None:
        order = "C" if like.row_major else "Fortran"
        refuse_strides(x, f"it needs the order of out, {order} order, with a stride of 1 along one "
                          "axis, and along the other one of at least the first axis's length")
    return Matrix(ld, like.row_major)


def batch_stride(x: Array) -> int:
    """Elements from one matrix of a batch to the next; 0 for one matrix."""
    return x.strides[0] if len(x.shape) == 3 and x.shape[0] > 1 else 0


def batch_count(x: Array) -> int:
    """How many matrices a two- or three-dimensional array holds."""
    return x.shape[0] if len(x.shape) == 3 else 1


def check_dimensions(x: Array, call: str) -> None:
    """Refuses an array that is neither a matrix nor a batch of matrices."""
    if len(x.shape) not in (2, 3):
        raise ValueError(f"{x.name} has {len(x.shape)} dimensions, shape {x.shape}; {call} takes "
                         "matrices and, with three dimensions, batches of matrices")


def check_shape(x: Array, shape: tuple[int, ...], why: str) -> None:
    """Refuses an array of another shape than `shape`."""
    if x.shape != shape:
        raise ValueError(f"{x.name} has shape {x.shape}; it must be {shape}, {why}")


def collapse(axes: list[tuple[int, int]]) -> Optional[tuple[int, int]]:
    """Axes, as (extent, stride), as one; None where their elements are not at one distance."""
    axes = [(extent, stride) for extent, stride in axes if extent != 1]
    if any(outer[1] != inner[0] * inner[1] for outer, inner in zip(axes, axes[1:])):
        return None
    return math.prod(extent for extent, _ in axes), axes[-1][1] if axes else 0


def find_rows(x: Array) -> Optional[Rows]:
    """Every axis but the last collapsed into rows, a leading dimension apart; None where they are
    not at one distance, or where the elements of a row are not contiguous."""
    cols, rows = x.shape[-1], math.prod(x.shape[:-1])
    if rows == 0 or cols == 0:
        return Rows(rows, cols, max(1, cols))
    leading = collapse(list(zip(x.shape[:-1], x.strides)))
    if leading is None:
        return None
    ld = _leading_dimension(x, rows, cols, leading[1], x.strides[-1])
    return None if ld is None else Rows(rows, cols, ld)


def rows_of(x: Array) -> Rows:
    """The rows of find_rows(), or a refusal."""
    rows = find_rows(x)
    if rows is None:
        refuse_strides(x, "the last axis needs a stride of 1, and all rows the same distance, of "
                          "at least a row's length")
    return rows
