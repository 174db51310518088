"""One call: its arguments together, where it runs, its stream, its handle and its workspace."""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Callable, Optional

from . import _driver
from ._arrays import HOST, Array, Device
from ._handles import Handle, handle_for
from ._library import MATH_MODES, check, lib
from ._owners import Owner, owner_of
from ._protocols import dlpack_device, from_cuda_array_interface, from_dlpack

# Plans gain little from more than this, which every stream with a call in flight may hold.
WORKSPACE_LIMIT = 64 << 20
_WORKSPACE_ALIGNMENT = 256


class Arguments:
    """The arrays of one call, checked to be in one place. out=None: it is yet to be made."""

    def __init__(self, **arguments: Any):
        arguments = {name: argument for name, argument in arguments.items()
                     if name != "out" or argument is not None}
        found = {name: _describe(name, argument) for name, argument in arguments.items()}
        devices = {name: x.device if x else dlpack_device(name, arguments[name])
                   for name, x in found.items()}
        known = [x for x in found.values() if x]
        self.device = _common_device(devices)
        self.owner = _common_owner(known)
        self.stream = _choose_stream(known)
        # Only now is it known before which stream those by DLPack are to be ready.
        self._arrays = {name: x or from_dlpack(name, arguments[name], devices[name], self.stream)
                        for name, x in found.items()}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def get(self, name: str) -> Optional[Array]:
        """The array of that name, None where none was given."""
        return self._arrays.get(name)

    def values(self) -> list[Array]:
        """All arrays."""
        return list(self._arrays.values())

    def temporary(self, like: Array, shape: tuple[int, ...], dtype: str) -> Array:
        """A new array beside the arguments, by the library of `like`."""
        return self._made(like, shape, dtype, like.name)

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Array:
        """A new array, named out, by the library of `like`."""
        self._arrays["out"] = self._made(like, shape, dtype, "out")
        return self._arrays["out"]

    def _made(self, like: Array, shape: tuple[int, ...], dtype: str, name: str) -> Array:
        owner = like.owner
        if owner is None:
            raise TypeError(f"{like.name} is a {type(like.source).__name__}, a type that mygemm "
                            "cannot make arrays of: give an array for the result, out=")
        return owner.describe(name, owner.empty(like, shape, dtype))


def _describe(name: str, argument: Any) -> Optional[Array]:
    """Describes an argument; None where that needs DLPack, which needs the stream of the call."""
    owner = owner_of(argument)
    if owner is not None:
        return owner.describe(name, argument)
    interface = getattr(argument, "__cuda_array_interface__", None)
    if interface is not None:
        return from_cuda_array_interface(name, argument, interface)
    if hasattr(argument, "__dlpack__") and hasattr(argument, "__dlpack_device__"):
        return None
    raise TypeError(f"{name} is a {type(argument).__name__}; an array of NumPy, PyTorch or CuPy is "
                    "needed, or one with __dlpack__ or __cuda_array_interface__")


def _common_device(devices: dict[str, Device]) -> Device:
    (first_name, first), *others = devices.items()
    for name, device in others:
        # An ordinal of -1 is a device that nobody could name.
        unknown = device.kind == "cuda" and -1 in (device.ordinal, first.ordinal)
        if device.kind != first.kind or (device != first and not unknown):
            raise ValueError(f"{first_name} is in {first} and {name} in {device}; the arrays of a "
                             "call must be in one place")
    return max(devices.values())


def _common_owner(arrays: list[Array]) -> Optional[Owner]:
    """The library of the arrays; on a CUDA device there is one, whose stream orders them."""
    owned = [x for x in arrays if x.owner is not None]
    for x in owned:
        first = owned[0]
        if x.device != HOST and x.owner is not first.owner:
            raise ValueError(f"{first.name} is an array of {_label(first)} and {x.name} one of "
                             f"{_label(x)}, whose streams are not ordered; convert one, e.g. with "
                             "from_dlpack()")
    return owned[0].owner if owned else None


