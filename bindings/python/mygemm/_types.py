"""The types of array arguments: objects with DLPack or the CUDA array interface, as the arrays of
NumPy, PyTorch, CuPy, JAX and Numba are."""
from __future__ import annotations

from typing import Any, Protocol, TypeVar, Union


class SupportsDLPack(Protocol):
    """An array with DLPack."""

    def __dlpack__(self, *arguments: Any, **named: Any) -> Any:
        """A capsule."""

    def __dlpack_device__(self) -> Any:
        """The number of its device's type, and of the device."""


class SupportsCudaArray(Protocol):
    """An array with the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Its address, shape and type."""


AnyArray = Union[SupportsDLPack, SupportsCudaArray]

# Results are arrays of the type of the first argument, or out itself.
ArrayT = TypeVar("ArrayT", bound=AnyArray)
