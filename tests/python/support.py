"""Test support: references in float64 with the error that float32 may have, and layouts.

Works on NumPy arrays; the tests of other libraries copy their results to NumPy to compare.
"""
import numpy as np

FP32_EPS = 2.0**-24
# A softmax's value is off by a few roundings of its exponent's argument and of itself.
SOFTMAX_ERROR = 40 * FP32_EPS
ROUNDING = {"float32": FP32_EPS, "float16": 2.0**-11, "bfloat16": 2.0**-8}
SMALLEST = {"float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}


def random_matrix(*shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def check_product(c, a, b, alpha=1.0, beta=0.0, before=None):
    """c must be alpha a b + beta before, as exactly as a chain of float32 multiply-adds."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    expected, size = alpha * (a @ b), abs(alpha) * (abs(a) @ abs(b))
    if beta != 0:
        expected, size = expected + beta * before, size + abs(beta * before.astype(np.float64))
    assert c.shape == expected.shape
    assert str(c.dtype) == "float32"
    assert np.all(abs(c - expected) <= (a.shape[-1] + 3) * FP32_EPS * size)


def check_rounded(got, exact, magnitude):
    """Each element is the exact one, rounded once, give or take the error of float32 sums."""
    error = 1e-5 * magnitude
    low, high = ((exact + e).astype(got.dtype).astype(np.float64) for e in (-error, error))
    assert np.all((low <= got.astype(np.float64)) & (got.astype(np.float64) <= high))


def softmax_of(x, scale=1.0, log=False):
    s = scale * x.astype(np.float64)
    s = s - s.max(axis=-1, keepdims=True)
    total = np.exp(s).sum(axis=-1, keepdims=True)
    return s - np.log(total) if log else np.exp(s) / total


def check_softmax(y, expected, dtype):
    """y, in float64, must be the expected values rounded to dtype."""
    assert y.shape == expected.shape
    allowed = (SOFTMAX_ERROR + ROUNDING[dtype]) * np.maximum(abs(expected), 1) \
        if expected.min(initial=0) < 0 else (SOFTMAX_ERROR + ROUNDING[dtype]) * expected
    assert np.all(abs(y - expected) <= allowed + SMALLEST[dtype])


def memory_of(view):
    """The elements around a view in the order in which they lie, and the view's place in bytes."""
    around = view
    while isinstance(around.base, np.ndarray):
        around = around.base
    offset = view.ctypes.data - around.ctypes.data if view.size else 0
    return around.ravel(order="K"), offset


def layouts(x):
    """{name: an array equal to x} with every order and leading dimension that BLAS knows."""
    rows, cols = x.shape
    wide = np.full((rows + 2, cols + 5), np.nan, x.dtype)
    tall = np.full((rows + 3, cols + 4), np.nan, x.dtype, order="F")
    sparse = np.full((2 * rows, cols + 1), np.nan, x.dtype)
    views = {"C": np.ascontiguousarray(x), "F": np.asfortranarray(x),
             "block of C": wide[1:rows + 1, 2:cols + 2], "block of F": tall[2:rows + 2, 3:cols + 3],
             "every other row": sparse[::2, 1:], "transposed": np.empty_like(x.T, order="C").T}
    for view in views.values():
        view[...] = x
    return views
