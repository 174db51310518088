"""matmul of NumPy arrays: what numpy.matmul gives, for every shape, layout and broadcast."""
import itertools

import numpy as np
import pytest

import mygemm
from support import FP32_EPS, random_matrix


def check(c, a, b):
    """c must be a @ b, as exactly as a chain of float32 multiply-adds."""
    wide = a.astype(np.float64), b.astype(np.float64)
    expected, size = np.matmul(*wide), np.matmul(abs(wide[0]), abs(wide[1]))
    assert c.shape == expected.shape and c.dtype == np.float32
    assert np.all(abs(c - expected) <= (a.shape[-1] + 3) * FP32_EPS * size)


@pytest.mark.parametrize("a, b", [
    ((5, 7), (7, 3)), ((7,), (7, 3)), ((5, 7), (7,)), ((7,), (7,)), ((1,), (1,)),
    ((4, 5, 7), (7, 3)), ((5, 7), (4, 7, 3)), ((4, 5, 7), (4, 7, 3)), ((4, 5, 7), (1, 7, 3)),
    ((2, 4, 5, 7), (2, 4, 7, 3)), ((2, 1, 5, 7), (4, 7, 3)), ((2, 1, 5, 7), (1, 4, 7, 3)),
    ((7,), (2, 4, 7, 3)), ((2, 4, 5, 7), (7,)), ((2, 3, 1, 5, 7), (3, 4, 7, 2)),
    ((0, 7), (7, 3)), ((5, 0), (0, 3)), ((0, 5, 7), (7, 3)), ((3, 5, 0), (3, 0, 2)), ((0,), (0,))])
def test_shapes(a, b):
    a, b = random_matrix(*a), random_matrix(*b, seed=2)
    c = mygemm.matmul(a, b)
    assert c.flags.c_contiguous
    check(c, a, b)
    out = np.full(c.shape, np.nan, np.float32)
    assert mygemm.matmul(a, b, out) is out
    np.testing.assert_array_equal(out, c)


def test_layouts():
    """Views whose matrices BLAS can describe, in every pair, into outputs of every layout."""
    def views(shape, seed):
        whole = random_matrix(*(2 * n for n in shape), seed=seed)
        swapped = random_matrix(*shape[:-2], shape[-1], shape[-2], seed=seed).swapaxes(-1, -2)
        order = random_matrix(shape[1], shape[0], *shape[2:], seed=seed).swapaxes(0, 1)
        part = whole[tuple(slice(1, 1 + n) for n in shape)]
        every_second = whole[(slice(None, None, 2), slice(None, None, -2),
                              *(slice(0, n) for n in shape[2:]))]
        return [swapped, order, part, every_second, np.broadcast_to(part[:, :1], part.shape)]
    for a, b in itertools.product(views((3, 2, 5, 7), 1), views((3, 2, 7, 4), 2)):
        check(mygemm.matmul(a, b), a, b)
    for out in views((3, 2, 5, 4), 3)[:4]:
        around = out
        while around.base is not None:
            around = around.base
        before = around.copy()
        mygemm.matmul(a, b, out=out)
        check(out, a, b)
        assert np.count_nonzero(around != before) <= out.size  # nothing around the output


def test_vectors_with_strides():
    whole = random_matrix(40, 3)
    a, b = whole[:, 1], random_matrix(40, 6)
    check(mygemm.matmul(a, b), a, b)
    check(mygemm.matmul(b.T, a), b.T, a)
    check(mygemm.matmul(a, a), a, a)
    out = np.full((6, 2), np.nan, np.float32)[:, 0]
    check(mygemm.matmul(a, b, out=out), a, b)


@pytest.mark.parametrize("arguments, error, sentence", [
    ((np.zeros((2, 3), "f4"), np.zeros((2, 3), "f4")), ValueError,
     r"a's last axis, 3, must be as long as b's 2"),
    ((np.zeros((2, 4, 5), "f4"), np.zeros((3, 5, 4), "f4")), ValueError, "equal, or one of them 1"),
    ((np.zeros((), "f4"), np.zeros((2, 3), "f4")), ValueError, "a has no dimension"),
    ((np.zeros((2, 3)), np.zeros((3, 2), "f4")), TypeError, "a has dtype float64; matmul takes"),
    ((np.zeros((4, 6), "f4")[::2, ::2], np.zeros((3, 2), "f4")), ValueError,
     "a has shape .* pass a contiguous copy"),
    ((np.zeros((2, 3), "f4"), np.zeros((3, 2), "f4"), np.zeros((2, 3), "f4")), ValueError,
     r"out has shape \(2, 3\); it must be \(2, 2\)")])
def test_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        mygemm.matmul(*arguments)


def test_overlap():
    square = random_matrix(2, 3, 4, 4)
    before = square.copy()
    with pytest.raises(mygemm.Error, match="D overlaps"):
        mygemm.matmul(square[0, 0], square[0, 1], out=square[0, 0])
    with pytest.raises(ValueError, match="out overlaps a"):  # several calls of the library
        mygemm.matmul(square, square[:, :1], out=square)
    np.testing.assert_array_equal(square, before)
