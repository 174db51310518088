"""The C ABI of libmygemm: finds the library, declares its functions, turns statuses into errors.

The library is, in this order, the one that the environment variable MYGEMM_LIBRARY names, the one
in this package (as wheels have it), the one of Python's environment (as conda packages have it), or
libmygemm.so.0 where the loader looks.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t, c_void_p

from ._errors import Error

# While the major version is 0, a new minor version may change the ABI.
ABI = (0, 1)

# mygemmBackend_t, mygemmOperation_t
BACKEND_AUTO, BACKEND_CUDA, BACKEND_HOST = 0, 1, 2
OP_N, OP_T = 0, 1
# mygemmPointerMode_t
POINTER_MODE_HOST, POINTER_MODE_DEVICE = 0, 1
# mygemmDataType_t, mygemmMathMode_t, mygemmActivation_t, mygemmSoftmaxMode_t and
# mygemmIndexType_t by this package's names
DATA_TYPES = {"float32": 0, "float16": 2, "bfloat16": 14}
MATH_MODES = {"default": 0, "strict": 1, "fast": 2}
MATH_OF_HANDLE = INVARIANCE_OF_HANDLE = -1
ACTIVATIONS = {None: 0, "relu": 1, "gelu": 2}
SOFTMAX, LOG_SOFTMAX = 0, 1
INDEX_TYPES = {"int32": 10, "int64": 24}


def dtype_name(dtype: object) -> str:
    """A dtype of any library, or its name, as one of the names in DATA_TYPES."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if name is None:  # torch.float16, numpy.float16
        name = getattr(dtype, "__name__", str(dtype)).replace("torch.", "")
    if name not in DATA_TYPES:
        raise TypeError(f"dtype = {name} is none of: {', '.join(DATA_TYPES)}")
    return str(name)


class Config(ctypes.Structure):
    """mygemmConfig_t"""

    _fields_ = [("struct_size", c_size_t), ("backend", c_int32), ("device", c_int32),
                ("workspace_bytes", c_int64)]


class Gemm(ctypes.Structure):
    """mygemmGemm_t; without arguments as MYGEMM_GEMM_INIT."""

    _fields_ = [
        ("struct_size", c_size_t), ("transa", c_int32), ("transb", c_int32), ("m", c_int64),
        ("n", c_int64), ("k", c_int64), ("batch_count", c_int64), ("atype", c_int32),
        ("btype", c_int32), ("ctype", c_int32), ("dtype", c_int32), ("math", c_int32),
        ("activation", c_int32), ("alpha", c_void_p), ("beta", c_void_p), ("A", c_void_p),
        ("lda", c_int64), ("stride_a", c_int64), ("B", c_void_p), ("ldb", c_int64),
        ("stride_b", c_int64), ("C", c_void_p), ("ldc", c_int64), ("stride_c", c_int64),
        ("D", c_void_p), ("ldd", c_int64), ("stride_d", c_int64), ("bias", c_void_p),
        ("stride_bias", c_int64), ("A_array", c_void_p), ("B_array", c_void_p),
        ("C_array", c_void_p), ("D_array", c_void_p), ("aux", c_void_p), ("ldaux", c_int64),
        ("stride_aux", c_int64), ("sums", c_void_p), ("stride_sums", c_int64),
        ("sums_of", c_int32), ("fill", c_int32), ("invariance", c_int32)]

    def __init__(self, **fields: object):
        super().__init__(**{"struct_size": ctypes.sizeof(Gemm), "batch_count": 1,
                            "math": MATH_OF_HANDLE, "invariance": INVARIANCE_OF_HANDLE,
                            **fields})


class Groups(ctypes.Structure):
    """mygemmGroups_t; without arguments as MYGEMM_GROUPS_INIT."""

    _fields_ = [
        ("struct_size", c_size_t), ("m", c_void_p), ("n", c_void_p), ("k", c_void_p),
        ("lda", c_void_p), ("ldb", c_void_p), ("ldc", c_void_p), ("ldd", c_void_p),
        ("total", c_int64), ("index_type", c_int32), ("location", c_int32),
        ("stacked", c_int32), ("ends", c_int32)]

    def __init__(self, **fields: object):
        super().__init__(**{"struct_size": ctypes.sizeof(Groups),
                            "index_type": INDEX_TYPES["int32"], **fields})


