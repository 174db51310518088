"""softmax and its gradient, along an axis."""
from __future__ import annotations

import ctypes
import math
from typing import Any, Optional

from ._arrays import Array, as_bool, as_float32, check_dtype, check_writable
from ._axes import AlongAxis, axis_of
from ._calls import Arguments, Call
from ._layouts import check_shape, rows_of
from ._library import DATA_TYPES, LOG_SOFTMAX, SOFTMAX, check, dtype_name, lib
from ._masking import Masking, check_last_axis, describe, set_matrix
from ._types import AnyArray, ArrayT


def softmax_mode(log: bool) -> int:
    """The mygemmSoftmaxMode_t that the argument `log` asks for."""
    return LOG_SOFTMAX if as_bool("log", log) else SOFTMAX


def _typed(x: Array) -> tuple[int, int, int]:
    """Pointer, type and leading dimension."""
    return x.pointer, DATA_TYPES[x.dtype], rows_of(x).ld


def _check(x: Array, like: Array, axis: int, call: str) -> None:
    """Refuses other types and shapes, and along the last axis rows that the library cannot take."""
    check_dtype(x, tuple(DATA_TYPES), call)
    check_shape(x, like.shape, f"that of {like.name}")
    if axis == len(x.shape) - 1:
        rows_of(x)


