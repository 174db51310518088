"""PyTorch tensors, in host memory and on GPUs: values, streams, graphs, gradients, refusals."""
import pathlib
import runpy

import numpy as np
import pytest

import mygemm
from producers import DlpackArray
from support import check_product, check_softmax, layouts, memory_of, random_matrix

torch = pytest.importorskip("torch")

HAS_GPU = torch.cuda.is_available() and mygemm.backend() == "cuda"
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU")
everywhere = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "bindings/python/examples"
DELAY = 200_000_000  # cycles: about a tenth of a second


def tensor_like(view, device):
    """A tensor with the strides of a NumPy view, and with the memory around it."""
    around, offset = memory_of(view)
    flat = torch.from_numpy(around.copy()).to(device)
    return flat.as_strided(view.shape, [step // view.itemsize for step in view.strides],
                           offset // view.itemsize)


def tensor(*shape, seed=1, device="cuda"):
    return torch.from_numpy(random_matrix(*shape, seed=seed)).to(device)


def to_numpy(x):
    return x.detach().cpu().numpy()


def check(c, a, b, *scalars):
    check_product(to_numpy(c), to_numpy(a), to_numpy(b), *scalars)


# ---- values --------------------------------------------------------------------------------------

@everywhere
@pytest.mark.parametrize("name", layouts(np.zeros((2, 2), np.float32)))
def test_products_in_every_layout(name, device):
    a, b = random_matrix(130, 70), random_matrix(70, 50, seed=2)
    given_a, given_b = (tensor_like(layouts(x)[name], device) for x in (a, b))
    c = mygemm.sgemm(given_a, given_b)
    assert c.device == given_a.device and c.is_contiguous()
    check_product(to_numpy(c), a, b)
    check_product(to_numpy(mygemm.sgemm(given_b, given_a, transa=True, transb=True)), b.T, a.T)
    out = tensor_like(layouts(to_numpy(c))[name], device)
    assert mygemm.sgemm(given_a, given_b, alpha=2, beta=-1, out=out) is out
    check_product(to_numpy(out), a, b, 2, -1, to_numpy(c))


@everywhere
def test_batches(device):
    a, b = tensor(6, 33, 40, device=device), tensor(6, 40, 20, seed=2, device=device)
    check(mygemm.sgemm(a, b), a, b)
    check(mygemm.sgemm(a[::2], b[0]), a[::2], b[0])
    check(mygemm.sgemm(a, b[:1].expand(6, 40, 20)), a, b[:1])
    heads = tensor(33, 6, 40, device=device).transpose(0, 1)  # interleaved
    check(mygemm.sgemm(heads, b), heads, b)


@everywhere
def test_matmul_broadcasts(device):
    a, b = tensor(2, 1, 33, 40, device=device), tensor(3, 40, 20, seed=2, device=device)
    c = mygemm.matmul(a, b)
    assert c.device == a.device and c.shape == (2, 3, 33, 20)
    check(c, a, b)
    check(mygemm.matmul(a[0, 0], b[0, :, 0])[:, None], a[0, 0], b[0, :, :1])


@everywhere
def test_products_of_float32_beside_bfloat16(device):
    a, b = tensor(33, 40, device=device), tensor(40, 20, seed=2, device=device).bfloat16()
    for call in mygemm.gemm, mygemm.matmul:
        c, transposed = call(a, b), call(b.T, a.T)
        assert c.dtype == transposed.dtype == torch.float32 and c.device == a.device
        check(c, a, b.float())
        check(transposed, b.T.float(), a.T)


@everywhere
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_grouped_products(index, dtype, device):
    x, weights, dy = (tensor(*shape, device=device).to(getattr(torch, dtype))
                      for shape in ((300, 64), (5, 48, 64), (300, 48)))
    ends = torch.tensor([30, 30, 31, 200, 290], dtype=getattr(torch, index), device=device)
    begins = [0, *ends.tolist()[:-1]]

    def is_close(got, a, b):
        exact, error = (x.double() @ y.double() for x, y in ((a, b), (a.abs(), b.abs())))
        allowed = 1e-5 * error + torch.finfo(got.dtype).eps * exact.abs()
        assert ((got.double() - exact).abs() <= allowed).all()
    y = mygemm.grouped_matmul(x, weights.transpose(1, 2), ends)
    transposed = mygemm.grouped_matmul(weights, x.T, ends, dtype=torch.float32)
    dw = mygemm.grouped_matmul(dy.T, x, ends)
    assert y.dtype == dw.dtype == x.dtype and y.device == dw.device == x.device
    for i, (begin, end) in enumerate(zip(begins, ends.tolist())):
        is_close(y[begin:end], x[begin:end], weights[i].T)
        is_close(transposed[:, begin:end], weights[i], x[begin:end].T)
        is_close(dw[i], dy[begin:end].T, x[begin:end])


@everywhere
def test_softmax_along_another_axis(device):
    x = tensor(5, 60, 7, device=device)
    y = mygemm.softmax(x, axis=1)
    assert y.device == x.device and y.is_contiguous()
    expected = to_numpy(torch.softmax(x.double(), 1))
    check_softmax(to_numpy(y).astype(np.float64), expected, "float32")


@everywhere
def test_empty(device):
    a, b = torch.empty(0, 5, device=device), torch.empty(5, 3, device=device)
    assert mygemm.sgemm(a, b).shape == (0, 3)
    assert mygemm.sgemm(b[:0].T.contiguous(), b[:0]).eq(0).all()
    assert mygemm.softmax(a).shape == (0, 5)
    assert mygemm.transpose(a).shape == (5, 0)


@everywhere
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(5,), (3, 4, 33), (7, 5000), (2, 100_000)])
def test_softmax_and_its_gradient(shape, dtype, log, device):
    x = 2 * tensor(*shape, device=device).to(getattr(torch, dtype))
    reference = torch.log_softmax if log else torch.softmax
    wide = x.double().requires_grad_()
    expected = reference(0.5 * wide, dim=-1)
    y = mygemm.softmax(x, log=log, scale=0.5)
    assert y.dtype == x.dtype and y.device == x.device
    check_softmax(to_numpy(y.double()), to_numpy(expected), dtype)
    assert mygemm.softmax(x, log=log, dtype=torch.float32).dtype == torch.float32

    dy = tensor(*shape, seed=2, device=device)
    gradient, = torch.autograd.grad(expected, wide, dy.double())
    dx = mygemm.softmax_backward(expected.detach().float(), dy, log=log, scale=0.5)
    assert (dx - gradient).abs().max() <= 1e-4 * gradient.abs().max() + 1e-6
    in_place = x.clone()
    assert mygemm.softmax(in_place, log=log, scale=0.5, out=in_place) is in_place
    assert torch.equal(in_place, y)


