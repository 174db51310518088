"""DLPack and the CUDA array interface: host memory is worked on, device memory is described.

What runs on a device is in test_emulated.py, test_torch.py and test_cupy.py.
"""
import types

import numpy as np
import pytest

import mygemm
from mygemm import _driver
from mygemm._calls import Arguments
from producers import CPU, CUDA, CudaArray, DlpackArray, Driver, contiguous
from support import check_product, check_softmax, random_matrix, softmax_of

VERSIONS = [(1, 0), (1, 3), None]


# ---- DLPack in host memory ---------------------------------------------------------------------

@pytest.mark.parametrize("version", VERSIONS)
def test_dlpack_in_host_memory(version):
    a, b = random_matrix(5, 8), random_matrix(8, 3, seed=2)
    producer = DlpackArray(a, version)
    check_product(mygemm.sgemm(b.T, DlpackArray(a.T, version)), b.T, a.T)
    out = np.empty((5, 3), np.float32)
    result = DlpackArray(out, version)
    assert mygemm.sgemm(producer, DlpackArray(b, version), out=result) is result
    check_product(out, a, b)
    assert producer.streams == [None]


@pytest.mark.parametrize("version", VERSIONS)
def test_dlpack_offset_and_no_strides(version):
    whole = random_matrix(6, 8)
    out = np.empty((4, 8), np.float32)
    mygemm.softmax(DlpackArray(whole[:4], version, strides=None, byte_offset=2 * 8 * 4), out=out)
    check_softmax(out.astype(np.float64), softmax_of(whole[2:]), "float32")


def test_dlpack_bfloat16():
    x = random_matrix(4, 64)
    wide = (x.view(np.uint32) & 0xffff0000).view(np.float32)  # values that bfloat16 has
    narrow = (wide.view(np.uint32) >> 16).astype(np.uint16)
    out = np.empty((4, 64), np.float32)
    mygemm.softmax(DlpackArray(narrow, code=4), out=out)
    check_softmax(out.astype(np.float64), softmax_of(wide), "float32")


def test_numpy_through_its_own_dlpack():
    class Wrapped:
        def __init__(self, array):
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = array.__dlpack_device__
    a = random_matrix(5, 8)
    check_product(mygemm.sgemm(a, Wrapped(a.T)), a, a.T)


@pytest.mark.parametrize("exception, sentence, producer", [
    (TypeError, "a has dtype int32; sgemm takes float32", DlpackArray(np.zeros((2, 2), np.int32))),
    (TypeError, "a has elements of 4 x 32 bits", DlpackArray(contiguous(2, 2), lanes=4)),
    (TypeError, "a is of DLPack 2.0; version 1 is known", DlpackArray(contiguous(2, 2), (2, 0))),
    (ValueError, "a is on a device of DLPack type 8", DlpackArray(contiguous(2, 2), device=(8, 0))),
    (ValueError, r"a has shape \(2, 2\) and strides \(4, 2\)",
     DlpackArray(contiguous(2, 4)[:, ::2])),
    (ValueError, "a is in CUDA device 1 and b in host memory",
     DlpackArray(contiguous(2, 2), device=(CUDA, 1))),
    (TypeError, "a is a DlpackArray, a type that mygemm cannot make arrays of",
     DlpackArray(contiguous(2, 2), device=(CPU, 0))),
])
def test_dlpack_refusals(exception, sentence, producer):
    with pytest.raises(exception, match=sentence):
        mygemm.sgemm(producer, contiguous(2, 2))


@pytest.mark.parametrize("flag", [1, 2])  # read-only; a copy, which nobody would see change
def test_dlpack_outputs_must_be_writable(flag):
    a = contiguous(2, 2)
    with pytest.raises(ValueError, match="out is read-only"):
        mygemm.sgemm(a, a, out=DlpackArray(np.zeros_like(a), flags=flag))


# ---- descriptions of device memory, on any machine ----------------------------------------------

def test_cuda_array_interface_is_read():
    whole = contiguous(6, 8)
    x = Arguments(x=CudaArray(whole[1:, 2:5]))["x"]
    assert (x.pointer, x.shape, x.strides) == (whole[1:, 2:].ctypes.data, (5, 3), (8, 1))
    assert (x.dtype, x.itemsize, x.device.kind, x.readonly) == ("float32", 4, "cuda", False)
    x = Arguments(x=CudaArray(whole, strides=None, data=(64, True)))["x"]
    assert (x.pointer, x.strides, x.readonly) == (64, (8, 1), True)