class CrossEntropy(ctypes.Structure):
    """mygemmCrossEntropy_t; without arguments as MYGEMM_CROSS_ENTROPY_INIT."""

    _fields_ = [
        ("struct_size", c_size_t), ("rows", c_int64), ("cols", c_int64), ("x", c_void_p),
        ("ldx", c_int64), ("targets", c_void_p), ("ignore_index", c_int64), ("dx", c_void_p),
        ("lddx", c_int64), ("dloss", c_void_p), ("stride_dloss", c_int64), ("loss", c_void_p),
        ("lse", c_void_p), ("xtype", c_int32), ("dxtype", c_int32), ("target_type", c_int32),
        ("label_smoothing", c_float), ("z_loss", c_float), ("gradient_scale", c_float)]

    def __init__(self, **fields: object):
        super().__init__(**{"struct_size": ctypes.sizeof(CrossEntropy), "ignore_index": -100,
                            "target_type": INDEX_TYPES["int64"], "gradient_scale": 1.0, **fields})


class MaskedSoftmax(ctypes.Structure):
    """mygemmSoftmax_t; without arguments as MYGEMM_SOFTMAX_INIT."""

    _fields_ = [
        ("struct_size", c_size_t), ("mode", c_int32), ("backward", c_int32), ("rows", c_int64),
        ("cols", c_int64), ("group_rows", c_int64), ("batch_groups", c_int64), ("x", c_void_p),
        ("ldx", c_int64), ("y", c_void_p), ("ldy", c_int64), ("dy", c_void_p), ("lddy", c_int64),
        ("dx", c_void_p), ("lddx", c_int64), ("xtype", c_int32), ("ytype", c_int32),
        ("dytype", c_int32), ("dxtype", c_int32), ("scale", c_float), ("softcap", c_float),
        ("mask", c_void_p), ("mask_stride_batch", c_int64), ("mask_stride_group", c_int64),
        ("mask_stride_row", c_int64), ("mask_stride_col", c_int64), ("lengths", c_void_p),
        ("lengths_stride_batch", c_int64), ("lengths_stride_group", c_int64),
        ("lengths_stride_row", c_int64), ("causal_offset", c_int64), ("causal", c_int32),
        ("mask_type", c_int32), ("lengths_type", c_int32), ("empty_rows", c_int32)]

    def __init__(self, **fields: object):
        super().__init__(**{"struct_size": ctypes.sizeof(MaskedSoftmax), "scale": 1.0,
                            "mask_stride_col": 1, "lengths_type": INDEX_TYPES["int32"], **fields})


_SIZES = [c_int64] * 3
_STRIDED = [c_void_p, c_int64, c_int64]  # matrix, leading dimension, stride
_TYPED = [c_void_p, c_int, c_int64]      # matrix, type, leading dimension
_TEXT = [c_char_p, c_size_t, POINTER(c_size_t)]
_BYTES = [POINTER(c_size_t)]
_GEMM = [c_void_p, c_int, c_int, *_SIZES]
_GROUPED = [POINTER(Gemm), POINTER(Groups)]
_ROWS = [c_void_p, c_int, c_int64, c_int64]
_TRANSPOSE = [c_void_p, c_size_t, c_int64, c_int64]

