"""softmax and softmax_backward of NumPy arrays: values, layouts, types, what is refused."""
import numpy as np
import pytest

import mygemm
from support import ROUNDING, SMALLEST, check_softmax, random_matrix, softmax_of


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(1,), (7,), (5, 33), (2, 3, 4, 65), (3, 1, 1000), (4, 1)])
def test_values(shape, log, dtype):
    x = 3 * random_matrix(*shape, dtype=dtype)
    for scale in 1.0, -0.25:
        y = mygemm.softmax(x, log=log, scale=scale)
        assert y.dtype == dtype and y.flags.c_contiguous
        check_softmax(y.astype(np.float64), softmax_of(x, scale, log), np.dtype(dtype).name)


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16")])
def test_the_result_may_have_another_type(dtype):
    x = random_matrix(4, 9)
    y = mygemm.softmax(x, dtype=dtype)
    assert y.dtype == np.float16
    check_softmax(y.astype(np.float64), softmax_of(x), "float16")


def test_bfloat16():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = random_matrix(4, 9).astype(bfloat16)
    expected = softmax_of(x.astype(np.float64))
    for y in mygemm.softmax(x), mygemm.softmax(x.astype(np.float32), dtype="bfloat16"):
        assert y.dtype == bfloat16
        check_softmax(y.astype(np.float64), expected, "bfloat16")


def test_views_and_outputs():
    whole = random_matrix(3, 4, 20)
    for x in whole[:, :, 3:15], whole[1], whole[1:2, :, :7], whole[:, 2], whole[::2, 1:2, ::1]:
        expected = softmax_of(x)
        check_softmax(mygemm.softmax(x).astype(np.float64), expected, "float32")
        around = np.full((*x.shape[:-1], x.shape[-1] + 3), np.nan, np.float32)
        out = around[..., 1:-2]
        assert mygemm.softmax(x, out=out) is out
        check_softmax(out.astype(np.float64), expected, "float32")
        assert np.isnan(around).sum() == 3 * expected[..., 0].size


def softmax_along(x, axis, log=False):
    return np.moveaxis(softmax_of(np.moveaxis(x, axis, -1), log=log), -1, axis)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("shape", [(5,), (5, 33), (1, 7), (7, 1), (2, 3, 4, 65), (3, 1, 100)])
def test_every_axis(shape, log):
    """Arrays in C and in Fortran order, of either type, to new arrays, to given ones, in place."""
    for axis in range(-len(shape), len(shape)):
        for dtype, order in [("f4", "C"), ("f4", "F"), ("f2", "C")]:
            if order == "F" and (len(shape) != 2 or axis % 2 == 1):
                continue
            x = np.asarray(3 * random_matrix(*shape, dtype=dtype), order=order)
            expected = softmax_along(x, axis, log)
            before, name = x.copy(), np.dtype(dtype).name
            y = mygemm.softmax(x, axis=axis, log=log)
            assert y.flags.c_contiguous and y.dtype == x.dtype
            np.testing.assert_array_equal(x, before)
            for out in np.empty_like(x), np.empty(shape, "f4"), x:
                assert mygemm.softmax(x, axis=axis, log=log, out=out) is out
                check_softmax(out.astype(np.float64), expected,
                              name if out.dtype == x.dtype else "float32")
            check_softmax(y.astype(np.float64), expected, name)


def test_axis_of_views():
    whole = random_matrix(6, 8, 10)
    for x in whole[1:4, :, 2:7], whole[:, 2:5], whole[::2, ::2], whole.transpose(1, 0, 2)[:, 1:3]:
        check_softmax(mygemm.softmax(x, axis=1).astype(np.float64), softmax_along(x, 1), "float32")
    with pytest.raises(ValueError, match="softmax along axis 1 needs a stride of 1 along it or"):
        mygemm.softmax(whole[:, :, ::2], axis=1)
    for axis in 3, -4:
        with pytest.raises(ValueError, match=f"axis = {axis} is no axis of x"):
            mygemm.softmax(whole, axis=axis)


@pytest.mark.parametrize("log", [False, True])
def test_gradient_along_axes(log):
    y, dy = (random_matrix(4, 6, 5, seed=seed) for seed in (1, 2))
    for axis in 0, 1:
        last = [np.ascontiguousarray(np.moveaxis(x, axis, -1)) for x in (y, dy)]
        expected = np.moveaxis(mygemm.softmax_backward(*last, log=log), -1, axis)
        np.testing.assert_array_equal(mygemm.softmax_backward(y, dy, axis=axis, log=log), expected)
        gradient = dy.copy()
        mygemm.softmax_backward(y, gradient, axis=axis, log=log, out=gradient)
        np.testing.assert_array_equal(gradient, expected)


