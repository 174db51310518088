"""transpose of NumPy arrays: every element size, layouts, in place, batches, what is refused."""
import numpy as np
import pytest

import mygemm
from support import layouts, random_matrix

DTYPES = ["int8", "bool", "uint16", "float16", "float32", "int64", "datetime64[s]", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (33, 65), (128, 70), (0, 4), (4, 0)])
def test_values_bit_by_bit(shape, dtype):
    size = np.dtype(dtype).itemsize
    x = np.random.default_rng(3).integers(0, 2, (*shape, size), np.uint8).view(dtype)[..., 0]
    t = mygemm.transpose(x)
    assert t.dtype == x.dtype and t.flags.c_contiguous
    assert t.tobytes() == x.T.tobytes()


def test_layouts():
    x = random_matrix(13, 7)
    views, outs = layouts(x), layouts(x.T)
    for name in "C", "block of C", "every other row":
        for out_name in "C", "block of C", "every other row":
            outs[out_name][...] = 0
            assert mygemm.transpose(views[name], out=outs[out_name]) is outs[out_name]
            assert np.array_equal(outs[out_name], x.T)
    for name in "F", "block of F", "transposed":
        outs["block of F"][...] = 0
        mygemm.transpose(views[name], out=outs["block of F"])
        assert np.array_equal(outs["block of F"], x.T)


def test_in_place():
    x = random_matrix(40, 40)
    expected = x.T.copy()
    assert mygemm.transpose(x, out=x) is x
    assert np.array_equal(x, expected)
    x = random_matrix(12, 35)
    expected = x.T.copy()
    assert np.array_equal(mygemm.transpose(x, out=x.reshape(35, 12)), expected)


def test_batches():
    x = random_matrix(4, 5, 6)
    assert np.array_equal(mygemm.transpose(x), x.transpose(0, 2, 1))
    assert np.array_equal(mygemm.transpose(x[::-2]), x[::-2].transpose(0, 2, 1))
    assert np.array_equal(mygemm.transpose(np.broadcast_to(x[0], (3, 5, 6))),
                          np.broadcast_to(x[0].T, (3, 6, 5)))
    square = random_matrix(4, 5, 5)
    expected = square.transpose(0, 2, 1).copy()
    assert np.array_equal(mygemm.transpose(square, out=square), expected)


X = random_matrix(4, 6)


@pytest.mark.parametrize("exception, sentence, arguments", [
    (ValueError, "x has 1 dimensions", {"x": X[0]}),
    (TypeError, "x has dtype complex256 of 32 bytes|x has dtype S3 of 3|bytes24 of 3 bytes",
     {"x": np.zeros((2, 2), "S3")}),
    (TypeError, "x has dtype object; Python objects", {"x": X.astype(object)}),
    (TypeError, "out has dtype int32; transpose to it takes float32",
     {"out": np.zeros((6, 4), np.int32)}),
    (ValueError, r"out has shape \(4, 6\); it must be \(6, 4\)", {"out": np.zeros_like(X)}),
    (ValueError, r"x has shape \(6, 4\) and strides \(1, 6\).*a mere copy of x.T", {"x": X.T}),
    (ValueError, r"x has shape .* strides \(6, -1\)", {"x": X[:, ::-1]}),
    (ValueError, r"out has shape .* strides \(8, 2\)",
     {"out": np.zeros((6, 8), np.float32)[:, ::2]}),
    (ValueError, "out is read-only", {"out": np.frombuffer(bytes(96), "f4").reshape(6, 4)}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.transpose(**{"x": X, **arguments})


def test_partial_overlap_is_refused_in_the_librarys_words():
    whole = random_matrix(5, 4)
    with pytest.raises(mygemm.Error, match="out overlaps in .*here in is x"):
        mygemm.transpose(whole[:4], out=whole[1:])
