"""grouped_matmul of NumPy arrays: forms, types, layouts, ends, epilogue, and what is refused."""
import itertools

import numpy as np
import pytest

import mygemm
from producers import DlpackArray
from support import check_rounded, layouts, random_matrix

TOKENS, GROUPS, K, N = 19, 4, 21, 7
ENDS = {"each has some": [3, 8, 9, 19], "empty groups": [0, 6, 6, 19],
        "one has all": [0, 19, 19, 19], "not all tokens": [5, 6, 6, 15], "no tokens": [0, 0, 0, 0]}
# The shapes of a, b and the result, and the parts of them that the tokens [begin, end) of group i
# are multiplied from and to.
FORMS = {
    "rows": ((TOKENS, K), (GROUPS, K, N), (TOKENS, N),
             lambda i, part: (np.s_[part], np.s_[i], np.s_[part])),
    "columns": ((GROUPS, N, K), (K, TOKENS), (N, TOKENS),
                lambda i, part: (np.s_[i], np.s_[:, part], np.s_[:, part])),
    "sum": ((N, TOKENS), (TOKENS, K), (GROUPS, N, K),
            lambda i, part: (np.s_[:, part], np.s_[part], np.s_[i]))}
TYPES = [("float32", "float32"), ("float16", "float16"), ("bfloat16", "bfloat16"),
         ("float32", "bfloat16"), ("bfloat16", "float32")]


def numpy_dtype(name):
    return np.dtype(getattr(pytest.importorskip("ml_dtypes"), name) if name == "bfloat16" else name)


def operands(form, dtype="float32", b_dtype=None):
    a_shape, b_shape = FORMS[form][:2]
    return (random_matrix(*a_shape).astype(numpy_dtype(dtype)),
            random_matrix(*b_shape, seed=2).astype(numpy_dtype(b_dtype or dtype)))


def check(got, form, a, b, ends, before=None, bias=None, activated=lambda t: t):
    """Every group's product, and in other elements what was there before."""
    begin, written = 0, np.zeros(got.shape, bool)
    for i, end in enumerate(ends):
        of_a, of_b, of_out = FORMS[form][3](i, slice(begin, end))
        x, y = a[of_a].astype(np.float64), b[of_b].astype(np.float64)
        t, magnitude = x @ y, abs(x) @ abs(y)
        if bias is not None:
            row = bias if bias.ndim == 1 else bias[i % len(bias)]
            t, magnitude = t + row, magnitude + abs(row)
        check_rounded(got[of_out], activated(t), magnitude)
        written[of_out] = True
        begin = end
    if before is not None:
        assert np.array_equal(got[~written], before[~written], equal_nan=True)


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("form, ends", itertools.product(FORMS, ENDS))
def test_values(form, ends, types):
    a, b = operands(form, *types)
    for index in np.int32, np.int64:
        given = np.array(ENDS[ends], index)
        c = mygemm.grouped_matmul(a, b, given)
        assert c.dtype == ("float32" if "float32" in types else a.dtype)
        assert c.shape == FORMS[form][2] and c.flags.c_contiguous
        check(c, form, a, b, ENDS[ends])
        out = np.full_like(c, np.nan)
        assert mygemm.grouped_matmul(a, b, given, out=out) is out
        check(out, form, a, b, ENDS[ends], np.full_like(c, np.nan))


@pytest.mark.parametrize("form", FORMS)
def test_types_of_the_result(form):
    a, b = operands(form, "float16")
    ends = ENDS["each has some"]
    for name in "float32", "float16":
        c = mygemm.grouped_matmul(a, b, np.array(ends), dtype=name)
        assert c.dtype == name
        check(c, form, a, b, ends)
        check(mygemm.grouped_matmul(a, b, np.array(ends), out=c), form, a, b, ends)


def arrangements(x):
    """{name: an array equal to x}: of matrices all layouts, of a batch those of each matrix."""
    if x.ndim == 2:
        return layouts(x)
    wide = np.full((2 * len(x), x.shape[1] + 1, x.shape[2] + 5), np.nan, x.dtype)
    views = {"C": x.copy(), "transposed": np.empty_like(x.swapaxes(1, 2), order="C").swapaxes(1, 2),
             "blocks": wide[::2, 1:, 2:-3], "the last first": np.empty_like(x)[::-1],
             "interleaved": np.empty_like(x.swapaxes(0, 1), order="C").swapaxes(0, 1)}
    for view in views.values():
        view[...] = x
    return views


