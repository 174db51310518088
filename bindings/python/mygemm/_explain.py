"""explain: which kernel a call would run, as text, for this machine or for a GPU by name."""
from __future__ import annotations

import ctypes
import inspect
import operator
from typing import Any, Callable, Optional

from ._arrays import as_bool
from ._calls import WORKSPACE_LIMIT, math_mode
from ._gemm import activation_number
from ._handles import Handle
from ._library import (BACKEND_AUTO, BACKEND_HOST, DATA_TYPES, INDEX_TYPES, OP_N, OP_T,
                       POINTER_MODE_DEVICE, POINTER_MODE_HOST, CrossEntropy, Gemm, Groups, check,
                       dtype_name, lib)
from ._softmax import softmax_mode


def _int64(number: int, what: str = "") -> int:
    """A size as the library takes it; ctypes would drop what does not fit."""
    number = operator.index(number)
    if not -2**63 <= number < 2**63:
        raise ValueError(f"{what}{number} does not fit the library's 64-bit sizes")
    return number


def _size(name: str, size: int) -> int:
    """A size under the name that the caller knows it by: the library's m is the caller's n."""
    try:
        number = operator.index(size)
    except TypeError:
        raise TypeError(f"{name} = {size!r} must be an integer") from None
    if number < 0:
        raise ValueError(f"{name} = {number} must not be negative")
    return _int64(number, f"{name} = ")


# A function that asks the library, given the handle, the device's name and where the text goes.
_Ask = Callable[..., int]


def _sgemm(m: int, n: int, k: int, *, transa: bool = False, transb: bool = False,
           batch: int = 1) -> _Ask:
    transa, transb = as_bool("transa", transa), as_bool("transb", transb)

    def ask(handle: object, device: object, *text: object) -> int:
        # As sgemm() calls the library for arrays in C order: the transposed product.
        lda, ldb = max(1, m if transa else k), max(1, k if transb else n)
        return int(lib.mygemm_explain_sgemm(
            handle, device, OP_T if transb else OP_N, OP_T if transa else OP_N, n, m, k,
            None, ldb, _int64(n * k), None, lda, _int64(m * k), None, max(1, n), _int64(m * n),
            _int64(batch), *text))
    return ask


def _types(dtype: object, b_dtype: Optional[object],
           out_dtype: Optional[object]) -> tuple[int, int, int]:
    """The mygemmDataType_t of a, b and the result of a product."""
    a_name, b_name = dtype_name(dtype), dtype_name(b_dtype or dtype)
    of_product = "float32" if "float32" in (a_name, b_name) else a_name
    return DATA_TYPES[a_name], DATA_TYPES[b_name], DATA_TYPES[dtype_name(out_dtype or of_product)]


def _gemm(m: int, n: int, k: int, *, transa: bool = False, transb: bool = False, batch: int = 1,
          bias: bool = False, activation: Optional[str] = None, c: bool = False,
          dtype: object = "float32", b_dtype: Optional[object] = None,
          out_dtype: Optional[object] = None) -> _Ask:
    transa, transb = as_bool("transa", transa), as_bool("transb", transb)
    activation_mode = activation_number(activation)
    bias, c = as_bool("bias", bias), as_bool("c", c)
    a_type, b_type, out_type = _types(dtype, b_dtype, out_dtype)

    def ask(handle: object, device: object, *text: object) -> int:
        alpha, beta = ctypes.c_float(1), ctypes.c_float(1 if c else 0)
        # As gemm() calls the library for arrays in C order: the transposed product. Of addresses
        # it only matters whether there is a bias, and a C that is not D.
        call = Gemm(atype=b_type, btype=a_type, ctype=out_type, dtype=out_type,
                    transa=OP_T if transb else OP_N, transb=OP_T if transa else OP_N, m=n, n=m,
                    k=k, batch_count=_int64(batch), activation=activation_mode,
                    stride_a=_int64(n * k), stride_b=_int64(m * k), stride_c=_int64(m * n),
                    stride_d=_int64(m * n), alpha=ctypes.addressof(alpha),
                    beta=ctypes.addressof(beta), bias=256 if bias else None, C=256 if c else None,
                    D=512)
        return int(lib.mygemm_explain_gemm(handle, device, ctypes.byref(call), *text))
    return ask


