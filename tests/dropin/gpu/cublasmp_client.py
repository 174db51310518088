"""A product of matrices dealt out block-cyclically to the GPUs of a job, by NVIDIA's cuBLASMp: one
process a GPU, numbered as torchrun does, its errors as a line of JSON. Exits with 77 where cuBLASMp
or an NCCL that is recent enough for it is missing.

Usage: cublasmp_client.py FOLDER, an empty folder that all processes see.
"""
import ctypes
import json
import os
import pathlib
import sys
import time
from ctypes import byref, c_float, c_int64, c_size_t, c_void_p

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
import several_gpus  # noqa: E402

SKIPPED = 77
M, N, K, BLOCK = 1536, 1280, 2048, 128
COLUMNS_FIRST = 0  # CUBLASMP_GRID_LAYOUT_COL_MAJOR
COMPUTE_32F = 68  # CUBLAS_COMPUTE_32F
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
# cuBLASMp finds those that are loaded already. Without NVSHMEM it goes on (0.7), or it has no use
# for it (from 0.8 on).
NEEDED = ["libcublasLt.so.13", "libcublas.so.13", "libnccl.so.2"]


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def load():
    for name in NEEDED:
        several_gpus.Library(name)
    try:
        several_gpus.Library("libnvshmem_host.so.3")
    except RuntimeError:
        pass
    try:
        return several_gpus.Library("libcublasmp.so.0")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        sys.exit(SKIPPED)


def communicator(folder):
    """NCCL's communicator; the first process tells the others its identification by a file."""
    nccl, unique = several_gpus.Library("libnccl.so.2"), UniqueId()
    file = pathlib.Path(folder) / "nccl"
    if RANK == 0:
        nccl.call("ncclGetUniqueId", byref(unique))
        file.with_suffix(".part").write_bytes(bytes(unique))
        file.with_suffix(".part").rename(file)
    while not file.exists():
        time.sleep(0.01)
    unique = UniqueId.from_buffer_copy(file.read_bytes())
    found = c_void_p()
    nccl.call("ncclCommInitRank", byref(found), RANKS, unique, RANK)
    return found


def own_columns(count):
    """The columns of a matrix that lie on this GPU, in blocks dealt out in turn."""
    blocks = range(RANK * BLOCK, count, RANKS * BLOCK)
    return np.concatenate([np.arange(first, min(first + BLOCK, count)) for first in blocks])


def random(rows, columns, seed):
    return np.random.default_rng(seed).standard_normal((columns, rows), dtype=np.float32).T


def main():
    mp, cuda = load(), several_gpus.Cuda()
    cuda.use(RANK)
    stream, handle, grid = c_void_p(), c_void_p(), c_void_p()
    cuda.call("cudaStreamCreate", byref(stream))
    comm = communicator(sys.argv[1])
    mp.call("cublasMpCreate", byref(handle), stream)
    mp.call("cublasMpGridCreate", c_int64(1), c_int64(RANKS), COLUMNS_FIRST, comm, byref(grid))
    a, b = random(M, K, 1), random(K, N, 2)
    mine = own_columns(N)
    operands = []
    for matrix, rows, columns in ((a, M, K), (b, K, N), (np.zeros((M, N), np.float32), M, N)):
        part = np.asfortranarray(matrix[:, own_columns(columns)])
        descriptor = c_void_p()
        mp.call("cublasMpMatrixDescriptorCreate", c_int64(rows), c_int64(columns), c_int64(BLOCK),
                c_int64(BLOCK), c_int64(0), c_int64(0), c_int64(rows), several_gpus.FP32, grid,
                byref(descriptor))
        operands.append((cuda.upload(part, RANK), c_int64(1), c_int64(1), descriptor))
    sizes = c_size_t(), c_size_t()
    arguments = [handle, 0, 0, c_int64(M), c_int64(N), c_int64(K), byref(c_float(1)), *operands[0],
                 *operands[1], byref(c_float(0)), *operands[2], COMPUTE_32F]
    mp.call("cublasMpGemm_bufferSize", *arguments, byref(sizes[0]), byref(sizes[1]))
    on_device = cuda.allocate(RANK, sizes[0].value // 4 + 1)
    on_host = ctypes.create_string_buffer(sizes[1].value + 1)
    mp.call("cublasMpGemm", *arguments, on_device, sizes[0], on_host, sizes[1])
    cuda.synchronize([RANK])
    c = cuda.read(operands[2][0], M, len(mine))
    exact = a.astype(np.float64) @ b[:, mine]
    bound = np.abs(a).astype(np.float64) @ np.abs(b[:, mine])
    print(json.dumps({"errors": [float((np.abs(c - exact) / bound).max())]}), flush=True)
    mp.call("cublasMpDestroy", handle)


if __name__ == "__main__":
    main()