# Arguments of the functions that return a status; handles are void*.
_ARGUMENTS = {
    "create_with_config": [POINTER(c_void_p), POINTER(Config)],
    "destroy": [c_void_p],
    "get_backend": [c_void_p, POINTER(c_int)],
    "set_stream": [c_void_p, c_void_p],
    "set_workspace": [c_void_p, c_void_p, c_size_t],
    "set_math_mode": [c_void_p, c_int],
    "get_math_mode": [c_void_p, POINTER(c_int)],
    "sgemm_strided_batched": [*_GEMM, POINTER(c_float), *_STRIDED, *_STRIDED, POINTER(c_float),
                              *_STRIDED, c_int64],
    "gemm": [c_void_p, POINTER(Gemm)],
    "gemm_grouped": [c_void_p, *_GROUPED],
    "softmax": [*_ROWS, c_float, *_TYPED, *_TYPED],
    "softmax_backward": [*_ROWS, c_float, *_TYPED, *_TYPED, *_TYPED],
    "softmax_ex": [c_void_p, POINTER(MaskedSoftmax)],
    "cross_entropy": [c_void_p, POINTER(CrossEntropy)],
    "transpose_strided_batched": [*_TRANSPOSE, *_STRIDED, *_STRIDED, c_int64],
    "sgemm_workspace_size": [*_GEMM, c_int64, *_BYTES],
    "gemm_workspace_size": [c_void_p, POINTER(Gemm), *_BYTES],
    "gemm_grouped_workspace_size": [c_void_p, *_GROUPED, *_BYTES],
    "softmax_workspace_size": [*_ROWS, c_int, c_int, *_BYTES],
    "softmax_ex_workspace_size": [c_void_p, POINTER(MaskedSoftmax), *_BYTES],
    "cross_entropy_workspace_size": [c_void_p, POINTER(CrossEntropy), *_BYTES],
    "transpose_workspace_size": [*_TRANSPOSE, c_int64, c_int, *_BYTES],
    "explain_sgemm": [c_void_p, c_char_p, *_GEMM[1:], *_STRIDED, *_STRIDED, *_STRIDED, c_int64,
                      *_TEXT],
    "explain_gemm": [c_void_p, c_char_p, POINTER(Gemm), *_TEXT],
    "explain_gemm_grouped": [c_void_p, c_char_p, *_GROUPED, *_TEXT],
    "explain_softmax": [c_void_p, c_char_p, *_ROWS[1:], *_TYPED, *_TYPED, *_TEXT],
    "explain_softmax_backward": [c_void_p, c_char_p, *_ROWS[1:], *_TYPED, *_TYPED, *_TYPED,
                                 *_TEXT],
    "explain_softmax_ex": [c_void_p, c_char_p, POINTER(MaskedSoftmax), *_TEXT],
    "explain_cross_entropy": [c_void_p, c_char_p, POINTER(CrossEntropy), *_TEXT],
    "explain_transpose": [c_void_p, c_char_p, *_TRANSPOSE[1:], *_STRIDED, *_STRIDED, c_int64,
                          *_TEXT],
}


def _library_name() -> str:
    """The library to load, as a path or as a name for the loader."""
    chosen = os.environ.get("MYGEMM_LIBRARY")
    if chosen:
        return chosen
    places = [pathlib.Path(__file__).with_name("libmygemm.so"),
              pathlib.Path(sys.prefix, "lib", "libmygemm.so.0")]
    return next((str(path) for path in places if path.exists()), "libmygemm.so.0")


def _load() -> ctypes.CDLL:
    name = _library_name()
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"libmygemm could not be loaded: {error}. Set MYGEMM_LIBRARY to its "
                          "path, or install a wheel of mygemm, which contains it") from error
    try:
        found = divmod(library.mygemm_version() // 100, 100)
        library.mygemm_last_error.restype = c_char_p
        for function, arguments in _ARGUMENTS.items():
            getattr(library, f"mygemm_{function}").argtypes = arguments
    except AttributeError as error:
        raise ImportError(f"{name} is not a libmygemm of this version: {error}") from error
    if found != ABI:
        raise ImportError(f"{name} is version {found[0]}.{found[1]}; this package is for "
                          f"{ABI[0]}.{ABI[1]}")
    return library


lib = _load()


def version() -> str:
    """The version of the loaded library, e.g. "0.1.0"."""
    number = lib.mygemm_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def check(status: int, call: str, names: str = "") -> None:
    """Raises Error with the library's own sentence where a call has failed.

    names: what the sentence's names are in the caller's terms, where they differ.
    """
    if status != 0:
        sentence = lib.mygemm_last_error().decode()
        raise Error(f"{call}: {sentence}{f' (here {names})' if names else ''}", status)