def _grouped_matmul(groups: int, tokens: int, n: int, k: int, *, transb: bool = False,
                    bias: bool = False, activation: Optional[str] = None,
                    dtype: object = "float32", b_dtype: Optional[object] = None,
                    out_dtype: Optional[object] = None) -> _Ask:
    transb, bias = as_bool("transb", transb), as_bool("bias", bias)
    activation_mode = activation_number(activation)
    a_type, b_type, out_type = _types(dtype, b_dtype, out_dtype)

    def ask(handle: object, device: object, *text: object) -> int:
        one, zero, math = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int()
        check(lib.mygemm_get_math_mode(handle, ctypes.byref(math)), "explain")
        # As grouped_matmul() calls the library for rows of a in C order: the transposed product.
        call = Gemm(atype=b_type, btype=a_type, ctype=out_type, dtype=out_type,
                    transa=OP_T if transb else OP_N, m=n, n=tokens, k=k, batch_count=groups,
                    math=math.value, activation=activation_mode, stride_a=_int64(n * k),
                    alpha=ctypes.addressof(one), beta=ctypes.addressof(zero),
                    bias=256 if bias else None, stride_bias=n, D=512)
        ends = (ctypes.c_int64 * groups)(*((i + 1) * tokens // groups for i in range(groups)))
        # A handle of the host backend has no sizes on a device; none is needed for a named one.
        of_gpu = device not in (None, b"host")
        sizes = Groups(n=ctypes.addressof(ends), total=tokens, index_type=INDEX_TYPES["int64"],
                       location=POINTER_MODE_HOST if device == b"host" else POINTER_MODE_DEVICE,
                       stacked=1, ends=1)
        return int(lib.mygemm_explain_gemm_grouped(None if of_gpu else handle, device,
                                                   ctypes.byref(call), ctypes.byref(sizes), *text))
    return ask


def _softmax(rows: int, cols: int, *, dtype: Any = "float32", out_dtype: Any = None,
             log: bool = False) -> _Ask:
    mode = softmax_mode(log)
    types = [DATA_TYPES[dtype_name(name)] for name in (dtype, out_dtype or dtype)]

    def ask(handle: object, device: object, *text: object) -> int:
        x, y = ((None, number, max(1, cols)) for number in types)
        return int(lib.mygemm_explain_softmax(handle, device, mode, rows, cols, *x, *y, *text))
    return ask


def _softmax_backward(rows: int, cols: int, *, dtype: Any = "float32", log: bool = False) -> _Ask:
    mode, matrix = softmax_mode(log), (None, DATA_TYPES[dtype_name(dtype)], max(1, cols))

    def ask(handle: object, device: object, *text: object) -> int:
        return int(lib.mygemm_explain_softmax_backward(
            handle, device, mode, rows, cols, *matrix, *matrix, *matrix, *text))
    return ask


def _cross_entropy(rows: int, cols: int, *, dtype: Any = "float32", dx_dtype: Any = None,
                   gradient: bool = True) -> _Ask:
    x, dx = (DATA_TYPES[dtype_name(name)] for name in (dtype, dx_dtype or dtype))
    gradient = as_bool("gradient", gradient)

    def ask(handle: object, device: object, *text: object) -> int:
        call = CrossEntropy(rows=rows, cols=cols, xtype=x, dxtype=dx, loss=256,
                            dx=512 if gradient else None)
        return int(lib.mygemm_explain_cross_entropy(handle, device, ctypes.byref(call), *text))
    return ask


def _transpose(rows: int, cols: int, *, element_size: int = 4, batch: int = 1) -> _Ask:
    matrix = _int64(rows * cols)

    def ask(handle: object, device: object, *text: object) -> int:
        return int(lib.mygemm_explain_transpose(
            handle, device, _int64(element_size), rows, cols, None, max(1, cols), matrix, None,
            max(1, rows), matrix, _int64(batch), *text))
    return ask


_QUESTIONS: dict[str, Callable[..., _Ask]] = {
    "sgemm": _sgemm, "gemm": _gemm, "grouped_matmul": _grouped_matmul, "softmax": _softmax,
    "softmax_backward": _softmax_backward, "cross_entropy": _cross_entropy,
    "transpose": _transpose}


def explain(op: str, *sizes: int, device: Optional[str] = None, math: Optional[str] = None,
            **options: Any) -> str:
    """The kernel that a call would run, every other one's estimated time or why it cannot run.

    explain("sgemm", m, n, k, transa=False, transb=False, batch=1)
    explain("gemm", m, n, k, transa=False, transb=False, batch=1, bias=False, activation=None,
            c=False, dtype="float32", b_dtype=None, out_dtype=None)
    explain("grouped_matmul", groups, tokens, n, k, transb=False, bias=False, activation=None,
            dtype="float32", b_dtype=None, out_dtype=None)
    explain("softmax", rows, cols, dtype="float32", out_dtype=None, log=False)
    explain("softmax_backward", rows, cols, dtype="float32", log=False)
    explain("cross_entropy", rows, cols, dtype="float32", dx_dtype=None, gradient=True)
    explain("transpose", rows, cols, element_size=4, batch=1)

    The arrays are in C order and aligned, a workspace of 64 MiB is at hand. Products are shown as
    the library is called for them: for the transposes, with m and n, a and b exchanged. b_dtype is
    the type of b where it is not that of a, dtype. Grouped products are those of rows of a, whose
    number for each group a GPU alone knows, and which a host finds to be equally many; transb: b is
    a transposed view.
    device: a GPU by name or architecture ("H200", "sm_86"), which need not be here, or "host";
    without it the current CUDA device, or the host where there is none.
    Raises TypeError and ValueError for arguments, Error where the library refuses.
    """
    if op not in _QUESTIONS:
        raise ValueError(f"op = {op!r} is none of: {', '.join(_QUESTIONS)}")
    try:
        question = inspect.signature(_QUESTIONS[op]).bind(*sizes, **options)
        for name, size in zip(question.signature.parameters, question.args):
            question.arguments[name] = _size(name, size)
        ask: _Ask = _QUESTIONS[op](*question.args, **question.kwargs)
    except TypeError as error:
        raise TypeError(f"explain({op!r}): {error}") from None
    handle = Handle(BACKEND_AUTO if device is None else BACKEND_HOST)
    if math is not None:
        check(lib.mygemm_set_math_mode(handle.pointer, math_mode(math)), "explain")
    # No pointer is followed: the workspace's is only said to be there.
    check(lib.mygemm_set_workspace(handle.pointer, 256, WORKSPACE_LIMIT), "explain")
    gpu, length = None if device is None else device.encode(), ctypes.c_size_t()
    check(ask(handle.pointer, gpu, None, 0, ctypes.byref(length)), "explain")
    text = ctypes.create_string_buffer(length.value + 1)
    check(ask(handle.pointer, gpu, text, len(text), None), "explain")
    return text.value.decode()
