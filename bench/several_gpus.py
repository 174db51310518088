"""NVIDIA's libraries of one process for several GPUs, through ctypes and NumPy: products in host
memory by cublasXt, Cholesky factorisations by cuSOLVERMg, and products by cuBLAS itself with
operands on another device. Matrices are FP32 and column-major (NumPy's order "F").

A library is looked for where the loader looks, then among the packages of this Python. Functions
that fail raise a RuntimeError with their name and status. Used by bench/scale_out.py and by the
tests of several GPUs.
"""
import ctypes
import pathlib
import sys
from ctypes import byref, c_float, c_int, c_int64, c_size_t, c_void_p

import numpy as np

FP32 = 0  # CUDA_R_32F
LOWER = 0  # CUBLAS_FILL_MODE_LOWER
DEVICE_TO_HOST, HOST_TO_DEVICE = 2, 1
PEERS_KNOW_EACH_OTHER = 704  # cudaErrorPeerAccessAlreadyEnabled
MAPPING_OF_COLUMNS = 0  # CUDALIBMG_GRID_MAPPING_COL_MAJOR
BLOCK = 256  # columns of a block that cuSOLVERMg deals out to the devices


def in_packages(name):
    """Files of that name in the packages of this Python."""
    return [file for path in sys.path for pattern in ("*/lib", "*/*/lib")
            for file in sorted((pathlib.Path(path) / "nvidia").glob(f"{pattern}/{name}"))]


class Library:
    """A library's functions; call() checks their status."""

    def __init__(self, name):
        for path in [name, *in_packages(name)]:
            try:
                self.functions = ctypes.CDLL(str(path))
                return
            except OSError as error:
                reason = error
        raise RuntimeError(f"{name} cannot be loaded: {reason}")

    def call(self, name, *arguments):
        status = getattr(self.functions, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} gave status {status}")


class Cuda(Library):
    """Memory of the devices and of the host."""

    def __init__(self):
        super().__init__("libcudart.so.13")

    def device_count(self):
        count = c_int()
        status = self.functions.cudaGetDeviceCount(byref(count))
        return count.value if status == 0 else 0

    def use(self, device):
        self.call("cudaSetDevice", device)

    def synchronize(self, devices):
        for device in devices:
            self.use(device)
            self.call("cudaDeviceSynchronize")

    def can_reach(self, device, peer):
        answer = c_int()
        self.call("cudaDeviceCanAccessPeer", byref(answer), device, peer)
        return bool(answer.value)

    def reach(self, device, peer):
        """Lets a device read and write the memory of another."""
        self.use(device)
        status = self.functions.cudaDeviceEnablePeerAccess(peer, 0)
        if status == PEERS_KNOW_EACH_OTHER:
            self.functions.cudaGetLastError()
        elif status != 0:
            raise RuntimeError(f"cudaDeviceEnablePeerAccess gave status {status}")

    def allocate(self, device, count):
        """Memory for FP32 elements."""
        pointer = c_void_p()
        self.use(device)
        self.call("cudaMalloc", byref(pointer), c_size_t(4 * count))
        return pointer

    def upload(self, array, device):
        pointer = self.allocate(device, array.size)
        self.write(pointer, array)
        return pointer

    def write(self, pointer, array):
        assert array.dtype == np.float32 and array.flags.f_contiguous
        self.call("cudaMemcpy", pointer, c_void_p(array.ctypes.data), c_size_t(array.nbytes),
                  HOST_TO_DEVICE)

    def read(self, pointer, *shape):
        array = np.empty(shape, np.float32, order="F")
        self.call("cudaMemcpy", c_void_p(array.ctypes.data), pointer, c_size_t(array.nbytes),
                  DEVICE_TO_HOST)
        return array

    def pinned(self, rows, columns):
        """An array in memory of the host that all devices reach."""
        pointer = c_void_p()
        portable = 1
        self.call("cudaHostAlloc", byref(pointer), c_size_t(4 * rows * columns), portable)
        elements = (c_float * (rows * columns)).from_address(pointer.value)
        return np.frombuffer(elements, np.float32).reshape((rows, columns), order="F")