def test_in_place():
    x = random_matrix(6, 50)
    expected = softmax_of(x)
    assert mygemm.softmax(x, out=x) is x
    check_softmax(x.astype(np.float64), expected, "float32")


def test_empty():
    for shape in (0,), (0, 5), (5, 0), (2, 0, 3):
        for axis in range(len(shape)):
            assert mygemm.softmax(np.zeros(shape, np.float32), axis=axis).shape == shape


def test_nan_and_infinity():
    inf, nan = np.inf, np.nan
    x = np.array([[0, nan], [inf, 0], [-inf, -inf], [-inf, 0]], np.float32)
    y = mygemm.softmax(x)
    assert np.isnan(y[:3]).all() and y[3].tolist() == [0, 1]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_gradient(log, dtype):
    x, dy = random_matrix(6, 40), random_matrix(6, 40, seed=2, dtype=dtype)
    y = softmax_of(x, 0.5, log).astype(dtype)
    wide, gradient = y.astype(np.float64), dy.astype(np.float64)
    if log:
        inner = np.exp(wide) * gradient.sum(axis=-1, keepdims=True)
        expected = 0.5 * (gradient - inner)
    else:
        inner = (gradient * wide).sum(axis=-1, keepdims=True)
        expected = 0.5 * wide * (gradient - inner)
    dx = mygemm.softmax_backward(y, dy, log=log, scale=0.5)
    name = np.dtype(dtype).name
    assert dx.dtype == dtype
    allowed = ROUNDING[name] * abs(expected) + 1e-6 * (1 + abs(inner)) + SMALLEST[name]
    assert np.all(abs(dx - expected) <= allowed)
    assert mygemm.softmax_backward(y, dy, log=log, scale=0.5, out=dy) is dy
    assert np.array_equal(dx, dy)


X = random_matrix(4, 6)


@pytest.mark.parametrize("exception, sentence, arguments", [
    (TypeError, "x has dtype float64; softmax takes float32, float16, bfloat16",
     {"x": X.astype(np.float64)}),
    (ValueError, "x has no dimension", {"x": np.array(1, np.float32)}),
    (ValueError, r"x has shape \(6, 4\) and strides \(1, 6\).*the last axis needs", {"x": X.T}),
    (ValueError, r"strides \(0, 1\)", {"x": np.broadcast_to(X[0], (4, 6))}),
    (ValueError, r"strides \(-6, 1\)", {"x": X[::-1]}),
    (ValueError, r"strides \(24, 2, 1\)", {"x": np.zeros((3, 12, 2), np.float32)[:, :10]}),
    (ValueError, "scale = nan is not finite|scale = 1e[+]60", {"scale": 1e60}),
    (TypeError, "dtype = float64 is none of: float32, float16, bfloat16", {"dtype": np.float64}),
    (ValueError, "dtype = float16, but out has dtype float32",
     {"dtype": "float16", "out": np.zeros((4, 6), np.float32)}),
    (TypeError, "log = 1 is neither True nor False", {"log": 1}),
    (ValueError, r"out has shape \(6, 4\); it must be \(4, 6\), that of x",
     {"out": np.zeros((6, 4), np.float32)}),
    (ValueError, "out has shape .* strides", {"out": np.zeros((6, 4), np.float32).T}),
    (ValueError, "out is read-only", {"out": np.frombuffer(bytes(96), np.float32).reshape(4, 6)}),
    (mygemm.Error, "scale = nan is not finite", {"scale": float("nan")}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.softmax(**{"x": X, **arguments})


def test_partial_overlap_is_refused_in_the_librarys_words():
    whole = random_matrix(5, 6)
    with pytest.raises(mygemm.Error, match="y overlaps x .in place needs.*here y is out"):
        mygemm.softmax(whole[:4], out=whole[1:])
    with pytest.raises(ValueError, match=r"dy has shape \(4, 6\); it must be \(5, 6\), that of y"):
        mygemm.softmax_backward(whole, whole[:4])
    with pytest.raises(mygemm.Error, match="dx overlaps dy.*here dx is out"):
        mygemm.softmax_backward(X, whole[:4], out=whole[1:])
