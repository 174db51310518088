"""Queries of the CUDA driver, where there is one, for facts missing in the CUDA array interface."""
from __future__ import annotations

import ctypes
import functools
from typing import Optional

_DEVICE_ORDINAL = 9   # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_DISABLE_TIMING = 2   # CU_EVENT_DISABLE_TIMING


@functools.lru_cache(maxsize=None)
def _driver() -> Optional[ctypes.CDLL]:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def device_of(pointer: int) -> int:
    """The ordinal of the CUDA device whose memory this is; -1 where the driver cannot say."""
    driver, ordinal = _driver(), ctypes.c_int(-1)
    if driver is None or pointer == 0:
        return -1
    status = driver.cuPointerGetAttribute(ctypes.byref(ordinal), _DEVICE_ORDINAL,
                                          ctypes.c_uint64(pointer))
    return ordinal.value if status == 0 else -1


def make_wait(stream: int, producer: int) -> None:
    """Later work of `stream` waits for the work enqueued on `producer` so far."""
    driver, event = _driver(), ctypes.c_void_p()
    if driver is None:
        raise RuntimeError("libcuda.so.1 is not there, and two CUDA streams need ordering")
    after, before = ctypes.c_void_p(stream), ctypes.c_void_p(producer)
    status = driver.cuEventCreate(ctypes.byref(event), _DISABLE_TIMING)
    if status == 0:
        status = driver.cuEventRecord(event, before) or driver.cuStreamWaitEvent(after, event, 0)
        driver.cuEventDestroy_v2(event)
    if status != 0:
        raise RuntimeError(f"CUDA streams {stream:#x} and {producer:#x} could not be ordered: "
                           f"CUDA error {status}")
