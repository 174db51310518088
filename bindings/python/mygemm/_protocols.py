"""Arguments of other libraries, by the CUDA array interface (version 2 or 3) or by DLPack.

https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
https://dmlc.github.io/dlpack/latest/c_api.html
"""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from . import _driver
from ._arrays import HOST, Array, Device, contiguous_strides, strides_in_elements

_KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "V": "void"}


def from_cuda_array_interface(name: str, argument: object, interface: dict[str, Any]) -> Array:
    """Describes an array on a CUDA device by its __cuda_array_interface__."""
    missing = {"shape", "typestr", "data"} - set(interface)
    if missing:
        raise TypeError(f"{name}.__cuda_array_interface__ lacks {', '.join(sorted(missing))}")
    if interface.get("mask") is not None:
        raise TypeError(f"{name} is a masked array, which mygemm does not take")
    order, kind, size = interface["typestr"][0], interface["typestr"][1], interface["typestr"][2:]
    if order == ">":
        raise TypeError(f"{name} has dtype {interface['typestr']}; its bytes are not in this "
                        "machine's order")
    if kind not in _KINDS:
        raise TypeError(f"{name} has dtype {interface['typestr']}, which is none of numbers")
    itemsize, shape = int(size), tuple(interface["shape"])
    dtype = "bool" if kind == "b" else f"{_KINDS[kind]}{8 * itemsize}"
    strides = strides_in_elements(name, shape, interface.get("strides"), itemsize)
    pointer, readonly = interface["data"]
    return Array(name, pointer or 0, shape, strides, dtype, itemsize,
                 Device("cuda", _driver.device_of(pointer or 0)), bool(readonly), argument, None,
                 stream=interface.get("stream"))


# ---- DLPack ----------------------------------------------------------------------------------

class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


_HOST_TYPES = (1, 3)    # kDLCPU, kDLCUDAHost
_CUDA_TYPES = (2, 13)   # kDLCUDA, kDLCUDAManaged
_READ_ONLY_OR_COPY = 3  # flags: a copy must not be an output either
_CODES = {0: "int", 1: "uint", 2: "float", 3: "void", 4: "bfloat", 5: "complex", 6: "bool"}

# Functions of our own over the interpreter's: the prototypes in ctypes.pythonapi are everybody's.
_capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def dlpack_device(name: str, argument: Any) -> Device:
    """Where an object with __dlpack_device__ keeps its elements."""
    kind, index = argument.__dlpack_device__()
    if int(kind) in _HOST_TYPES:
        return HOST
    if int(kind) in _CUDA_TYPES:
        return Device("cuda", int(index))
    raise ValueError(f"{name} is on a device of DLPack type {int(kind)}; mygemm works in host "
                     "memory and on CUDA devices")


def from_dlpack(name: str, argument: Any, device: Device, stream: Optional[int]) -> Array:
    """Describes an array by its DLPack capsule. Its producer orders its work before `stream`."""
    # The protocol's number for the legacy default stream is 1.
    options = {} if device == HOST else {"stream": stream or 1}
    try:
        capsule = argument.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before versions
        capsule = argument.__dlpack__(**options)
    readonly = False
    if _capsule_is(capsule, b"dltensor_versioned"):
        versioned = _DLManagedTensorVersioned.from_address(
            _capsule_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"{name} is of DLPack {versioned.major}.{versioned.minor}; version 1 "
                            "is known")
        tensor, readonly = versioned.tensor, bool(versioned.flags & _READ_ONLY_OR_COPY)
    elif _capsule_is(capsule, b"dltensor"):
        tensor = _DLManagedTensor.from_address(_capsule_pointer(capsule, b"dltensor")).tensor
    else:
        raise TypeError(f"{name}.__dlpack__() did not give a DLPack capsule")
    return _from_dltensor(name, argument, device, tensor, readonly, capsule)


def _from_dltensor(name: str, argument: object, device: Device, tensor: _DLTensor, readonly: bool,
                   capsule: object) -> Array:
    code = _CODES.get(tensor.code, f"dlpack{tensor.code}_")
    dtype = code if code == "bool" else f"{code}{tensor.bits}"
    if tensor.lanes != 1 or tensor.bits % 8 != 0:
        raise TypeError(f"{name} has elements of {tensor.lanes} x {tensor.bits} bits; whole "
                        "bytes are needed")
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else contiguous_strides(shape)
    return Array(name, (tensor.data or 0) + tensor.byte_offset, shape, strides, dtype,
                 tensor.bits // 8, device, readonly, argument, None, keep=capsule)
