"""Descriptions of array arguments, the same for all libraries that they come from."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from ._owners import Owner


class Device(NamedTuple):
    """Where memory is: "host", or "cuda" and an ordinal, -1 where it is not known."""

    kind: str
    ordinal: int = -1

    def __str__(self) -> str:
        if self.kind == "host":
            return "host memory"
        return "CUDA device " + (str(self.ordinal) if self.ordinal >= 0 else "memory")


HOST = Device("host")


class Array(NamedTuple):
    """An argument described: nothing here depends on where it came from."""

    name: str                    # as the public function calls it
    pointer: int                 # 0 may stand for no elements
    shape: tuple[int, ...]
    strides: tuple[int, ...]     # in elements
    dtype: str                   # NumPy's name for it, e.g. "float32", "bfloat16"
    itemsize: int
    device: Device
    readonly: bool
    source: Any                  # the argument itself
    owner: Optional[Owner]       # its library, where arrays can be made with it
    stream: Optional[int] = None  # the producing stream that a protocol named
    keep: Any = None             # an object that must live as long as the pointer is used


def strides_in_elements(name: str, shape: tuple[int, ...], strides: Optional[tuple[int, ...]],
                        itemsize: int) -> tuple[int, ...]:
    """Strides in bytes, None for C order, as strides in elements."""
    if strides is None:
        return contiguous_strides(shape)
    for extent, stride in zip(shape, strides):
        if extent > 1 and stride % itemsize != 0:
            raise ValueError(f"{name} has strides of {strides} bytes, which are not multiples of "
                             f"its {itemsize}-byte elements")
    return tuple(stride // itemsize for stride in strides)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array in C order, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def check_dtype(x: Array, allowed: tuple[str, ...], call: str) -> None:
    """Refuses an array whose elements are none of the allowed types."""
    if x.dtype not in allowed:
        raise TypeError(f"{x.name} has dtype {x.dtype}; {call} takes {', '.join(allowed)}")


def check_writable(x: Array) -> None:
    """Refuses a read-only array as an output."""
    if x.readonly:
        raise ValueError(f"{x.name} is read-only")


def as_bool(name: str, value: bool) -> bool:
    """A flag; BLAS's letters are refused, of which "N" would be true."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's, too
        return bool(value)
    raise TypeError(f"{name} = {value!r} is neither True nor False")


def as_float32(name: str, value: float) -> float:
    """A number that is passed as a C float; what only overflow would make infinite is refused."""
    if not isinstance(value, (int, float)) and not hasattr(value, "__float__"):
        raise TypeError(f"{name} is a {type(value).__name__}; a number is needed")
    number = float(value)
    largest = 3.4028235677973366e38  # from here on, rounding to float32 gives infinity
    if number not in (float("inf"), float("-inf")) and abs(number) >= largest:
        raise ValueError(f"{name} = {number:g} does not fit float32")
    return number
