"""gemm and matmul of float16 and bfloat16 NumPy arrays, and of a float32 and a bfloat16 one."""
import numpy as np
import pytest

import mygemm
from support import check_product, check_rounded, random_matrix

ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16),
          "float32": np.dtype(np.float32)}
NARROW = ["float16", "bfloat16"]
MIXED = [("float32", "bfloat16"), ("bfloat16", "float32")]


def operands(dtype, b_dtype=None, m=13, k=21, n=7):
    return (random_matrix(m, k).astype(DTYPES[dtype]), random_matrix(k, n, seed=2)
            .astype(DTYPES[b_dtype or dtype]))


def exact(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64),
            abs(a.astype(np.float64)) @ abs(b.astype(np.float64)))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("out_dtype", [None, *DTYPES])
def test_types_of_the_result(dtype, out_dtype):
    a, b = operands(dtype)
    for call in mygemm.gemm, mygemm.matmul:
        c = call(a, b, dtype=out_dtype)
        assert c.dtype == DTYPES[out_dtype or dtype]
        check_rounded(c, *exact(a, b))
        out = np.full_like(c, np.nan)
        assert call(a, b, out=out) is out
        assert np.array_equal(out, c)


@pytest.mark.parametrize("dtype", NARROW)
def test_epilogue(dtype):
    a, b = operands(dtype)
    for out_dtype in DTYPES.values():
        c, bias = (random_matrix(13, 7, seed=3).astype(out_dtype),
                   random_matrix(7, seed=4).astype(out_dtype))
        got = mygemm.gemm(a, b.T, transb=True, c=c, beta=-0.5, bias=bias, activation="relu")
        assert got.dtype == out_dtype
        sums, magnitude = exact(a, b)
        t = sums - 0.5 * c.astype(np.float64) + bias.astype(np.float64)
        check_rounded(got, np.maximum(t, 0), magnitude + 2)


@pytest.mark.parametrize("dtype", NARROW)
def test_batches_and_vectors(dtype):
    a = np.stack([operands(dtype)[0]] * 3)
    b = operands(dtype)[1]
    one = mygemm.matmul(a[0], b)
    assert np.array_equal(mygemm.matmul(a, b), np.stack([one] * 3))
    assert np.array_equal(mygemm.gemm(a, b), np.stack([one] * 3))
    assert mygemm.matmul(a[0, 0], b[:, 0].copy()).shape == ()


@pytest.mark.parametrize("types", MIXED)
def test_float32_beside_bfloat16(types):
    a, b = operands(*types)
    for call in mygemm.gemm, mygemm.matmul:
        c = call(a, b)
        assert c.dtype == np.float32
        check_product(c, a, b)
        out = np.full_like(c, np.nan)
        assert call(a, b, out=out, dtype="float32") is out
        assert np.array_equal(out, c)
    check_product(mygemm.gemm(a, b, out=np.asfortranarray(c)), a, b)
    check_product(mygemm.gemm(a.T, b.T.copy(), transa=True, transb=True, alpha=-2), a, b, alpha=-2)
    addend, bias = random_matrix(13, 7, seed=3), random_matrix(7, seed=4)
    t = mygemm.gemm(a, b, c=addend, beta=0.5, bias=bias, activation="relu")
    check_rounded(t, np.maximum(exact(a, b)[0] + 0.5 * addend + bias, 0), exact(a, b)[1] + 2)


@pytest.mark.parametrize("types", MIXED)
def test_mixed_batches_and_vectors(types):
    a, b = operands(*types)
    one = mygemm.matmul(a, b)
    batch = np.stack([a] * 6).reshape(2, 3, *a.shape)
    assert np.array_equal(mygemm.matmul(batch, b), np.broadcast_to(one, (2, 3, 13, 7)))
    assert np.array_equal(mygemm.matmul(batch[:, ::2], np.stack([b] * 2)), [[one] * 2] * 2)
    assert np.array_equal(mygemm.gemm(batch[0], b), np.stack([one] * 3))
    assert mygemm.matmul(a[0], b[:, 0].copy()).dtype == np.float32


@pytest.mark.parametrize("a_dtype, b_dtype", [("float16", "float32"), ("float32", "float16"),
                                              ("float16", "bfloat16"), ("bfloat16", "float16")])
def test_types_that_are_not_multiplied(a_dtype, b_dtype):
    a, b = operands(a_dtype, b_dtype)
    for call in mygemm.gemm, mygemm.matmul:
        with pytest.raises(TypeError, match=f"b has dtype {b_dtype}; .* of a {a_dtype} a takes"):
            call(a, b)


@pytest.mark.parametrize("types", MIXED)
def test_refusals_of_mixed_products(types):
    a, b = operands(*types)
    with pytest.raises(TypeError, match="float32 makes float32"):
        mygemm.gemm(a, b, dtype="bfloat16")
    with pytest.raises(TypeError, match="out has dtype bfloat16"):
        mygemm.matmul(a, b, out=np.empty((13, 7), DTYPES["bfloat16"]))
    with pytest.raises(TypeError, match="bias has dtype bfloat16"):
        mygemm.gemm(a, b, bias=random_matrix(7).astype(DTYPES["bfloat16"]))
    with pytest.raises(TypeError, match="sgemm takes float32"):
        mygemm.sgemm(a, b)


def test_refusals():
    a, b = operands("float16")
    wide = random_matrix(21, 7)
    with pytest.raises(TypeError, match="float32 makes float32"):
        mygemm.matmul(random_matrix(13, 21), wide, dtype="float16")
    with pytest.raises(TypeError, match="bias has dtype float32"):
        mygemm.gemm(a, b, bias=random_matrix(7))
    with pytest.raises(ValueError, match="dtype = bfloat16, but out has dtype float16"):
        mygemm.gemm(a, b, out=np.empty((13, 7), np.float16), dtype="bfloat16")
    with pytest.raises(TypeError, match="sgemm takes float32"):
        mygemm.sgemm(a, b)


def test_explain():
    text = mygemm.explain("gemm", 64, 64, 64, device="H200", dtype="bfloat16", out_dtype="float32")
    assert "--atype bf16 --dtype f32" in text
    assert "cannot run: takes FP32 operands" in text


def test_explain_mixed_products():
    # The transposed product, in which A and B are exchanged.
    for a_dtype, b_dtype, types in (("float32", "bfloat16", "bf16 --btype f32"),
                                    ("bfloat16", "float32", "f32 --btype bf16")):
        text = mygemm.explain("gemm", 64, 64, 64, device="H200", dtype=a_dtype, b_dtype=b_dtype)
        assert f"--atype {types} --dtype f32" in text
    with pytest.raises(mygemm.Error, match="A and B have one element type, or are FP32 and BF16"):
        mygemm.explain("gemm", 64, 64, 64, device="H200", b_dtype="float16")