@everywhere
@pytest.mark.parametrize("dtype", ["uint8", "bool", "bfloat16", "float32", "int64", "complex128"])
def test_transpose(dtype, device):
    x = (4 * tensor(3, 70, 33, device=device)).to(getattr(torch, dtype))
    assert torch.equal(mygemm.transpose(x), x.transpose(1, 2))
    assert torch.equal(mygemm.transpose(x[0, 1:, 2:]), x[0, 1:, 2:].T)
    square = x[:, :33].contiguous()
    expected = square.transpose(1, 2).clone()
    assert torch.equal(mygemm.transpose(square, out=square), expected)
    rectangle = x[0].clone()
    assert torch.equal(mygemm.transpose(rectangle, out=rectangle.view(33, 70)), x[0].T)


# ---- autograd ------------------------------------------------------------------------------------

@everywhere
def test_tensors_that_require_grad_are_refused(device):
    a = tensor(4, 4, device=device)
    b = tensor(4, 4, seed=2, device=device).requires_grad_()
    for call in (lambda: mygemm.sgemm(a, b), lambda: mygemm.softmax(b),
                 lambda: mygemm.transpose(b)):
        with pytest.raises(ValueError, match=r"requires grad.*\.detach\(\)"):
            call()
    check(mygemm.sgemm(a, b.detach()), a, b)
    with torch.no_grad():
        check(mygemm.sgemm(a, b), a, b)
    with torch.inference_mode():
        check(mygemm.sgemm(a, b, out=torch.empty_like(a)), a, b)


