"""Device memory on a machine without a GPU: the kernels' sources on the emulated CUDA runtime.

ctest runs this file by itself, with the emulator's libraries (CMakeLists.txt); elsewhere it skips.
Arrays are those of pretend_cupy.py, and of objects that know a protocol only.
"""
import os
import threading

import numpy as np
import pytest

if "MYGEMM_EMULATED_CUDART" not in os.environ:
    pytest.skip("the emulated CUDA runtime is not loaded", allow_module_level=True)

import mygemm
import pretend_cupy
from mygemm import _driver
from mygemm._calls import Arguments
from producers import CUDA, CudaArray, DlpackArray, Driver
from pretend_cupy import on_device
from support import check_product, check_softmax, layouts, random_matrix, softmax_of

pretend_cupy.install()


def test_the_backend_is_the_emulator():
    assert mygemm.backend() == "cuda"
    assert "sm_" in mygemm.explain("softmax", 10, 20)


@pytest.mark.parametrize("name", layouts(np.zeros((2, 2), np.float32)))
def test_products(name):
    a, b = random_matrix(13, 21), random_matrix(21, 7, seed=2)
    given_a, given_b = on_device(layouts(a)[name]), on_device(layouts(b)[name])
    c = mygemm.sgemm(given_a, given_b)
    assert isinstance(c, pretend_cupy.ndarray)
    check_product(c.get(), a, b)
    out = on_device(layouts(c.get())[name])
    assert mygemm.sgemm(given_a, given_b, beta=-1, out=out) is out
    check_product(out.get(), a, b, 1, -1, c.get())


def test_batches():
    a, b = random_matrix(3, 4, 5), random_matrix(5, 6, seed=2)
    check_product(mygemm.sgemm(on_device(a), on_device(b)).get(), a, b)
    check_product(mygemm.sgemm(on_device(a[::-1]), on_device(b)).get(), a[::-1], b)


def test_matmul():
    a, b = random_matrix(2, 1, 4, 5), random_matrix(3, 5, 6, seed=2)
    c = mygemm.matmul(on_device(a), on_device(b))
    check_product(c.get(), np.broadcast_to(a, (2, 3, 4, 5)), b)
    check_product(mygemm.matmul(on_device(a[0, 0]), on_device(b[0, :, 0])).get()[:, None],
                  a[0, 0], b[0, :, :1])


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_grouped_products(index):
    a, b, ends = random_matrix(9, 20), random_matrix(3, 20, 7, seed=2), np.array([2, 2, 8], index)
    y = mygemm.grouped_matmul(on_device(a), on_device(b), on_device(ends))
    check_product(y.get()[:2], a[:2], b[0])
    check_product(y.get()[2:8], a[2:8], b[2])
    out = on_device(np.full((7, 9), np.nan, np.float32))
    weights = on_device(b.swapaxes(1, 2))
    assert mygemm.grouped_matmul(weights, on_device(a.T), on_device(ends), out=out) is out
    check_product(out.get()[:, 2:8].T, a[2:8], b[2])
    assert np.isnan(out.get()[:, 8]).all()
    dw = mygemm.grouped_matmul(on_device(a.T), y, on_device(ends)).get()
    check_product(dw[2], a[2:8].T, y.get()[2:8])
    assert (dw[1] == 0).all()


def test_ends_on_a_device_need_a_library_that_allocates_and_are_not_checked():
    a, b, ends = random_matrix(4, 5), random_matrix(2, 5, 6, seed=2), np.array([1, 99], np.int32)
    out = on_device(np.zeros((4, 6), np.float32))
    with pytest.raises(mygemm.Error, match="grouped_matmul: .*workspace"):
        mygemm.grouped_matmul(*(CudaArray(on_device(x)) for x in (a, b, ends)), out=CudaArray(out))
    mygemm.grouped_matmul(on_device(a), on_device(b), CudaArray(on_device(ends)), out=out)
    check_product(out.get()[1:], a[1:], b[1])
    with pytest.raises(ValueError, match="a is in CUDA device 0 and ends in host memory"):
        mygemm.grouped_matmul(on_device(a), on_device(b), ends)


def test_softmax_along_another_axis():
    x = random_matrix(6, 7, 5)
    y = mygemm.softmax(on_device(x), axis=1).get()
    expected = np.moveaxis(softmax_of(np.moveaxis(x, 1, -1)), -1, 1)
    check_softmax(y.astype(np.float64), expected, "float32")


