"""gemm of NumPy arrays: the product with C, bias and activation, and what is refused."""
import itertools

import numpy as np
import pytest

import mygemm
from support import check_product, random_matrix

A, B = random_matrix(13, 21), random_matrix(21, 7, seed=2)
C, BIAS = random_matrix(13, 7, seed=3), random_matrix(7, seed=4)


def activated(t, activation):
    t = t.astype(np.float64)
    if activation == "relu":
        return np.maximum(t, 0)
    if activation == "gelu":
        u = np.sqrt(2 / np.pi) * (t + 0.044715 * t**3)
        with np.errstate(over="ignore"):
            return t / (1 + np.exp(-2 * u))
    return t


@pytest.mark.parametrize("activation, bias, beta, transa, transb", itertools.product(
    (None, "relu", "gelu"), (None, BIAS), (0, 1, -0.5), (False, True), (False, True)))
def test_is_the_unfused_product(activation, bias, beta, transa, transb):
    a, b = np.ascontiguousarray(A.T) if transa else A, np.ascontiguousarray(B.T) if transb else B
    t = mygemm.sgemm(a, b, transa=transa, transb=transb, alpha=2, beta=beta, out=C.copy())
    if bias is not None:
        t = t + bias
    got = mygemm.gemm(a, b, c=C, bias=bias, activation=activation, transa=transa, transb=transb,
                      alpha=2, beta=beta)
    expected = activated(t, activation)
    if activation == "gelu":
        assert np.all(abs(got - expected) <= 1e-5 * abs(expected) + 1e-7)
    else:
        assert np.array_equal(got, expected)


def test_a_linear_layer():
    x, weight, bias = random_matrix(5, 8), random_matrix(6, 8, seed=2), random_matrix(6, seed=3)
    y = mygemm.gemm(x, weight, transb=True, bias=bias, activation="relu")
    assert np.allclose(y, np.maximum(x @ weight.T + bias, 0), atol=1e-5)


def test_c_is_out_where_it_is_not_given():
    for order in "C", "F":
        out = np.array(C, order=order)
        assert mygemm.gemm(A, B, beta=0.5, out=out) is out
        check_product(out, A, B, 1, 0.5, C)
        same = np.array(C, order=order)
        assert np.array_equal(mygemm.gemm(A, B, c=same, beta=0.5, out=same), out)
        block = np.full((13, 11), np.nan, np.float32, order=order)
        block[:, 2:9] = C
        assert np.array_equal(mygemm.gemm(A, B, c=block[:, 2:9], beta=0.5,
                                          out=np.zeros_like(out)), out)


def test_batches():
    a, b, c = random_matrix(5, 4, 6), random_matrix(6, 3, seed=2), random_matrix(4, 3, seed=3)
    bias = random_matrix(5, 3, seed=4)
    product = mygemm.sgemm(a, b)
    assert np.array_equal(mygemm.gemm(a, b, bias=bias), product + bias[:, None])
    assert np.array_equal(mygemm.gemm(a, b, bias=bias[0]), product + bias[0])
    assert np.array_equal(mygemm.gemm(a, b, bias=bias[::-1], activation="relu"),
                          np.maximum(product + bias[::-1, None], 0))
    check_product(mygemm.gemm(a, b, c=c, beta=1), a, b, 1, 1, c)


def test_empty_sums():
    a, b = np.zeros((4, 0), np.float32), np.zeros((0, 7), np.float32)
    assert np.array_equal(mygemm.gemm(a, b, bias=BIAS), np.tile(BIAS, (4, 1)))


@pytest.mark.parametrize("exception, sentence, arguments", [
    (ValueError, "beta = 0.5 needs c or out", {"beta": 0.5}),
    (ValueError, "activation = 'tanh' is none of: None, 'relu', 'gelu'", {"activation": "tanh"}),
    (TypeError, "bias has dtype float64; gemm takes float32", {"bias": BIAS.astype("f8")}),
    (TypeError, "c has dtype float64", {"c": C.astype("f8")}),
    (TypeError, "bias is a list", {"bias": [0.0] * 7}),
    (ValueError, r"bias has shape \(13,\); it must be \(7,\), one value for each column",
     {"bias": np.zeros(13, np.float32)}),
    (ValueError, r"bias has shape \(7,\) and strides \(2,\)",
     {"bias": np.zeros(14, np.float32)[::2]}),
    (ValueError, "out is in Fortran order; a bias for each column",
     {"bias": BIAS, "out": np.zeros((13, 7), np.float32, order="F")}),
    (ValueError, r"c has shape \(7, 13\); it must be \(13, 7\)", {"c": C.T}),
    (ValueError, "c has shape .*; it needs the order of out, C order",
     {"c": np.asfortranarray(C), "beta": 1}),
    (ValueError, "a has 1 dimensions, shape .*; gemm takes", {"a": A[0]}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.gemm(**{"a": A, "b": B, **arguments})


def test_overlap_is_refused_in_the_librarys_words():
    whole = random_matrix(16, 16)
    with pytest.raises(mygemm.Error, match="D overlaps C.*A is b, B is a, D is out"):
        mygemm.gemm(A, B, c=whole[1:14, :7], beta=1, out=whole[:13, :7])
    with pytest.raises(mygemm.Error, match="D overlaps bias"):
        mygemm.gemm(A, B, bias=whole[3, :7], out=whole[:13, :7])


def test_explanation():
    text = mygemm.explain("gemm", 64, 500, 300, transb=True, bias=True, activation="gelu",
                          device="H200")
    assert "call: gemm --transa T --transb N -m 500 -n 64 -k 300" in text
    assert "--bias 1 --stride-bias 0 --activation gelu --c-is-d 1 --reads-c 0" in text
    assert "--c-is-d 0 --reads-c 1" in mygemm.explain("gemm", 4, 5, 6, c=True, device="host")
    assert "call: sgemm " in mygemm.explain("gemm", 4, 5, 6, device="host")
    with pytest.raises(ValueError, match="activation = 'tanh' is none of"):
        mygemm.explain("gemm", 4, 5, 6, activation="tanh")