def test_streams_of_producers():
    x = contiguous(2, 2)
    assert Arguments(x=CudaArray(x)).stream == 0
    assert Arguments(x=CudaArray(x, stream=None), out=CudaArray(x, stream=77)).stream == 77
    assert Arguments(x=CudaArray(x, stream=1)).stream == 0  # the legacy default stream
    assert Arguments(x=CudaArray(x, stream=2)).stream == 2  # each thread's default stream
    for stream, asked in (None, 1), (1, 1), (2, 2), (77, 77):
        producer = DlpackArray(x, device=(CUDA, 0))
        Arguments(x=producer, out=CudaArray(x, stream=stream))
        assert producer.streams == [asked]


@pytest.mark.parametrize("exception, sentence, a", [
    (TypeError, "a has dtype float64", CudaArray(np.zeros((2, 2)))),
    (TypeError, "a.__cuda_array_interface__ lacks data, shape",
     types.SimpleNamespace(__cuda_array_interface__={"typestr": "<f4"})),
    (TypeError, "a has dtype >f4", CudaArray(np.zeros((2, 2), ">f4"))),
    (TypeError, "a has dtype <M8", CudaArray(np.zeros((2, 2), "M8[s]"))),
    (TypeError, "a is a masked array", CudaArray(contiguous(2, 2), mask=contiguous(2, 2))),
    (ValueError, "which are not multiples", CudaArray(contiguous(2, 2), strides=(10, 4))),
    (ValueError, "a has shape .* strides", CudaArray(contiguous(2, 4)[:, ::2])),
])
def test_device_refusals(exception, sentence, a):
    with pytest.raises(exception, match=sentence):
        mygemm.sgemm(a, CudaArray(contiguous(2, 2)), out=CudaArray(contiguous(2, 2)))


def test_two_places_are_refused():
    host, device = contiguous(2, 2), DlpackArray(contiguous(2, 2), device=(CUDA, 0))
    with pytest.raises(ValueError, match="a is in CUDA device 0 and b in host memory"):
        mygemm.sgemm(device, host)
    with pytest.raises(ValueError, match="a is in host memory and b in CUDA device memory"):
        mygemm.sgemm(host, CudaArray(host))
    x, y = (DlpackArray(contiguous(2, 2), device=(CUDA, ordinal)) for ordinal in range(2))
    with pytest.raises(ValueError, match="x is in CUDA device 0 and out in CUDA device 1"):
        mygemm.softmax(x, out=y)


def test_the_driver_says_on_which_device_memory_is(monkeypatch):
    monkeypatch.setattr(_driver, "_driver", lambda: Driver(ordinal=3))
    assert Arguments(x=CudaArray(contiguous(2, 2))).device.ordinal == 3
    with pytest.raises(ValueError, match="a is in CUDA device 3 and b in CUDA device 0"):
        mygemm.sgemm(CudaArray(contiguous(2, 2)), DlpackArray(contiguous(2, 2), device=(CUDA, 0)))
    monkeypatch.setattr(_driver, "_driver", lambda: Driver(status=1, ordinal=3))
    assert Arguments(x=CudaArray(contiguous(2, 2))).device.ordinal == -1


def test_streams_are_ordered_by_an_event(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(_driver, "_driver", lambda: driver)
    _driver.make_wait(5, 7)
    assert driver.calls == [("record", 7), ("wait", 5), "destroy"]
    driver = Driver(status=700)
    with pytest.raises(RuntimeError, match="CUDA streams 0x5 and 0x7 could not be ordered.*700"):
        _driver.make_wait(5, 7)
    assert driver.calls == [("record", 7), "destroy"]


@pytest.mark.skipif(mygemm.backend() == "cuda", reason="this machine has a GPU")
def test_device_memory_without_a_gpu():
    x = CudaArray(contiguous(2, 2))
    with pytest.raises(mygemm.Error, match="there is no usable CUDA device here") as caught:
        mygemm.softmax(x, out=x)
    assert caught.value.status == 1
