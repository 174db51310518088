"""grouped_matmul: products of different sizes in one call, as a mixture of experts has them."""
from __future__ import annotations

import ctypes
from typing import NamedTuple, Optional

from ._arrays import Array, check_dtype, check_writable
from ._calls import Arguments, Call
from ._gemm import activation_number, blas_problem, column_bias, result_dtype
from ._layouts import check_shape, matrix
from ._library import INDEX_TYPES, POINTER_MODE_DEVICE, POINTER_MODE_HOST, Groups, check, lib
from ._types import AnyArray, ArrayT

# The address of ends that are none, which nobody reads.
_NOWHERE = 256


class _Form(NamedTuple):
    """The place of the groups: which size of the product they divide, and `total`, all of it."""

    divided: str  # "rows" or "columns" of the result, or the "sum"
    groups: int
    total: int
    shape: tuple[int, ...]  # of the result

    def size(self, row_major: bool) -> str:
        """The divided size in BLAS's terms, which sees the transpose of a row-major result."""
        if self.divided == "sum":
            return "k"
        return "m" if (self.divided == "rows") != row_major else "n"


def _form(a: Array, b: Array, ends: Array) -> _Form:
    dimensions = len(a.shape), len(b.shape)
    if dimensions not in ((2, 3), (3, 2), (2, 2)):
        raise ValueError(f"a has the shape {a.shape} and b {b.shape}; grouped_matmul takes two "
                         "matrices, or a matrix and, with three dimensions, one for each group")
    (m, k), (inner, n) = a.shape[-2:], b.shape[-2:]
    if inner != k:
        raise ValueError(f"a has the shape {a.shape} and b {b.shape}: a's last axis and b's last "
                         "but one must be equally long")
    check_dtype(ends, tuple(INDEX_TYPES), "grouped_matmul")
    if len(ends.shape) != 1:
        raise ValueError(f"ends has shape {ends.shape}; it must have one dimension")
    groups = ends.shape[0]
    if dimensions == (2, 3):
        form = _Form("rows", b.shape[0], m, (m, n))
    elif dimensions == (3, 2):
        form = _Form("columns", a.shape[0], n, (m, n))
    else:
        form = _Form("sum", groups, k, (groups, m, n))
    check_shape(ends, (form.groups,), "one end for each group")
    if groups > 1 and ends.strides[0] != 1:
        raise ValueError(f"ends has strides {ends.strides}; it must be in C order")
    return form


def grouped_matmul(a: ArrayT, b: AnyArray, ends: AnyArray, *, bias: Optional[AnyArray] = None,
                   activation: Optional[str] = None, out: Optional[ArrayT] = None,
                   dtype: Optional[object] = None, math: Optional[str] = None) -> ArrayT:
    """The products of groups of different sizes, in one call, as torch._grouped_mm has them.

    ends: int32 or int64, in C order, of shape (groups,): where the tokens of each group end and the
    next one's begin, from ends[i - 1], or 0, to ends[i]. Ends must not fall, nor exceed tokens.
    a: (tokens, k), b: (groups, k, n), out: (tokens, n):
    out[begin:end] = activation(a[begin:end] @ b[i] + bias[i]) for each group.
    a: (groups, m, k), b: (k, tokens), out: (m, tokens):
    out[:, begin:end] = activation(a[i] @ b[:, begin:end]).
    a: (m, tokens), b: (tokens, n), out: (groups, m, n), as in gradients of weights:
    out[i] = activation(a[:, begin:end] @ b[begin:end]).
    A group may be empty; in the third form, its result is then zeros. Rows, or columns, of out from
    ends[-1] on are not written: in a new out they are memory that nobody has initialised.
    In host memory, ends are checked. On a CUDA device they are read there when the products are
    computed, and never copied to the host: they are not checked, but nothing is read or written
    beyond the last token.
    Every matrix needs strides as in sgemm(); weights (groups, n, k) are given as a transposed view.
    bias: in the first form, and for an out in C order, one value for each column, of shape (n,), or
    (groups, n) for one of its own for each group.
    The types, activation, out, dtype and math are as in gemm(). On a CUDA device one argument must
    be an array of PyTorch or CuPy, which the workspace is allocated with.
    Returns out. Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    activation_mode = activation_number(activation)
    optional = {} if bias is None else {"bias": bias}
    arguments = Arguments(a=a, b=b, ends=ends, **optional, out=out)
    left, right, sizes = arguments["a"], arguments["b"], arguments["ends"]
    out_dtype = result_dtype(arguments, dtype, "grouped_matmul")
    form = _form(left, right, sizes)
    if bias is not None and form.divided != "rows":
        raise ValueError("bias is for a of two dimensions and b of three: one value for each "
                         "column of the result")
    matrix(left), matrix(right)  # refused before anything is made
    result = arguments.get("out")
    if result is None:
        result = arguments.empty(left, form.shape, out_dtype)
    check_writable(result)
    check_shape(result, form.shape, "that of the product")
    p = blas_problem(left, right, result)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    descriptor = p.descriptor(one, zero)
    descriptor.batch_count, descriptor.activation = form.groups, activation_mode
    if bias is not None:
        descriptor.bias, descriptor.stride_bias = column_bias(arguments["bias"], p)
    size = form.size(p.matrix.row_major)
    on_host = arguments.device.kind == "host"
    groups = Groups(total=form.total, index_type=INDEX_TYPES[sizes.dtype], stacked=1, ends=1,
                    location=POINTER_MODE_HOST if on_host else POINTER_MODE_DEVICE,
                    **{size: sizes.pointer or _NOWHERE})
    with Call(arguments, math) as call:
        both = ctypes.byref(descriptor), ctypes.byref(groups)
        call.give_workspace(lib.mygemm_gemm_grouped_workspace_size, *both)
        check(lib.mygemm_gemm_grouped(call.handle, *both), "grouped_matmul",
              f"{p.names('D')}, {size} of groups is ends")
    written: ArrayT = p.out.source
    return written
