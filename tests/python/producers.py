"""Test support: small libraries that know the protocols and nothing else.

DlpackArray hands out memory of a NumPy array by DLPack, and says that it lies on any device.
"""
import ctypes

import numpy as np

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
CPU, CUDA = 1, 2

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h"""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    """DLManagedTensor"""

    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned"""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


class DlpackArray:
    """A NumPy array behind DLPack: of today, or with version=None of before versions."""

    def __init__(self, array, version=(1, 0), device=(CPU, 0), flags=0, **fields):
        self.array, self.version, self.device, self.flags = array, version, device, flags
        self.fields = fields  # replace those of the tensor
        self.streams = []     # streams that consumers passed
        self._parts = []      # lives as long as we do, as the memory does

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.version is None and "max_version" in options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(options.get("stream"))
        managed = Managed() if self.version is None else Versioned(*self.version, flags=self.flags)
        self._fill(managed.tensor)
        self._parts.append(managed)
        name = b"dltensor" if self.version is None else b"dltensor_versioned"
        return _new_capsule(ctypes.addressof(managed), name, None)

    def _fill(self, tensor):
        x = self.array
        extents = (ctypes.c_int64 * x.ndim)(*x.shape)
        steps = (ctypes.c_int64 * x.ndim)(*(step // x.itemsize for step in x.strides))
        self._parts += [extents, steps]
        fields = {"data": x.ctypes.data, "ndim": x.ndim, "code": CODES.get(x.dtype.kind, 3),
                  "bits": 8 * x.itemsize, "lanes": 1, "shape": ctypes.addressof(extents),
                  "strides": ctypes.addressof(steps), "byte_offset": 0,
                  "device_type": self.device[0], "device_id": self.device[1], **self.fields}
        for field, value in fields.items():
            setattr(tensor, field, value)


class CudaArray:
    """An object with the CUDA array interface only: of an array with another, or of a NumPy array
    that says it is on a GPU."""

    def __init__(self, array, **fields):
        self.array, self.fields = array, fields

    @property
    def __cuda_array_interface__(self):
        x = self.array
        pointer = x.ctypes.data if isinstance(x, np.ndarray) else x.data.ptr
        return {"shape": x.shape, "typestr": x.dtype.str, "data": (pointer, False),
                "strides": x.strides, "version": 3, **self.fields}


class Driver:
    """The CUDA driver's functions that mygemm calls; `calls` are those on streams. Each of them
    returns `status`."""

    def __init__(self, status=0, ordinal=0):
        self.status, self.ordinal, self.calls = status, ordinal, []

    def cuPointerGetAttribute(self, result, attribute, pointer):
        assert attribute == 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        result._obj.value = self.ordinal
        return self.status

    def cuEventCreate(self, event, flags):
        assert flags == 2  # CU_EVENT_DISABLE_TIMING
        event._obj.value = 0xe
        return 0

    def cuEventRecord(self, event, stream):
        self.calls.append(("record", stream.value or 0))
        return self.status

    def cuStreamWaitEvent(self, stream, event, flags):
        self.calls.append(("wait", stream.value or 0))
        return self.status

    def cuEventDestroy_v2(self, event):
        assert event.value == 0xe
        self.calls.append("destroy")
        return 0


def contiguous(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)