@everywhere
def test_autograd_notices_what_is_overwritten(device):
    x = tensor(3, 5, device=device).requires_grad_()
    y = x.exp()
    mygemm.softmax(y.detach(), out=y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@everywhere
def test_the_differentiable_softmax_of_the_examples(device):
    softmax = runpy.run_path(str(EXAMPLES / "torch_autograd.py"))["Softmax"]
    x = tensor(6, 50, device=device).requires_grad_()
    weights = tensor(6, 50, seed=2, device=device)
    ours, = torch.autograd.grad((softmax.apply(x, 0.5) * weights).sum(), x)
    wide = x.detach().double().requires_grad_()
    theirs, = torch.autograd.grad((torch.softmax(0.5 * wide, -1) * weights).sum(), wide)
    assert (ours - theirs).abs().max() <= 1e-6


# ---- refusals ------------------------------------------------------------------------------------

@everywhere
def test_refusals(device):
    x = tensor(4, 6, device=device)
    with pytest.raises(TypeError, match="a has dtype float64; sgemm takes float32"):
        mygemm.sgemm(x.double(), x, transb=True)
    with pytest.raises(ValueError, match=r"a has shape \(4, 3\) and strides \(6, 2\)"):
        mygemm.sgemm(x[:, ::2], x[:3])
    with pytest.raises(ValueError, match=r"out has shape \(4, 4\) and strides \(0, 1\)"):
        mygemm.sgemm(x, x, transb=True, out=torch.zeros(1, 4, device=device).expand(4, 4))
    with pytest.raises(mygemm.Error, match="C overlaps"):
        mygemm.sgemm(x, x[:, :4], transa=True, out=x.view(-1)[:24].view(6, 4))
    with pytest.raises(TypeError, match="layout torch.sparse_coo"):
        mygemm.transpose(x.to_sparse())
    with pytest.raises(ValueError, match=r"resolve_conj\(\)"):
        mygemm.transpose(x.to(torch.complex64).conj())
    with pytest.raises(ValueError, match="x is on device meta"):
        mygemm.softmax(x.to("meta"))


@needs_gpu
def test_host_and_device_are_not_mixed():
    x = tensor(4, 4)
    for host in x.cpu(), x.cpu().numpy(), DlpackArray(x.cpu().numpy()):
        with pytest.raises(ValueError, match="a is in CUDA device 0 and b in host memory"):
            mygemm.sgemm(x, host)
        with pytest.raises(ValueError, match="x is in CUDA device 0 and out in host memory"):
            mygemm.softmax(x, out=host)


def test_host_tensors_and_numpy_arrays_are_mixed():
    a, b = tensor(4, 6, device="cpu"), random_matrix(6, 3)
    c = mygemm.sgemm(a, b)
    assert isinstance(c, torch.Tensor)
    check_product(c.numpy(), a.numpy(), b)
    check_product(mygemm.sgemm(b.T, a.T), b.T, a.numpy().T)


# ---- streams, graphs, devices --------------------------------------------------------------------

@needs_gpu
def test_calls_are_enqueued_on_the_current_stream():
    a, b = torch.empty(300, 200, device="cuda"), tensor(200, 100)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for delay, value in (1, 0), (DELAY, 1):  # first to load kernels and to fill memory pools
            side.synchronize()
            torch.cuda._sleep(delay)
            a.fill_(value)
            c, y, t = mygemm.sgemm(a, b), mygemm.softmax(a), mygemm.transpose(a)
    assert not side.query(), "the calls waited for the device"
    side.synchronize()
    check(c, torch.ones(300, 200), b)
    assert torch.allclose(y, torch.full_like(y, 1 / 200)) and t.eq(1).all()


class Interface:
    """A tensor behind the CUDA array interface only, produced on a stream."""

    def __init__(self, x, stream):
        self.__cuda_array_interface__ = {**x.__cuda_array_interface__, "version": 3,
                                         "stream": stream}


class Dlpack:
    """A tensor behind DLPack only."""

    def __init__(self, x):
        self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__


@needs_gpu
def test_a_stream_that_the_cuda_array_interface_names_is_waited_for():
    producer = torch.cuda.Stream()
    a, identity = torch.zeros(128, 128, device="cuda"), torch.eye(128, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(producer):
        torch.cuda._sleep(DELAY)
        a.fill_(3)
    out = torch.empty_like(a)
    mygemm.sgemm(Interface(a, producer.cuda_stream), identity, out=out)
    torch.cuda.current_stream().synchronize()
    assert out.eq(3).all()


@needs_gpu
def test_producers_of_dlpack_are_told_the_stream_of_the_call():
    producer, other = torch.cuda.Stream(), torch.cuda.Stream()
    a, out = torch.zeros(128, 128, device="cuda"), torch.zeros(128, 128, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(producer):
        torch.cuda._sleep(DELAY)
        a.fill_(3)
        mygemm.transpose(Dlpack(a), out=Interface(out, other.cuda_stream))
    other.synchronize()
    assert out.eq(3).all()


@needs_gpu
def test_protocols_alone_run_on_their_producers_stream():
    producer = torch.cuda.Stream()
    x, out = torch.zeros(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(producer):
        torch.cuda._sleep(DELAY)
        x.fill_(3)
    mygemm.transpose(Interface(x, producer.cuda_stream), out=Interface(out, 1))
    torch.cuda.default_stream().synchronize()  # out's stream waits for the call
    assert out.eq(3).all()


@needs_gpu
def test_graph_capture():
    a, b = tensor(64, 30_000), tensor(30_000, 64, seed=2)  # deep enough to want a workspace
    x = tensor(64, 64)

    def work():
        c = mygemm.sgemm(a, b)
        y = mygemm.softmax(c, scale=1e-2)
        return c, y, mygemm.transpose(y), mygemm.sgemm(x, y, transa=True)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = work()
    for seed in 3, 4:
        a.copy_(tensor(64, 30_000, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        check(captured[0], a, b)
        for ours, again in zip(captured, work()):
            assert torch.equal(ours, again)


@needs_gpu
def test_graph_of_grouped_products_serves_all_ends():
    x, weights = tensor(300, 64), tensor(4, 64, 48, seed=2)
    ends = torch.tensor([10, 20, 30, 300], device="cuda")
    mygemm.grouped_matmul(x, weights, ends)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = mygemm.grouped_matmul(x, weights, ends)
    for numbers in (0, 299, 299, 300), (100, 150, 150, 300):
        ends.copy_(torch.tensor(numbers))
        graph.replay()
        torch.cuda.synchronize()
        for i, (begin, end) in enumerate(zip((0, *numbers), numbers)):
            check(y[begin:end], x[begin:end], weights[i])


@needs_gpu
def test_workspaces_of_concurrent_streams_are_distinct():
    a, b = tensor(64, 30_000), tensor(30_000, 64, seed=2)
    expected = mygemm.sgemm(a, b)
    streams = [torch.cuda.Stream() for _ in range(4)]
    results = []
    torch.cuda.synchronize()
    for _ in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(mygemm.sgemm(a, b))
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)


@pytest.mark.skipif(not HAS_GPU or torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_devices():
    first, second = (tensor(40, 40, device=f"cuda:{i}") for i in range(2))
    with torch.cuda.device(0):
        c = mygemm.sgemm(second, second)
        assert torch.cuda.current_device() == 0 and c.device == second.device
        check(c, second, second)
        check(mygemm.sgemm(first, first), first, first)
        with pytest.raises(ValueError, match="a is in CUDA device 0 and b in CUDA device 1"):
            mygemm.sgemm(first, second)
        with pytest.raises(mygemm.Error, match="handle belongs to CUDA device 1, but device 0"):
            mygemm.transpose(Interface(second, 1), out=Interface(torch.empty_like(second), 1))
