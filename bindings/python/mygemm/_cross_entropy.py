"""cross_entropy: the loss of logits and its gradient, along the last axis."""
from __future__ import annotations

import ctypes
import operator
from typing import Any

from ._arrays import Array, as_float32, check_dtype, check_writable, contiguous_strides
from ._calls import Arguments, Call
from ._layouts import check_shape, rows_of
from ._library import DATA_TYPES, INDEX_TYPES, CrossEntropy, check, lib


def _check_vector(x: Array, targets: Array, dtypes: tuple[str, ...]) -> None:
    """One value for each row, one behind the other."""
    check_dtype(x, dtypes, "cross_entropy")
    check_shape(x, targets.shape, "that of targets")
    dense = contiguous_strides(x.shape)
    if any(n > 1 and stride != step for n, stride, step in zip(x.shape, x.strides, dense)):
        raise ValueError(f"{x.name} has strides {x.strides}; it must be in C order")


def cross_entropy(x: Any, targets: Any, *, ignore_index: int = -100, label_smoothing: float = 0.0,
                  z_loss: float = 0.0, dx: Any = None, dloss: Any = None,
                  gradient_scale: float = 1.0, lse: Any = None, out: Any = None) -> Any:
    """The cross entropy of logits x and classes, for each row along the last axis, in float32.

    x: float32, float16 or bfloat16, laid out as in softmax(). targets: int32 or int64, a class for
    each row, in C order; rows whose class is ignore_index have a loss and a gradient of 0, and a
    number that is no class makes those of its row NaN.
    dx: None, or what the gradient with respect to x is written to, of x's shape and any of the
    three types; it may be x itself. It is multiplied by gradient_scale (1 / the number of rows that
    count, for the gradient of a mean) and by dloss, None or float32: the gradients of the losses.
    lse: None, or where the logarithms of the sums of exponentials go, float32.
    out: the losses, float32; without it a new array is made by x's library. Returns out.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    wanted = {"dx": dx, "dloss": dloss, "lse": lse}
    arguments = Arguments(x=x, targets=targets, out=out,
                          **{name: array for name, array in wanted.items() if array is not None})
    logits, classes = arguments["x"], arguments["targets"]
    check_dtype(logits, tuple(DATA_TYPES), "cross_entropy")
    rows = rows_of(logits)
    check_shape(classes, logits.shape[:-1], "that of x without its last axis")
    _check_vector(classes, classes, tuple(INDEX_TYPES))
    call = CrossEntropy(rows=rows.rows, cols=rows.cols, x=logits.pointer, ldx=rows.ld,
                        xtype=DATA_TYPES[logits.dtype], targets=classes.pointer,
                        target_type=INDEX_TYPES[classes.dtype],
                        ignore_index=operator.index(ignore_index),
                        label_smoothing=as_float32("label_smoothing", label_smoothing),
                        z_loss=as_float32("z_loss", z_loss),
                        gradient_scale=as_float32("gradient_scale", gradient_scale))
    gradient = arguments.get("dx")
    if gradient is not None:
        check_dtype(gradient, tuple(DATA_TYPES), "cross_entropy")
        check_writable(gradient)
        check_shape(gradient, logits.shape, "that of x")
        call.dx, call.lddx = gradient.pointer, rows_of(gradient).ld
        call.dxtype = DATA_TYPES[gradient.dtype]
    if arguments.get("out") is None:
        arguments.empty(logits, classes.shape, "float32")
    for name in ("out", "lse", "dloss"):
        vector = arguments.get(name)
        if vector is not None:
            _check_vector(vector, classes, ("float32",))
            if name != "dloss":
                check_writable(vector)
            setattr(call, "loss" if name == "out" else name, vector.pointer)
    call.stride_dloss = 1
    with Call(arguments) as running:
        running.give_workspace(lib.mygemm_cross_entropy_workspace_size, ctypes.byref(call))
        check(lib.mygemm_cross_entropy(running.handle, ctypes.byref(call)), "cross_entropy",
              "loss is out")
    return arguments["out"].source
