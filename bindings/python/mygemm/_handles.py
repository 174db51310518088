"""Handles: one for each thread and device, made when first needed."""
from __future__ import annotations

import ctypes
import threading

from ._arrays import Device
from ._library import BACKEND_AUTO, BACKEND_CUDA, BACKEND_HOST, Config, check, lib


class Handle:
    """A mygemmHandle_t. `math` is the math mode that the environment gives new handles."""

    def __init__(self, backend: int, device: int = -1):
        self._destroy = lib.mygemm_destroy  # __del__ may run when modules are gone
        self.pointer = ctypes.c_void_p()
        config = Config(ctypes.sizeof(Config), backend, device, 0)  # calls bring workspaces
        check(lib.mygemm_create_with_config(ctypes.byref(self.pointer), ctypes.byref(config)),
              "mygemm")
        math = ctypes.c_int()
        check(lib.mygemm_get_math_mode(self.pointer, ctypes.byref(math)), "mygemm")
        self.math = math.value

    def __del__(self) -> None:
        self._destroy(self.pointer)


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.handles: dict[Device, Handle] = {}


_per_thread = _PerThread()


def handle_for(device: Device) -> Handle:
    """This thread's handle for a device."""
    if device.kind == "cuda" and device.ordinal < 0:
        return Handle(BACKEND_CUDA)  # for the device current now, which may change
    handle = _per_thread.handles.get(device)
    if handle is None:
        handle = (Handle(BACKEND_HOST) if device.kind == "host" else
                  Handle(BACKEND_CUDA, device.ordinal))
        _per_thread.handles[device] = handle
    return handle


def backend() -> str:
    """The library's own choice on this machine: "cuda", or "host" where no usable GPU is found.

    Calls do not depend on it: the arguments' memory decides where they run.
    """
    found = ctypes.c_int()
    handle = Handle(BACKEND_AUTO)
    check(lib.mygemm_get_backend(handle.pointer, ctypes.byref(found)), "backend")
    return "cuda" if found.value == BACKEND_CUDA else "host"
