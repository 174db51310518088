"""Programs of PyTorch and CuPy users in FP32, independent of mygemm: one task for each process,
its result as a line of JSON.

Usage: torch_client.py mm | bmm | linear | sixteen_bit | rows | two_gpus | training | graph | potrf
                       | getrf | geqrf | cupy
"""
import json
import sys

import torch


def random(*shape, seed=1):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(*shape, device="cuda", generator=generator)


def worst_error(result, a, b):
    """max |C - C_ref| / (|A| |B|), with FP64 as the reference."""
    a, b = a.double(), b.double()
    return ((result.double() - a @ b).abs() / (a.abs() @ b.abs())).max().item()


def mm():
    errors = []
    for m, n, k in (64, 64, 64), (1000, 70, 333), (2048, 2048, 2048), (17, 4096, 4096):
        a, b = random(m, k), random(k, n, seed=2)
        errors.append(worst_error(a @ b, a, b))
        errors.append(worst_error(a @ b.T.contiguous().T, a, b))
    return {"errors": errors}


def bmm():
    a, b = random(12, 65, 130), random(12, 130, 33, seed=2)
    shared = b[:1].expand(12, -1, -1)
    return {"errors": [worst_error(torch.bmm(a, b), a, b),
                       worst_error(torch.bmm(a, shared), a, shared)]}


def linear():
    """Layers with biases, alone and with an activation in the product's epilogue."""
    errors = []
    for rows, inputs, outputs in (64, 64, 64), (1000, 333, 70), (2048, 2048, 2048):
        x, w, bias = random(rows, inputs), random(outputs, inputs, seed=2), random(outputs, seed=3)
        y = torch.nn.functional.linear(x, w, bias)
        errors.append(worst_error(y - bias, x, w.T))
        relu = torch._addmm_activation(bias, x, w.T)
        errors.append((relu - y.clamp(min=0)).abs().max().item() / y.abs().max().item())
    return {"errors": errors}


def sixteen_bit():
    """Products, batches and layers in 16 bits, and products that end in FP32."""
    errors = []
    for kind in torch.bfloat16, torch.float16:
        a, b = random(700, 512).to(kind), random(512, 640, seed=2).to(kind)
        bias = random(640, seed=3).to(kind)
        errors += [worst_error(a @ b, a, b),
                   worst_error(torch.mm(a, b, out_dtype=torch.float32), a, b),
                   worst_error(torch.nn.functional.linear(a, b.T, bias) - bias, a, b)]
        x, y = random(12, 65, 130).to(kind), random(12, 130, 33, seed=2).to(kind)
        errors.append(worst_error(torch.bmm(x, y), x, y))
    return {"errors": errors}


def rows():
    """Whether a row has the same bits alone, among few and among many."""
    same = []
    for kind in torch.bfloat16, torch.float32:
        x, w = random(3000, 2048).to(kind), random(2048, 1536, seed=2).to(kind)
        whole = x @ w
        same += [bool((x[first:first + count] @ w == whole[first:first + count]).all())
                 for first, count in ((0, 1), (17, 1), (5, 16), (100, 129), (0, 1000))]
    return {"same": same}


def two_gpus():
    """Products and layers on two GPUs, in turns and from several threads, whichever GPU is current,
    on streams of their GPUs; and whether their bits are those of the first."""
    import threading
    a, b, bias = random(700, 512), random(512, 640, seed=2), random(640, seed=3)
    first = [(a @ b).cpu(), torch.nn.functional.linear(a, b.T, bias).cpu()]
    errors = [worst_error(a @ b, a, b)]
    same = []

    def multiply(device):
        x, y, z = (t.to(device) for t in (a, b, bias))
        stream = torch.cuda.Stream(device)
        with torch.cuda.stream(stream):
            for _ in range(10):
                results = [x @ y, torch.nn.functional.linear(x, y.T, z)]
        stream.synchronize()
        same.extend(bool((r.cpu() == f).all()) for r, f in zip(results, first, strict=True))

    for current in 0, 1:
        torch.cuda.set_device(current)
        for device in "cuda:0", "cuda:1":
            multiply(device)
    threads = [threading.Thread(target=multiply, args=(f"cuda:{i % 2}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"errors": errors, "same": same}


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.Tanh(),
                               torch.nn.Linear(512, 512), torch.nn.Tanh(),
                               torch.nn.Linear(512, 10)).cuda()


def training():
    """Losses of a small network that learns a fixed function of its inputs."""
    model = network()
    inputs, teacher = random(256, 784), random(784, 10, seed=4)
    labels = (inputs.double() @ teacher.double()).argmax(dim=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses}


def graph():
    """Products captured into a CUDA graph and replayed on other values."""
    a, b = random(512, 300), random(300, 1000, seed=2)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a @ b  # warm-up, as PyTorch asks for
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        c = a @ b
    a.copy_(random(512, 300, seed=5))
    captured.replay()
    return {"errors": [worst_error(c, a, b)]}


def factored(factor, residual, size=1500):
    """The residual of a factorisation by cuSOLVER, relative to the matrix."""
    torch.backends.cuda.preferred_linalg_library("cusolver")
    a = random(size, size)
    matrix = a @ a.T + size * torch.eye(size, device="cuda")
    parts = factor(matrix)
    wrong = (residual(*parts) - matrix.double()).abs().max() / matrix.abs().max()
    return {"residual": wrong.item()}


def potrf():
    return factored(lambda x: [torch.linalg.cholesky(x).double()], lambda low: low @ low.T,
                    size=8192)  # below, cuSOLVER uses kernels of its own


def getrf():
    return factored(lambda x: [part.double() for part in torch.linalg.lu(x)],
                    lambda p, low, up: p @ low @ up)


def geqrf():
    return factored(lambda x: [part.double() for part in torch.linalg.qr(x)], lambda q, r: q @ r)


def cupy():
    import cupy as cp  # only this task needs it
    values = cp.random.default_rng(1)
    a = values.standard_normal((300, 400), dtype=cp.float32)
    b = values.standard_normal((400, 500), dtype=cp.float32)
    exact = a.astype(cp.float64) @ b.astype(cp.float64)
    bound = abs(a).astype(cp.float64) @ abs(b).astype(cp.float64)
    return {"errors": [float((abs(a @ b - exact) / bound).max())]}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
