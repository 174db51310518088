"""Programs of one process and several GPUs without PyTorch, independent of mygemm: one task for
each process, its result as a line of JSON. The libraries are called as bench/several_gpus.py calls
them.

Usage: several_gpus_client.py count | peer | other_current | host_products | cholesky
       several_gpus_client.py dealt libmygemm_blas.so CALLS
"""
import ctypes
import hashlib
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import several_gpus  # noqa: E402

SKIPPED = 77
# m, n, k of products with operands on another device: by different kernels.
SHAPES = [(700, 640, 512), (2048, 2048, 2048), (33, 17, 65), (1, 3000, 1000), (1537, 515, 8200)]


def random(rows, columns, seed=1):
    values = np.random.default_rng(seed).standard_normal((columns, rows), dtype=np.float32)
    return values.T


def worst_error(c, a, b):
    """max |C - C_ref| / (|A| |B|), with FP64 as the reference."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float((np.abs(c - a @ b) / (np.abs(a) @ np.abs(b))).max())


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(SKIPPED)


def peers(cuda):
    """Lets devices 0 and 1 reach each other's memory."""
    for device, peer in (0, 1), (1, 0):
        if not cuda.can_reach(device, peer):
            skip("the GPUs do not reach each other's memory")
        cuda.reach(device, peer)


def count(cuda):
    return {"devices": cuda.device_count()}


def peer(cuda):
    """Products on device 0 with A and B, or C, on device 1; whether their bits are those of the
    same product with all three on device 0."""
    peers(cuda)
    cublas = several_gpus.Cublas()
    cuda.use(0)
    handle = cublas.create()
    errors, same = [], []
    for m, n, k in SHAPES:
        a, b = random(m, k), random(k, n, seed=2)
        results = []
        for of_operands, of_c in (0, 0), (1, 0), (0, 1), (1, 1):
            pointers = [cuda.upload(x, of_operands) for x in (a, b)]
            c = cuda.upload(np.full((m, n), np.nan, np.float32, order="F"), of_c)
            cuda.synchronize((0, 1))
            cuda.use(0)
            status = cublas.multiply(handle, m, n, k, *pointers, c)
            assert status == 0, status
            cuda.synchronize((0, 1))
            results.append(cuda.read(c, m, n))
        errors.append(worst_error(results[0], a, b))
        same += [bool((result == results[0]).all()) for result in results[1:]]
    return {"errors": errors, "same": same}


def other_current(cuda):
    """The status and the outcome of a product by a handle of device 0 while device 1 is current:
    whatever cuBLAS makes of it."""
    peers(cuda)
    cublas = several_gpus.Cublas()
    cuda.use(0)
    handle = cublas.create()
    a, b = random(300, 300), random(300, 300, seed=2)
    pointers = [cuda.upload(x, 0) for x in (a, b, np.zeros_like(a))]
    cuda.synchronize((0, 1))
    cuda.use(1)
    status = cublas.multiply(handle, 300, 300, 300, *pointers)
    try:
        cuda.synchronize((0, 1))
        right = worst_error(cuda.read(pointers[2], 300, 300), a, b) < 1e-6
    except RuntimeError as error:
        right = str(error)
    return {"status": status, "right": right}


def host_products(cuda):
    products = several_gpus.HostProducts(range(cuda.device_count()), 512)
    a, b = random(2048, 1500), random(1500, 3000, seed=2)
    c = np.empty((2048, 3000), np.float32, order="F")
    products.multiply(a, b, c)
    return {"errors": [worst_error(c, a, b)]}


def dealt(_cuda):
    """A product by sgemm_ of the drop-in BLAS, time and again: it pays for the start of the other
    GPUs after some. Digests of the results that differ, and the error of rows of the last one."""
    library, calls = ctypes.CDLL(sys.argv[2]), int(sys.argv[3])
    n = 16384
    a, b, c = random(n, n), random(n, n, seed=2), np.empty((n, n), np.float32, order="F")
    extent, one, zero = ctypes.byref(ctypes.c_int(n)), ctypes.c_float(1), ctypes.c_float(0)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    digests = set()
    for call in range(calls):
        library.sgemm_(b"N", b"N", extent, extent, extent, ctypes.byref(one), pointers[0], extent,
                       pointers[1], extent, ctypes.byref(zero), pointers[2], extent)
        if call in (0, calls - 1):
            digests.add(hashlib.sha256(c.T).hexdigest())
    rows = np.random.default_rng(3).choice(n, 16, replace=False)
    return {"digests": sorted(digests), "errors": [worst_error(c[rows], a[rows], b)]}


def cholesky(cuda):
    devices = range(cuda.device_count())
    n = 2048 * len(devices)
    a = random(n, n)
    a = np.asfortranarray(a + a.T)
    a[np.diag_indices(n)] += 4 * n ** 0.5
    factors = several_gpus.Cholesky(n, devices)
    factors.load(a)
    factors.factorise()
    low = factors.factor()
    rows = np.random.default_rng(3).choice(n, 256, replace=False)
    exact = low[rows].astype(np.float64) @ low.T.astype(np.float64)
    return {"residual": float(np.abs(exact - a[rows]).max() / np.abs(a).max())}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](several_gpus.Cuda())))