def test_softmax_and_its_gradient():
    x = random_matrix(6, 40)
    for dtype in "float32", "float16":
        y = mygemm.softmax(on_device(x[1:, 3:]), dtype=dtype).get()
        check_softmax(y.astype(np.float64), softmax_of(x[1:, 3:]), dtype)
    ours = on_device(x)
    assert mygemm.softmax(ours, out=ours) is ours
    gradient = mygemm.softmax_backward(ours, on_device(np.ones_like(x))).get()
    assert abs(gradient).max() < 1e-6


def test_transpose():
    for dtype in np.uint8, np.complex128:
        x = random_matrix(33, 20).astype(dtype)
        assert np.array_equal(mygemm.transpose(on_device(x)).get(), x.T)
    square = on_device(random_matrix(40, 40))
    expected = square.get().T.copy()
    assert np.array_equal(mygemm.transpose(square, out=square).get(), expected)


def test_a_call_is_enqueued_on_the_current_stream():
    x = on_device(random_matrix(2, 2))
    assert Arguments(x=x).stream == pretend_cupy.current_stream


def test_workspaces_are_allocated_by_the_arguments_library(monkeypatch):
    monkeypatch.setenv("MYGEMM_FORCE_GEMM", "splitk_64x64")  # handles read it: a new thread's do
    a, b = random_matrix(64, 2000), random_matrix(2000, 64, seed=2)
    pretend_cupy.requests.clear()
    results = []
    thread = threading.Thread(
        target=lambda: results.append(mygemm.sgemm(on_device(a), on_device(b))))
    thread.start()
    thread.join()
    check_product(results[0].get(), a, b)
    (shape, dtype), (size, of_bytes) = pretend_cupy.requests
    assert (shape, dtype, of_bytes) == ((64, 64), np.float32, np.uint8)
    assert size >= 2 * 64 * 64 * 4
    assert not pretend_cupy.current_devices


def test_the_cuda_array_interface():
    x, y = on_device(random_matrix(4, 6)), on_device(np.empty((6, 4), np.float32))
    result = CudaArray(y)
    assert mygemm.transpose(CudaArray(x, stream=2), out=result) is result
    assert np.array_equal(y.get(), x.get().T)
    z = mygemm.sgemm(x, CudaArray(y))  # beside an array whose library allocates
    check_product(z.get(), x.get(), y.get())
    with pytest.raises(TypeError, match="a type that mygemm cannot make arrays of.*out="):
        mygemm.transpose(CudaArray(x))


def test_dlpack():
    x, y = on_device(random_matrix(4, 6)), on_device(np.empty((4, 6), np.float32))
    given = DlpackArray(x.get(), device=(CUDA, 0), data=x.data.ptr)
    mygemm.softmax(given, out=y)
    check_softmax(y.get().astype(np.float64), softmax_of(x.get()), "float32")
    assert given.streams == [pretend_cupy.current_stream]


def test_streams_of_producers_are_ordered_before_and_after(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(_driver, "_driver", lambda: driver)
    x = on_device(random_matrix(4, 4))
    a, b, out = CudaArray(x, stream=5), CudaArray(x, stream=1), on_device(x.get())
    mygemm.sgemm(a, b, out=CudaArray(out, stream=7))  # on stream 5
    check_product(out.get(), x.get(), x.get())
    assert driver.calls == [("record", 0), ("wait", 5), "destroy", ("record", 7), ("wait", 5),
                            "destroy", ("record", 5), ("wait", 7), "destroy"]
    driver.calls.clear()
    mygemm.sgemm(x, b, out=out)  # on the current stream of x's library
    assert driver.calls == [("record", 0), ("wait", pretend_cupy.current_stream), "destroy"]


def test_streams_that_need_ordering_and_no_driver():
    x = on_device(random_matrix(4, 4))
    before = x.get().copy()
    with pytest.raises(RuntimeError, match="two CUDA streams need ordering"):
        mygemm.softmax(CudaArray(x, stream=77), out=x)
    assert np.array_equal(x.get(), before)
    assert not pretend_cupy.current_devices


def test_refusals():
    x = on_device(random_matrix(4, 4))
    with pytest.raises(ValueError, match="a is in CUDA device 0 and b in host memory"):
        mygemm.sgemm(x, x.get())
    with pytest.raises(mygemm.Error, match="C overlaps A"):
        mygemm.sgemm(x, x, out=x)
    with pytest.raises(TypeError, match="a has dtype float64"):
        mygemm.sgemm(on_device(np.zeros((2, 2))), x)
    assert not pretend_cupy.current_devices


def test_numpy_arrays_stay_on_the_host():
    a = random_matrix(5, 5)
    check_product(mygemm.sgemm(a, a), a, a)