def softmax(x: ArrayT, *, axis: int = -1, log: bool = False, scale: float = 1.0,
            out: Optional[ArrayT] = None, dtype: Optional[object] = None, mask: Any = None,
            causal: bool = False, causal_offset: int = 0, lengths: Any = None,
            softcap: float = 0.0, empty: str = "nan") -> ArrayT:
    """The softmax of scale * x along an axis, or with log its logarithm, computed in float32.

    x: float32, float16 or bfloat16, of one dimension or more, on the host or on a CUDA device. The
    last axis, where that is the one, needs a stride of 1, and the others such that all rows are at
    the same distance; nothing is copied.
    axis: the axis whose elements sum to one. Along another than the last, x is transposed to memory
    of its library, unless that axis has a stride of 1, and the result back likewise.
    log: whether to compute the logarithm.
    scale: a factor of x.
    out: what is written, of x's shape and any of the three types; it may be x itself. Without it a
    new array in C order is made by x's library, with elements of type dtype, or of x's own.
    dtype: a name such as "float16", or a dtype of NumPy or PyTorch; with out, out's own or None.
    The rest is for the last axis, in attention that of keys, the one before it that of queries:
    mask: None, or values to add, of any of the three types, that can be broadcast to x's shape;
    -inf masks its element. No element is copied.
    causal: whether column c of row i, counted along the axis before the last, is masked where
    c > i + causal_offset. lengths: None, or int32 or int64, that can be broadcast to x's shape
    without its last axis: the columns from there on are masked.
    softcap: 0, or c in c * tanh(scale * x / c), which takes the place of scale * x.
    empty: "nan" or "zero", what a row becomes that has no element left.
    Masked elements become 0 (with log -inf), and what x has there has no effect.
    Returns out. On a CUDA device the work is enqueued on the current stream.
    A row with a NaN, with +inf as its largest element or of -inf alone gives NaN throughout.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    scale, mode = as_float32("scale", scale), softmax_mode(log)
    wanted = None if dtype is None else dtype_name(dtype)
    masking = Masking.of(causal, causal_offset, softcap, empty)
    more = {name: array for name, array in (("mask", mask), ("lengths", lengths))
            if array is not None}
    arguments = Arguments(x=x, out=out, **more)
    given, result = arguments["x"], arguments.get("out")
    axis = axis_of(given, axis)
    for argument in (given, result):
        if argument is not None:
            _check(argument, given, axis, "softmax")
    if result is None:
        result = arguments.empty(given, given.shape, wanted or given.dtype)
    elif wanted not in (None, result.dtype):
        raise ValueError(f"dtype = {wanted}, but out has dtype {result.dtype}")
    check_writable(result)
    if masking.asked_for(mask, lengths):
        check_last_axis(given, axis)
        masked = describe(arguments, given, masking, mode=mode, scale=scale)
        set_matrix(masked, "x", given)
        set_matrix(masked, "y", result)
        with Call(arguments) as call:
            call.give_workspace(lib.mygemm_softmax_ex_workspace_size, ctypes.byref(masked))
            check(lib.mygemm_softmax_ex(call.handle, ctypes.byref(masked)), "softmax", "y is out")
        written: ArrayT = result.source
        return written
    cols = given.shape[axis]
    rows = math.prod(given.shape) // max(1, cols)
    with Call(arguments) as call:
        call.give_workspace(lib.mygemm_softmax_workspace_size, mode, rows, cols,
                            DATA_TYPES[given.dtype], DATA_TYPES[result.dtype])
        along = AlongAxis(arguments, call, axis)
        source, target = along.rows_of(given), along.rows_for(result)
        check(lib.mygemm_softmax(call.handle, mode, rows, cols, scale, *_typed(source),
                                 *_typed(target)), "softmax", "y is out")
        along.put_back(target, result)
    written = result.source
    return written


def softmax_backward(y: AnyArray, dy: ArrayT, *, axis: int = -1, log: bool = False,
                     scale: float = 1.0, out: Optional[ArrayT] = None, masked: bool = False,
                     causal: bool = False, causal_offset: int = 0, lengths: Any = None,
                     softcap: float = 0.0, x: Any = None) -> ArrayT:
    """The gradient with respect to x of softmax(x, axis=axis, log=log, scale=scale).

    y: the result of softmax().
    dy: the gradient with respect to y, of its shape, with a type and a layout of its own.
    axis, log, scale: as they were given to softmax().
    causal, causal_offset, lengths, softcap: likewise. masked: whether there was a mask, which is
    not needed here: an element whose y is 0 (with log -inf) is masked then, and has a gradient of
    0.
    x: with softcap, what softmax() was given.
    out: what is written; it may be y, dy or x. Without it a new array of dy's type is made.
    Returns out.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    scale, mode = as_float32("scale", scale), softmax_mode(log)
    # A row with nothing left has zeros, which are masked elements, or NaNs.
    masking = Masking.of(causal, causal_offset, softcap,
                         "zero" if as_bool("masked", masked) else "nan")
    more = {name: array for name, array in (("lengths", lengths), ("x", x)) if array is not None}
    arguments = Arguments(y=y, dy=dy, out=out, **more)
    result_of, gradient = arguments["y"], arguments["dy"]
    axis = axis_of(result_of, axis)
    for name in ("y", "dy", "x", "out"):
        argument = arguments.get(name)
        if argument is not None:
            _check(argument, result_of, axis, "softmax_backward")
    if (x is None) == (softcap != 0):
        raise ValueError(f"softcap = {softcap:g}, and x is {'not ' if x is None else ''}given; "
                         "with a cap, and only with one, it is needed")
    dx: Optional[Array] = arguments.get("out")
    if dx is None:
        dx = arguments.empty(gradient, gradient.shape, gradient.dtype)
    check_writable(dx)
    if masking.asked_for(lengths):
        check_last_axis(result_of, axis)
        masked_call = describe(arguments, result_of, masking, mode=mode, scale=scale, backward=1)
        for name, argument in (("x", arguments.get("x")), ("y", result_of), ("dy", gradient),
                               ("dx", dx)):
            if argument is not None:
                set_matrix(masked_call, name, argument)
        with Call(arguments) as call:
            check(lib.mygemm_softmax_ex(call.handle, ctypes.byref(masked_call)),
                  "softmax_backward", "dx is out")
        written: ArrayT = dx.source
        return written
    cols = result_of.shape[axis]
    rows = math.prod(result_of.shape) // max(1, cols)
    with Call(arguments) as call:
        along = AlongAxis(arguments, call, axis)
        sources, target = [along.rows_of(x) for x in (result_of, gradient)], along.rows_for(dx)
        check(lib.mygemm_softmax_backward(call.handle, mode, rows, cols, scale,
                                          *_typed(sources[0]), *_typed(sources[1]),
                                          *_typed(target)), "softmax_backward", "dx is out")
        along.put_back(target, dx)
    written = dx.source
    return written
