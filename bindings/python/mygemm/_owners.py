"""The libraries that arguments come from, each behind one class. None of them is imported here.

An Owner describes arrays of its library, makes new ones, and knows its current stream.
"""
from __future__ import annotations

import functools
import sys
from typing import Any, ContextManager, Optional

from ._arrays import HOST, Array, Device, strides_in_elements


class Owner:
    """The interface of all owners."""

    label = ""
    module_name = ""

    @property
    def module(self) -> Any:
        """The imported module, or None where nobody has imported it."""
        return sys.modules.get(self.module_name)

    def owns(self, argument: object) -> bool:
        """Whether the argument is an array of this library."""
        raise NotImplementedError

    def describe(self, name: str, argument: Any) -> Array:
        """Describes an array that it owns."""
        raise NotImplementedError

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Any:
        """A new array in C order where `like` is."""
        raise NotImplementedError

    def scratch(self, device: Device, size: int) -> Any:
        """A new array of bytes on a device, which is current."""
        raise NotImplementedError

    def current_stream(self, ordinal: int) -> int:
        """The stream that the library's own work on that device is enqueued on."""
        raise NotImplementedError

    def on_device(self, ordinal: int) -> ContextManager[Any]:
        """Makes a CUDA device current."""
        raise NotImplementedError

    def written(self, argument: Any) -> None:
        """Called for an output once the call that writes it is enqueued."""


def _numpy_dtype(name: str) -> Any:
    """A NumPy dtype by name; types of other packages have names once they are imported."""
    try:
        return sys.modules["numpy"].dtype(name)
    except TypeError as error:
        raise TypeError(f"NumPy knows no dtype {name} (for bfloat16, import ml_dtypes)") from error


@functools.lru_cache(maxsize=64)  # NumPy puts the name together each time
def _name_and_fault(dtype: Any) -> tuple[str, str]:
    if dtype.hasobject:
        return dtype.name, "Python objects cannot be moved as bytes"
    if not dtype.isnative:
        return dtype.str, "its bytes are not in this machine's order"
    return dtype.name, ""


def _dtype_name(name: str, dtype: Any) -> str:
    """The name of a NumPy dtype, which is refused where its elements are no plain bytes."""
    dtype_name, fault = _name_and_fault(dtype)
    if fault:
        raise TypeError(f"{name} has dtype {dtype_name}; {fault}")
    return dtype_name


class NumPy(Owner):
    """NumPy arrays."""

    label, module_name = "NumPy", "numpy"

    def owns(self, argument: object) -> bool:
        numpy = self.module
        return numpy is not None and isinstance(argument, numpy.ndarray)

    def describe(self, name: str, argument: Any) -> Array:
        numpy = self.module
        if type(argument) is not numpy.ndarray and isinstance(argument, numpy.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array; pass its .data or .filled()")
        dtype = argument.dtype
        dtype_name = _dtype_name(name, dtype)
        strides = strides_in_elements(name, argument.shape, argument.strides, dtype.itemsize)
        return Array(name, argument.ctypes.data, argument.shape, strides, dtype_name,
                     dtype.itemsize, HOST, not argument.flags.writeable, argument, self)

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Any:
        same = dtype == like.dtype
        return self.module.empty(shape, like.source.dtype if same else _numpy_dtype(dtype))

    def scratch(self, device: Device, size: int) -> Any:
        return self.module.empty(size, self.module.uint8)


class Torch(Owner):
    """PyTorch tensors in host memory or on CUDA devices."""

    label, module_name = "PyTorch", "torch"

    def owns(self, argument: object) -> bool:
        # A module that is being imported has no Tensor yet.
        tensor = getattr(self.module, "Tensor", None)
        return tensor is not None and isinstance(argument, tensor)

    def describe(self, name: str, argument: Any) -> Array:
        torch, device = self.module, self._device(name, argument.device)
        if argument.layout != torch.strided:
            raise TypeError(f"{name} is a tensor of layout {argument.layout}; a dense one is "
                            "needed")
        if argument.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires grad, and mygemm records no gradients: pass "
                             f"{name}.detach(), or call under torch.no_grad()")
        if argument.is_conj() or argument.is_neg():
            raise ValueError(f"{name} is a lazily conjugated or negated view; pass "
                             f"{name}.resolve_conj().resolve_neg()")
        return Array(name, argument.data_ptr(), tuple(argument.shape), tuple(argument.stride()),
                     str(argument.dtype)[len("torch."):], argument.element_size(),
                     device, False, argument, self)

    @staticmethod
    def _device(name: str, device: Any) -> Device:
        if device.type == "cpu":
            return HOST
        if device.type == "cuda":
            return Device("cuda", device.index)
        raise ValueError(f"{name} is on device {device}; mygemm works in host memory and on CUDA "
                         "devices")

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Any:
        torch = self.module
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.source.device)

    def scratch(self, device: Device, size: int) -> Any:
        torch = self.module
        place = "cpu" if device == HOST else f"cuda:{device.ordinal}"
        return torch.empty(size, dtype=torch.uint8, device=place)

    def current_stream(self, ordinal: int) -> int:
        return int(self.module.cuda.current_stream(ordinal).cuda_stream)

    def on_device(self, ordinal: int) -> ContextManager[Any]:
        manager: ContextManager[Any] = self.module.cuda.device(ordinal)
        return manager

    def written(self, argument: Any) -> None:
        # So that autograd notices that a tensor which it saved for a gradient has changed.
        if not argument.is_inference():
            self.module.autograd.graph.increment_version(argument)


class CuPy(Owner):
    """CuPy arrays."""

    label, module_name = "CuPy", "cupy"

    def owns(self, argument: object) -> bool:
        ndarray = getattr(self.module, "ndarray", None)
        return ndarray is not None and isinstance(argument, ndarray)

    def describe(self, name: str, argument: Any) -> Array:
        dtype = argument.dtype
        dtype_name = _dtype_name(name, dtype)
        strides = strides_in_elements(name, argument.shape, argument.strides, dtype.itemsize)
        return Array(name, argument.data.ptr, argument.shape, strides, dtype_name, dtype.itemsize,
                     Device("cuda", argument.device.id), False, argument, self)

    def empty(self, like: Array, shape: tuple[int, ...], dtype: str) -> Any:
        same = dtype == like.dtype
        with self.on_device(like.device.ordinal):
            return self.module.empty(shape, like.source.dtype if same else _numpy_dtype(dtype))

    def scratch(self, device: Device, size: int) -> Any:
        return self.module.empty(size, "uint8")

    def current_stream(self, ordinal: int) -> int:
        with self.on_device(ordinal):
            return int(self.module.cuda.get_current_stream().ptr)

    def on_device(self, ordinal: int) -> ContextManager[Any]:
        manager: ContextManager[Any] = self.module.cuda.Device(ordinal)
        return manager


_OWNERS = (NumPy(), Torch(), CuPy())
_owner_of_type: dict[type, Owner] = {}  # those met so far: finding out takes longer


def owner_of(argument: object) -> Optional[Owner]:
    """The library that an argument belongs to, if it is one of those above."""
    found = _owner_of_type.get(type(argument))
    if found is None:
        found = next((owner for owner in _OWNERS if owner.owns(argument)), None)
        if found is not None:
            _owner_of_type[type(argument)] = found
    return found