class Cublas(Library):
    def __init__(self):
        super().__init__("libcublas.so.13")

    def create(self):
        """A handle of the device that is current."""
        handle = c_void_p()
        self.call("cublasCreate_v2", byref(handle))
        return handle

    def multiply(self, handle, m, n, k, a, b, c):
        """The status of C = A B."""
        return self.functions.cublasSgemm_v2(handle, 0, 0, m, n, k, byref(c_float(1)), a, m, b, k,
                                             byref(c_float(0)), c, m)


class HostProducts:
    """cublasXt: C = A B in host memory by several GPUs."""

    def __init__(self, devices, tile):
        self.library, self.handle = Cublas(), c_void_p()
        self.library.call("cublasXtCreate", byref(self.handle))
        self.library.call("cublasXtDeviceSelect", self.handle, len(devices),
                          (c_int * len(devices))(*devices))
        self.library.call("cublasXtSetBlockDim", self.handle, tile)

    def multiply(self, a, b, c):
        m, k, n = *a.shape, b.shape[1]
        pointer = [c_void_p(array.ctypes.data) for array in (a, b, c)]
        self.library.call("cublasXtSgemm", self.handle, 0, 0, c_size_t(m), c_size_t(n),
                          c_size_t(k), byref(c_float(1)), pointer[0], c_size_t(m), pointer[1],
                          c_size_t(k), byref(c_float(0)), pointer[2], c_size_t(m))

    def close(self):
        self.library.call("cublasXtDestroy", self.handle)


class Cholesky:
    """cuSOLVERMg: the lower factor of an n x n matrix whose blocks of columns are dealt out to the
    devices in turn. n is a multiple of the block times the devices."""

    def __init__(self, n, devices):
        self.cuda, self.library = Cuda(), Library("libcusolverMg.so.12")
        self.n, self.devices = n, devices
        assert n % (BLOCK * len(devices)) == 0
        for device in devices:
            for peer in devices:
                if device != peer and self.cuda.can_reach(device, peer):
                    self.cuda.reach(device, peer)
        self.handle, grid, self.descriptor = c_void_p(), c_void_p(), c_void_p()
        numbers = (c_int * len(devices))(*devices)
        call = self.library.call
        call("cusolverMgCreate", byref(self.handle))
        call("cusolverMgDeviceSelect", self.handle, len(devices), numbers)
        call("cusolverMgCreateDeviceGrid", byref(grid), 1, len(devices), numbers,
             MAPPING_OF_COLUMNS)
        call("cusolverMgCreateMatrixDesc", byref(self.descriptor), c_int64(n), c_int64(n),
             c_int64(n), c_int64(BLOCK), FP32, grid)
        self.parts = self.on_each(n * n // len(devices))
        size = c_int64()
        call("cusolverMgPotrf_bufferSize", self.handle, LOWER, n, self.parts, 1, 1,
             self.descriptor, FP32, byref(size))
        self.size, self.work = size, self.on_each(size.value)

    def on_each(self, count):
        pointers = [self.cuda.allocate(device, count).value for device in self.devices]
        return (c_void_p * len(pointers))(*pointers)

    def blocks(self):
        """(columns, pointer) of each block."""
        for number, first in enumerate(range(0, self.n, BLOCK)):
            device, before = number % len(self.devices), number // len(self.devices)
            yield (slice(first, first + BLOCK),
                   c_void_p(self.parts[device] + 4 * before * BLOCK * self.n))

    def load(self, matrix):
        for columns, pointer in self.blocks():
            self.cuda.write(pointer, matrix[:, columns])

    def factorise(self):
        """Returns when all devices have finished."""
        info = c_int()
        self.cuda.synchronize(self.devices)
        self.library.call("cusolverMgPotrf", self.handle, LOWER, self.n, self.parts, 1, 1,
                          self.descriptor, FP32, self.work, self.size, byref(info))
        self.cuda.synchronize(self.devices)
        if info.value != 0:
            raise RuntimeError(f"cusolverMgPotrf found minor {info.value} not positive definite")

    def factor(self):
        """The lower triangle, zeros above."""
        whole = [self.cuda.read(pointer, self.n, BLOCK) for _, pointer in self.blocks()]
        return np.tril(np.concatenate(whole, axis=1))
