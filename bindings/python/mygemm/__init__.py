"""Matrix products, softmax, cross entropy, transposes by libmygemm, for NumPy, PyTorch, CuPy.

    c = mygemm.sgemm(a, b)            # float32, two or three dimensions, any BLAS layout
    c = mygemm.matmul(a, b)           # as numpy.matmul, also of float16 and bfloat16
    y = mygemm.gemm(x, w, transb=True, bias=bias, activation="gelu")   # a linear layer
    y = mygemm.grouped_matmul(x, experts, ends)   # rows of x by the expert that they belong to
    y = mygemm.softmax(x)             # float32, float16, bfloat16, along any axis
    loss = mygemm.cross_entropy(x, classes, dx=x)   # and its gradient, in place
    t = mygemm.transpose(x)           # elements of 1, 2, 4, 8 or 16 bytes

NumPy arrays and other arrays in host memory are worked on by the processor. Arrays in the memory
of a CUDA device are worked on there, on the current stream of their library, and calls return
before the work is done. Nothing is copied: an array that BLAS cannot describe is refused.
"""
from ._cross_entropy import cross_entropy
from ._errors import Error
from ._explain import explain
from ._gemm import gemm, sgemm
from ._grouped import grouped_matmul
from ._handles import backend
from ._library import version
from ._matmul import matmul
from ._softmax import softmax, softmax_backward
from ._transpose import transpose

__version__ = version()

__all__ = ["Error", "__version__", "backend", "cross_entropy", "explain", "gemm",
           "grouped_matmul", "matmul", "sgemm", "softmax", "softmax_backward", "transpose",
           "version"]
