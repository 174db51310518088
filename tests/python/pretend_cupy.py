"""Test support: as much of CuPy as mygemm looks at, in the memory of the emulated CUDA runtime.

install() puts it into sys.modules. on_device() copies a NumPy array, with the memory around it when
it is a view; what get() gives back is such a view again. The emulator ends the program where a
kernel leaves its memory, and has C++ names for CUDA's functions.
"""
import contextlib
import ctypes
import os
import sys
import types

import numpy as np

from support import memory_of

TO_DEVICE, TO_HOST = 1, 2

runtime = ctypes.CDLL(os.environ["MYGEMM_EMULATED_CUDART"])
_malloc, _free, _copy = (getattr(runtime, name) for name in (
    "_Z10cudaMallocPPvm", "_Z8cudaFreePv", "_Z10cudaMemcpyPvPKvm14cudaMemcpyKind"))
_malloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
_free.argtypes = [ctypes.c_void_p]
_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

current_stream = 0x1000  # the emulator looks at the address only
requests = []            # (shape, dtype) of every empty()
current_devices = []     # ordinals, the innermost last


class Memory:
    def __init__(self, size):
        self.size, self.start = size, ctypes.c_void_p()
        assert _malloc(ctypes.byref(self.start), max(size, 1)) == 0

    def __del__(self):
        _free(self.start)


class ndarray:  # CuPy's name
    def __init__(self, memory, offset, shape, strides, dtype):
        self.memory, self.offset, self.shape, self.strides = memory, offset, shape, strides
        self.dtype, self.device = np.dtype(dtype), types.SimpleNamespace(id=0)
        self.data = types.SimpleNamespace(ptr=memory.start.value + offset)

    def get(self):
        host = np.empty(self.memory.size, np.uint8)
        assert _copy(host.ctypes.data, self.memory.start, self.memory.size, TO_HOST) == 0
        return np.ndarray(self.shape, self.dtype, host, self.offset, self.strides)


def on_device(array):
    around, offset = memory_of(array)
    memory = Memory(around.nbytes)
    assert _copy(memory.start, around.ctypes.data, around.nbytes, TO_DEVICE) == 0
    return ndarray(memory, offset, array.shape, array.strides, array.dtype)


def empty(shape, dtype):
    assert current_devices, "no device was made current"
    requests.append((shape, np.dtype(dtype)))
    host = np.zeros(shape, dtype)
    return ndarray(Memory(host.nbytes), 0, host.shape, host.strides, dtype)


@contextlib.contextmanager
def device(ordinal):
    current_devices.append(ordinal)
    try:
        yield
    finally:
        current_devices.pop()


def install():
    module = types.ModuleType("cupy")
    module.ndarray, module.empty = ndarray, empty
    module.cuda = types.SimpleNamespace(
        Device=device, get_current_stream=lambda: types.SimpleNamespace(ptr=current_stream))
    sys.modules["cupy"] = module
