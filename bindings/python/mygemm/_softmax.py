"""softmax and its gradient, along the last axis."""
from __future__ import annotations

from typing import Any, Optional

from ._arrays import Array, as_bool, as_float32, check_dtype, check_writable
from ._calls import Arguments, Call
from ._layouts import check_shape, rows_of
from ._library import DATA_TYPES, LOG_SOFTMAX, SOFTMAX, check, lib


def dtype_name(dtype: Any) -> str:
    """A dtype of any library, or its name, as one of the names in DATA_TYPES."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None:  # torch.float16, numpy.float16
        name = getattr(dtype, "__name__", str(dtype)).replace("torch.", "")
    if name not in DATA_TYPES:
        raise TypeError(f"dtype = {name} is none of: {', '.join(DATA_TYPES)}")
    return str(name)


def softmax_mode(log: bool) -> int:
    """The mygemmSoftmaxMode_t that the argument `log` asks for."""
    return LOG_SOFTMAX if as_bool("log", log) else SOFTMAX


def _typed(x: Array) -> tuple[int, int, int]:
    """Pointer, type and leading dimension."""
    return x.pointer, DATA_TYPES[x.dtype], rows_of(x).ld


def _check_types(arguments: Arguments, call: str) -> None:
    for x in arguments.values():
        check_dtype(x, tuple(DATA_TYPES), call)
        rows_of(x)


def _check_out(out: Array, like: Array) -> None:
    check_writable(out)
    check_shape(out, like.shape, f"that of {like.name}")
    rows_of(out)


def softmax(x: Any, *, log: bool = False, scale: float = 1.0, out: Any = None,
            dtype: Any = None) -> Any:
    """The softmax of scale * x along the last axis, or with log its logarithm, computed in float32.

    x: float32, float16 or bfloat16, of one dimension or more, the last with a stride of 1, the
    others such that all rows are at the same distance; on the host or on a CUDA device.
    out: what is written, of x's shape and any of the three types; it may be x itself. Without it a
    new array in C order is made by x's library, with elements of type dtype, or of x's own.
    dtype: a name such as "float16", or a dtype of NumPy or PyTorch; with out, out's own or None.
    Returns out. On a CUDA device the work is enqueued on the current stream.
    A row with a NaN, with +inf as its largest element or of -inf alone gives NaN throughout.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    scale, mode = as_float32("scale", scale), softmax_mode(log)
    wanted = None if dtype is None else dtype_name(dtype)
    arguments = Arguments(x=x, out=out)
    _check_types(arguments, "softmax")
    given, result = arguments["x"], arguments.get("out")
    if result is None:
        result = arguments.empty(given, given.shape, wanted or given.dtype)
    elif wanted not in (None, result.dtype):
        raise ValueError(f"dtype = {wanted}, but out has dtype {result.dtype}")
    _check_out(result, given)
    rows = rows_of(given)
    with Call(arguments) as call:
        call.give_workspace(lib.mygemm_softmax_workspace_size, mode, rows.rows, rows.cols,
                            DATA_TYPES[given.dtype], DATA_TYPES[result.dtype])
        check(lib.mygemm_softmax(call.handle, mode, rows.rows, rows.cols, scale, *_typed(given),
                                 *_typed(result)), "softmax", "y is out")
    return result.source


def softmax_backward(y: Any, dy: Any, *, log: bool = False, scale: float = 1.0,
                     out: Any = None) -> Any:
    """The gradient with respect to x of softmax(x, log=log, scale=scale), from its result y.

    y, dy: the result and the gradient with respect to it, of one shape, with types and layouts as
    in softmax(), each its own. out: what is written; it may be y or dy. Without it a new array of
    dy's type is made. Returns out.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    scale, mode = as_float32("scale", scale), softmax_mode(log)
    arguments = Arguments(y=y, dy=dy, out=out)
    _check_types(arguments, "softmax_backward")
    result_of, gradient = arguments["y"], arguments["dy"]
    check_shape(gradient, result_of.shape, "that of y")
    dx: Optional[Array] = arguments.get("out")
    if dx is None:
        dx = arguments.empty(gradient, gradient.shape, gradient.dtype)
    _check_out(dx, result_of)
    rows = rows_of(result_of)
    with Call(arguments) as call:
        check(lib.mygemm_softmax_backward(call.handle, mode, rows.rows, rows.cols, scale,
                                          *_typed(result_of), *_typed(gradient), *_typed(dx)),
              "softmax_backward", "dx is out")
    return dx.source