def _choose_stream(arrays: list[Array]) -> int:
    """The library's current stream; else what the first array with a stream names."""
    on_device = [x for x in arrays if x.device.kind == "cuda"]
    for x in on_device:
        if x.owner is not None:
            return _plain(x.owner.current_stream(x.device.ordinal))
    return next((_plain(x.stream) for x in on_device if x.stream is not None), 0)


def _label(x: Array) -> str:
    return x.owner.label if x.owner is not None else "another library"


def _plain(stream: int) -> int:
    """One number for the legacy default stream, which has two."""
    return 0 if stream == 1 else stream


class Call:
    """Makes a handle ready for arguments: `with Call(arguments) as call:`.

    Inside, the arguments' device is current, and the handle has its stream and math mode. At the
    end the handle gives its workspace back.
    """

    def __init__(self, arguments: Arguments, math: Optional[str] = None):
        self._arguments = arguments
        self._math = None if math is None else math_mode(math)
        self._stack = contextlib.ExitStack()
        self._workspace: Optional[Array] = None
        self._handle: Handle

    def __enter__(self) -> Call:
        with self._stack as stack:
            device, owner = self._arguments.device, self._arguments.owner
            if device.kind == "cuda" and device.ordinal >= 0 and owner is not None:
                stack.enter_context(owner.on_device(device.ordinal))
            self._handle = handle_for(device)
            if device.kind == "cuda":
                check(lib.mygemm_set_stream(self.handle, self._arguments.stream), "mygemm")
                self._order(before=True)
            math = self._handle.math if self._math is None else self._math
            check(lib.mygemm_set_math_mode(self.handle, math), "mygemm")
            self._stack = stack.pop_all()  # the contexts stay entered until __exit__
        return self

    def __exit__(self, *error: object) -> None:
        with self._stack:
            if self._workspace is not None:
                lib.mygemm_set_workspace(self.handle, None, 0)
            if error[0] is None:
                self._finish()

    @property
    def handle(self) -> ctypes.c_void_p:
        """The mygemmHandle_t."""
        return self._handle.pointer

    def _order(self, before: bool) -> None:
        """Orders the call after, or before, the streams that protocols named."""
        stream = self._arguments.stream
        for x in self._arguments.values():
            if x.stream is not None and _plain(x.stream) != stream:
                if before:
                    _driver.make_wait(stream, _plain(x.stream))
                elif x.name == "out":
                    _driver.make_wait(_plain(x.stream), stream)

    def _finish(self) -> None:
        out = self._arguments["out"]
        if out.owner is not None:
            out.owner.written(out.source)
        if out.device != HOST:
            self._order(before=False)

    def give_workspace(self, query: Callable[..., int], *arguments: object) -> None:
        """Gives the handle a workspace of mygemm_*_workspace_size() for these arguments.

        The arguments' library allocates it. It may have the memory again once the call is
        enqueued, since it hands memory out in the order of the stream.
        """
        owner, size = self._arguments.owner, ctypes.c_size_t()
        if owner is None:
            return
        refused = query(self.handle, *arguments, ctypes.byref(size)) != 0
        if refused or size.value == 0:  # a refusal is the call's to repeat, in its own terms
            return
        size.value = min(size.value, WORKSPACE_LIMIT)
        scratch = owner.scratch(self._arguments.device, size.value + _WORKSPACE_ALIGNMENT)
        self._workspace = owner.describe("workspace", scratch)
        start = -(-self._workspace.pointer // _WORKSPACE_ALIGNMENT) * _WORKSPACE_ALIGNMENT
        check(lib.mygemm_set_workspace(self.handle, start, size.value), "mygemm")


def math_mode(math: str) -> int:
    """A mygemmMathMode_t by name."""
    if math not in MATH_MODES:
        raise ValueError(f"math = {math!r} is none of: {', '.join(MATH_MODES)}")
    return MATH_MODES[math]
