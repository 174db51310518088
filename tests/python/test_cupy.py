"""CuPy arrays on a GPU: values, the current stream, graphs, refusals."""
import numpy as np
import pytest

import mygemm
from support import check_product, check_softmax, layouts, memory_of, random_matrix, softmax_of

cupy = pytest.importorskip("cupy")
if not cupy.cuda.is_available() or mygemm.backend() != "cuda":
    pytest.skip("no GPU", allow_module_level=True)

DELAY = 200_000_000  # cycles: about a tenth of a second
SPIN = cupy.RawKernel("""extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}""", "spin")


def array_like(view):
    """An array with the strides of a NumPy view, and with the memory around it."""
    around, offset = memory_of(view)
    return cupy.ndarray(view.shape, view.dtype, cupy.asarray(around).data + offset, view.strides)


@pytest.mark.parametrize("name", layouts(np.zeros((2, 2), np.float32)))
def test_products_in_every_layout(name):
    a, b = random_matrix(130, 70), random_matrix(70, 50, seed=2)
    given_a, given_b = array_like(layouts(a)[name]), array_like(layouts(b)[name])
    c = mygemm.sgemm(given_a, given_b)
    assert isinstance(c, cupy.ndarray) and c.flags.c_contiguous
    check_product(c.get(), a, b)
    out = array_like(layouts(c.get())[name])
    assert mygemm.sgemm(given_a, given_b, alpha=2, beta=-1, out=out) is out
    check_product(out.get(), a, b, 2, -1, c.get())


def test_batches():
    a, b = random_matrix(6, 33, 40), random_matrix(6, 40, 20, seed=2)
    check_product(mygemm.sgemm(cupy.asarray(a), cupy.asarray(b)).get(), a, b)
    check_product(mygemm.sgemm(cupy.asarray(a)[::-2], cupy.asarray(b[0])).get(), a[::-2], b[0])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_softmax(dtype):
    x = random_matrix(7, 3, 500, dtype=dtype)
    for log in False, True:
        y = mygemm.softmax(cupy.asarray(x), log=log)
        assert y.dtype == dtype
        check_softmax(y.get().astype(np.float64), softmax_of(x, log=log), dtype)
    y = cupy.asarray(softmax_of(x).astype(dtype))
    assert abs(mygemm.softmax_backward(y, cupy.ones_like(y))).max() < 1e-2


@pytest.mark.parametrize("dtype", ["bool", "uint16", "float32", "complex128"])
def test_transpose(dtype):
    x = cupy.asarray(random_matrix(70, 33).astype(dtype))
    assert cupy.array_equal(mygemm.transpose(x), x.T)
    square = x[:33].copy()
    assert cupy.array_equal(mygemm.transpose(square.copy(), out=square), x[:33].T)
    assert mygemm.transpose(x[:0]).shape == (33, 0)


def test_calls_are_enqueued_on_the_current_stream():
    a, b = cupy.empty((300, 200), np.float32), cupy.asarray(random_matrix(200, 100))
    side = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with side:
        for delay, value in (1, 0), (DELAY, 1):  # first to load kernels and to fill memory pools
            side.synchronize()
            SPIN((1,), (1,), (np.int64(delay),))
            a.fill(value)
            c, y, t = mygemm.sgemm(a, b), mygemm.softmax(a), mygemm.transpose(a)
    assert not side.done, "the calls waited for the device"
    side.synchronize()
    check_product(c.get(), np.ones((300, 200), np.float32), b.get())
    assert cupy.allclose(y, 1 / 200) and (t == 1).all()


def test_graph_capture():
    a, b = random_matrix(64, 30_000), random_matrix(30_000, 64, seed=2)
    given_a, given_b, out = cupy.asarray(a), cupy.asarray(b), cupy.empty((64, 64), np.float32)
    side = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with side:
        mygemm.sgemm(given_a, given_b, out=out)  # so that the pool has its workspace
        side.begin_capture()
        mygemm.sgemm(given_a, given_b, out=out)
        graph = side.end_capture()
        out.fill(0)
        graph.launch()
    side.synchronize()
    check_product(out.get(), a, b)


def test_refusals():
    x = cupy.asarray(random_matrix(4, 6))
    with pytest.raises(TypeError, match="a has dtype float64; sgemm takes float32"):
        mygemm.sgemm(x.astype(np.float64), x, transb=True)
    with pytest.raises(ValueError, match=r"a has shape \(4, 3\) and strides \(6, 2\)"):
        mygemm.sgemm(x[:, ::2], x[:3])
    with pytest.raises(ValueError, match="a is in CUDA device 0 and b in host memory"):
        mygemm.sgemm(x, x.get())
    with pytest.raises(mygemm.Error, match="C overlaps"):
        mygemm.sgemm(x[:, :4], x[:, :4], out=x[:, :4])


def test_two_libraries_are_refused():
    torch = pytest.importorskip("torch")
    x = cupy.asarray(random_matrix(4, 4))
    y = torch.ones(4, 4, device="cuda")
    with pytest.raises(ValueError, match="a is an array of CuPy and b one of PyTorch, whose str"):
        mygemm.sgemm(x, y)
    check_product(mygemm.sgemm(x, cupy.from_dlpack(y)).get(), x.get(), np.ones((4, 4), np.float32))


@pytest.mark.skipif(cupy.cuda.runtime.getDeviceCount() < 2, reason="needs two GPUs")
def test_two_devices():
    first = cupy.asarray(random_matrix(40, 40))
    with cupy.cuda.Device(1):
        second = cupy.asarray(random_matrix(40, 40, seed=2))
    product = mygemm.sgemm(second, second)
    assert cupy.cuda.Device().id == 0 and product.device.id == 1
    with cupy.cuda.Device(1):
        check_product(product.get(), second.get(), second.get())
    with pytest.raises(ValueError, match="a is in CUDA device 0 and b in CUDA device 1"):
        mygemm.sgemm(first, second)
