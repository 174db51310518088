"""softmax along any axis: the views and the copies by which the library, which knows rows of
contiguous elements alone, works along another axis than the last."""
from __future__ import annotations

import operator
from typing import Optional

from ._arrays import Array
from ._calls import Arguments, Call
from ._layouts import collapse, find_rows, refuse_strides
from ._library import check, lib


def axis_of(x: Array, axis: int) -> int:
    """An axis counted from the first one."""
    axis, dimensions = operator.index(axis), len(x.shape)
    if dimensions == 0:
        raise ValueError(f"{x.name} has no dimension; one of length n is a row of n elements")
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"axis = {axis} is no axis of {x.name}, whose shape is {x.shape}")
    return axis % dimensions


def with_axis_last(x: Array, axis: int) -> Array:
    """The same elements, seen with that axis behind all others."""
    order = [i for i in range(len(x.shape)) if i != axis] + [axis]
    return x._replace(shape=tuple(x.shape[i] for i in order),
                      strides=tuple(x.strides[i] for i in order))


class AlongAxis:
    """Within a call: arguments as rows along an axis, copied to rows where they are none."""

    def __init__(self, arguments: Arguments, call: Call, axis: int):
        self._arguments, self._call, self._axis = arguments, call, axis

    def rows_of(self, x: Array) -> Array:
        """x with its axis last; a copy where that does not make rows of contiguous elements."""
        view = with_axis_last(x, self._axis)
        if find_rows(view) is not None:
            return view
        copy = self.rows_for(x)
        self._transpose(x, copy, into_rows=True)
        return copy

    def rows_for(self, x: Array) -> Array:
        """x with its axis last; where that does not make rows, new memory of that shape."""
        view = with_axis_last(x, self._axis)
        return view if find_rows(view) is not None else self._arguments.temporary(
            x, view.shape, x.dtype)

    def put_back(self, rows: Array, x: Array) -> None:
        """Writes to x the rows that rows_for(x) made room for, where they are not x's own."""
        if rows.pointer != x.pointer:
            self._transpose(x, rows, into_rows=False)

    def _transpose(self, x: Array, rows: Array, into_rows: bool) -> None:
        """Copies between an array of any order and one in C order with the axis last."""
        batch, length, inner = self._shape(x)
        if 0 in x.shape:
            return
        far = x.pointer, length[1], batch[1]
        near = rows.pointer, length[0], length[0] * inner
        sizes = (length[0], inner) if into_rows else (inner, length[0])
        source, target = (far, near) if into_rows else (near, far)
        check(lib.mygemm_transpose_strided_batched(self._call.handle, x.itemsize, *sizes, *source,
                                                   *target, batch[0]), "softmax")

    def _shape(self, x: Array) -> tuple[tuple[int, int], tuple[int, int], int]:
        """x as a batch of row-major matrices whose columns lie along the axis: the batch's count
        and stride, the axis's, and the columns."""
        axes = list(zip(x.shape, x.strides))
        batch: Optional[tuple[int, int]] = collapse(axes[:self._axis])
        inner = collapse(axes[self._axis + 1:])
        length, stride = axes[self._axis]
        if batch is None or inner is None or (inner[0] > 1 and inner[1] != 1) or (
                length > 1 and stride < inner[0]):
            refuse_strides(x, f"softmax along axis {self._axis} needs a stride of 1 along it or "
                              "along the last axis, and the axes on either side of it at regular "
                              "distances")
        return batch, (length, stride if length > 1 else inner[0]), inner[0]