@pytest.mark.parametrize("form", FORMS)
def test_layouts(form):
    a, b = operands(form)
    ends, shape = ENDS["not all tokens"], FORMS[form][2]
    outs = arrangements(np.full(shape, np.nan, np.float32))
    outs.pop("the last first", None)
    for given_a, given_b in itertools.product(*(arrangements(x).values() for x in (a, b))):
        for out in outs.values():
            out[...] = np.nan
            mygemm.grouped_matmul(given_a, given_b, np.array(ends), out=out)
            check(out, form, a, b, ends, np.full(shape, np.nan))


def test_weights_as_pytorch_has_them():
    x, weights = random_matrix(TOKENS, K), random_matrix(GROUPS, N, K, seed=2)
    ends = np.array(ENDS["each has some"])
    y = mygemm.grouped_matmul(x, weights.swapaxes(1, 2), ends)
    check(y, "rows", x, weights.swapaxes(1, 2), ends)
    dx = mygemm.grouped_matmul(y, weights, ends)
    check(dx, "rows", y, weights, ends)
    dw = mygemm.grouped_matmul(y.T, x, ends)
    check(dw, "sum", y.T, x, ends)


def test_one_matrix_for_all_groups():
    a, b = operands("rows")
    ends = ENDS["each has some"]
    same = np.broadcast_to(b[0], b.shape)
    check(mygemm.grouped_matmul(a, same, np.array(ends)), "rows", a, same, ends)


def gelu(t):
    return t / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (t + 0.044715 * t**3)))


@pytest.mark.parametrize("activation, activated", [(None, lambda t: t), ("gelu", gelu),
                                                   ("relu", lambda t: np.maximum(t, 0))])
def test_epilogue(activation, activated):
    for form in FORMS:
        a, b = operands(form)
        ends = ENDS["empty groups"]
        c = mygemm.grouped_matmul(a, b, np.array(ends), activation=activation)
        check(c, form, a, b, ends, activated=activated)
    a, b = operands("rows")
    of_groups = random_matrix(GROUPS, N, seed=3)
    for bias in of_groups, of_groups[::-1], of_groups[1:2], of_groups[2]:
        c = mygemm.grouped_matmul(a, b, np.array(ends), bias=bias, activation=activation)
        check(c, "rows", a, b, ends, bias=bias, activated=activated)


def test_bits_of_separate_products():
    a, b = operands("rows")
    ends = ENDS["each has some"]
    c = mygemm.grouped_matmul(a, b, np.array(ends), math="strict")
    for i, (begin, end) in enumerate(zip([0, *ends], ends)):
        assert np.array_equal(c[begin:end], mygemm.gemm(a[begin:end], b[i], math="strict"))


def test_empty():
    def zeros(*shape):
        return np.zeros(shape, np.float32)
    no_tokens, one = np.zeros(3, np.int32), np.array([2, 5], np.int32)
    assert mygemm.grouped_matmul(zeros(0, 5), zeros(3, 5, 2), no_tokens).shape == (0, 2)
    assert mygemm.grouped_matmul(zeros(3, 2, 5), zeros(5, 0), no_tokens).shape == (2, 0)
    assert np.array_equal(mygemm.grouped_matmul(zeros(4, 0), zeros(0, 5), no_tokens),
                          zeros(3, 4, 5))
    assert np.array_equal(mygemm.grouped_matmul(zeros(5, 0), zeros(2, 0, 3), one), zeros(5, 3))
    assert mygemm.grouped_matmul(zeros(5, 4), zeros(2, 4, 0), one).shape == (5, 0)
    no_groups, out = np.zeros(0, np.int32), np.full((5, 3), np.nan, np.float32)
    for ends in no_groups, DlpackArray(no_groups, data=None):
        assert np.isnan(mygemm.grouped_matmul(zeros(5, 4), zeros(0, 4, 3), ends, out=out)).all()
        assert mygemm.grouped_matmul(zeros(4, 5), zeros(5, 3), ends).shape == (0, 4, 3)


def test_other_producers_of_ends():
    a, b = operands("rows")
    ends = np.array(ENDS["each has some"])
    ends.flags.writeable = False
    c = mygemm.grouped_matmul(a, b, ends)
    check(c, "rows", a, b, ends)
    assert np.array_equal(mygemm.grouped_matmul(a, b, DlpackArray(ends)), c)


A, B = operands("rows")
LAST = np.array([3, 8, 9, 19])


@pytest.mark.parametrize("exception, sentence, arguments", [
    (ValueError, r"a has the shape \(4, 19, 21\) and b \(4, 21, 7\); grouped_matmul takes two mat",
     {"a": np.stack([A] * 4)}),
    (ValueError, r"a has the shape \(21,\) and b", {"a": A[0]}),
    (ValueError, "a's last axis and b's last but one must be equally long", {"a": A[:, 1:]}),
    (TypeError, "ends has dtype float32; grouped_matmul takes int32, int64",
     {"ends": LAST.astype(np.float32)}),
    (TypeError, "ends has dtype uint32", {"ends": LAST.astype(np.uint32)}),
    (TypeError, "ends is a list", {"ends": [3, 8, 9, 19]}),
    (ValueError, r"ends has shape \(1, 4\); it must have one dimension", {"ends": LAST[None]}),
    (ValueError, r"ends has shape \(3,\); it must be \(4,\), one end for each group",
     {"ends": LAST[:3]}),
    (ValueError, r"ends has strides \(2,\); it must be in C order", {"ends": np.arange(8)[::2]}),
    (TypeError, "a has dtype float64; grouped_matmul takes", {"a": A.astype(np.float64)}),
    (TypeError, "b has dtype float16; grouped_matmul of a float32 a takes float32, bfloat16",
     {"b": B.astype(np.float16)}),
    (TypeError, "grouped_matmul of float32 makes float32", {"dtype": "float16"}),
    (ValueError, r"out has shape \(7, 19\); it must be \(19, 7\), that of the product",
     {"out": np.zeros((7, 19), np.float32)}),
    (TypeError, "out has dtype float16", {"out": np.zeros((19, 7), np.float16)}),
    (ValueError, r"b has shape \(4, 21, 4\) and strides", {"b": B[:, :, ::2]}),
    (ValueError, "activation = 'tanh' is none of: None, 'relu', 'gelu'", {"activation": "tanh"}),
    (ValueError, "math = 'loose' is none of", {"math": "loose"}),
    (ValueError, r"bias has shape \(19,\); it must be \(7,\), one value for each column",
     {"bias": np.zeros(19, np.float32)}),
    (ValueError, "out is in Fortran order; a bias for each column",
     {"bias": np.zeros(7, np.float32), "out": np.zeros((19, 7), np.float32, order="F")}),
    (ValueError, "bias is for a of two dimensions and b of three",
     {"a": A.T, "b": A, "bias": np.zeros(21, np.float32)}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.grouped_matmul(**{"a": A, "b": B, "ends": LAST, **arguments})


@pytest.mark.parametrize("ends, place", [([3, 8, 9, 20], 3), ([-1, 8, 9, 19], 0),
                                         ([3, 8, 7, 19], 2), ([40, 40, 40, 40], 0)])
def test_ends_are_checked_by_the_library(ends, place):
    out = np.full((19, 7), np.nan, np.float32)
    for x in out, np.asfortranarray(out):
        size = "n" if x.flags.c_contiguous else "m"
        sentence = rf"{size}\[{place}\] = {ends[place]} .*D is out, {size} of groups is ends\)"
        with pytest.raises(mygemm.Error, match=sentence):
            mygemm.grouped_matmul(A, B, np.array(ends), out=x)
        assert np.isnan(x).all()


def test_overlap_is_refused_in_the_librarys_words():
    x = random_matrix(19, 30)
    with pytest.raises(mygemm.Error, match="D overlaps B.*A is b, B is a, D is out, n of groups"):
        mygemm.grouped_matmul(x[:, :21], B, LAST, out=x[:, 20:27])
    with pytest.raises(ValueError, match="out is read-only"):
        mygemm.grouped_matmul(A, B, LAST, out=np.broadcast_to(np.float32(0), (19, 7)))


def test_explain():
    text = mygemm.explain("grouped_matmul", 8, 4096, 2048, 1024, device="H200", dtype="bfloat16",
                          transb=True, bias=True, activation="gelu")
    assert text.startswith("chosen: grouped_")
    assert "call: gemm_grouped --transa T --transb N -m 2048 -n 4096 -k 1024" in text
    assert "--sizes-of n --total 4096 --sizes-on device" in text
    host = mygemm.explain("grouped_matmul", 8, 4096, 64, 32, device="host")
    assert host.startswith("chosen: host_one_by_one") and "--sizes-on host" in host
    assert "gemm_grouped" in mygemm.explain("grouped_matmul", 0, 0, 0, 0)
    mixed = mygemm.explain("grouped_matmul", 2, 8, 8, 8, device="A100", b_dtype="bfloat16",
                           math="strict")
    assert "--atype bf16 --btype f32 --dtype f32" in mixed
    with pytest.raises(ValueError, match="activation = 'tanh' is none of"):
        mygemm.explain("grouped_matmul", 1, 1, 1, 1, activation="tanh")
