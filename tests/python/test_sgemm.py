"""sgemm of NumPy arrays: values in every layout, batches, empty matrices, what is refused."""
import itertools

import numpy as np
import pytest

import mygemm
from support import check_product, layouts, random_matrix

LAYOUTS = list(layouts(np.zeros((2, 2), np.float32)))


@pytest.mark.parametrize("transa, transb", itertools.product((False, True), repeat=2))
@pytest.mark.parametrize("of_a, of_b", itertools.product(LAYOUTS, repeat=2))
def test_layouts_of_inputs_and_output(of_a, of_b, transa, transb):
    a, b = random_matrix(13, 21), random_matrix(21, 7, seed=2)
    given_a = layouts(a.T if transa else a)[of_a]
    given_b = layouts(b.T if transb else b)[of_b]
    c = mygemm.sgemm(given_a, given_b, transa=transa, transb=transb)
    assert c.flags.c_contiguous
    check_product(c, a, b)
    for name, out in layouts(random_matrix(13, 7, seed=3)).items():
        before, around = out.copy(), out.base if out.base is not None else out
        outside = np.isnan(around).sum()
        result = mygemm.sgemm(given_a, given_b, transa=transa, transb=transb, alpha=-2, beta=0.5,
                              out=out)
        assert result is out
        check_product(out, a, b, -2, 0.5, before)
        assert np.isnan(around).sum() == outside, name  # nothing is written between the lines


@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (1, 9, 5), (9, 1, 5), (1, 1, 300), (64, 1, 1)])
def test_vectors(m, n, k):
    a, b = random_matrix(m, k), random_matrix(k, n, seed=2)
    for x, y in itertools.product(layouts(a).values(), layouts(b).values()):
        check_product(mygemm.sgemm(x, y), a, b)


def test_a_column_may_be_any_column():
    a, b = random_matrix(6, 8), random_matrix(6, 9, seed=2)
    check_product(mygemm.sgemm(a[:, 3:4], b[2:3, :]), a[:, 3:4], b[2:3, :])
    check_product(mygemm.sgemm(a[:, 3:4], b[:, 5:6], transa=True), a[:, 3:4].T, b[:, 5:6])


def test_integers_are_exact():
    values = np.random.default_rng(5)
    a, b = (values.integers(-8, 9, shape).astype(np.float32) for shape in ((65, 130), (130, 33)))
    assert np.array_equal(mygemm.sgemm(a, b), a.astype(np.float64) @ b)
    assert np.array_equal(mygemm.sgemm(a, b, math="strict"), a.astype(np.float64) @ b)


@pytest.mark.parametrize("m, n, k", itertools.product((0, 3), repeat=3))
def test_empty_matrices(m, n, k):
    a, b = random_matrix(m, k), random_matrix(k, n)
    check_product(mygemm.sgemm(a, b), a, b)
    out = random_matrix(m, n, seed=3)
    check_product(mygemm.sgemm(a, b, beta=2, out=out.copy()), a, b, 1, 2, out)
    assert mygemm.sgemm(np.zeros((0, m, k), np.float32), b).shape == (0, m, n)


def test_out_is_not_read_where_beta_is_zero():
    a, out = random_matrix(4, 4), np.full((4, 4), np.nan, np.float32)
    check_product(mygemm.sgemm(a, a, out=out), a, a)


def test_batches():
    a, b = random_matrix(5, 4, 6), random_matrix(5, 6, 3, seed=2)
    check_product(mygemm.sgemm(a, b), a, b)
    check_product(mygemm.sgemm(a[::2], b[::-2]), a[::2], b[::-2])
    check_product(mygemm.sgemm(a.transpose(0, 2, 1), b, transa=True), a, b)
    for axes in (0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 0, 1):  # one after the other, interleaved
        out = np.empty([(5, 4, 3)[axis] for axis in axes], np.float32).transpose(np.argsort(axes))
        check_product(mygemm.sgemm(a, b, out=out), a, b)
    with pytest.raises(ValueError, match="out has shape .* strides"):
        mygemm.sgemm(a, b, out=np.empty((4, 3, 5), np.float32).transpose(2, 0, 1))


def test_one_matrix_for_a_whole_batch():
    a, b = random_matrix(5, 4, 6), random_matrix(6, 3, seed=2)
    check_product(mygemm.sgemm(a, b), a, b)
    check_product(mygemm.sgemm(a, b[None]), a, b)
    check_product(mygemm.sgemm(a, np.broadcast_to(b, (5, 6, 3))), a, b)
    check_product(mygemm.sgemm(b.T, a.transpose(0, 2, 1)), b.T, a.transpose(0, 2, 1))
    check_product(mygemm.sgemm(a[:1], b), a[:1], b)


A, B = random_matrix(4, 6), random_matrix(6, 5)


@pytest.mark.parametrize("exception, sentence, arguments", [
    (ValueError, r"op\(a\) is 4 x 6 and op\(b\) is 4 x 6: the one must have as many",
     {"b": A}),
    (ValueError, r"op\(a\) is 6 x 4 and op\(b\) is 6 x 5", {"transa": True}),
    (TypeError, "b has dtype float64; sgemm takes float32", {"b": B.astype(np.float64)}),
    (TypeError, "a has dtype float16", {"a": A.astype(np.float16)}),
    (TypeError, "a has dtype >f4; its bytes are not in this machine's order",
     {"a": A.astype(">f4")}),
    (TypeError, "a has dtype object", {"a": A.astype(object)}),
    (TypeError, "a is a masked array", {"a": np.ma.masked_array(A)}),
    (TypeError, "a is a list; an array of NumPy", {"a": A.tolist()}),
    (TypeError, "b is a NoneType", {"b": None}),
    (ValueError, "a has 1 dimensions", {"a": A[0]}),
    (ValueError, "a has 4 dimensions", {"a": A[None, None]}),
    (ValueError, r"a has shape \(4, 6\) and strides \(24, 2\), in elements; BLAS needs",
     {"a": np.zeros((4, 24), np.float32)[:, :12:2]}),
    (ValueError, r"strides \(-6, 1\)", {"a": A[::-1]}),
    (ValueError, r"strides \(6, -1\)", {"a": A[:, ::-1]}),
    (ValueError, r"strides \(0, 1\)", {"a": np.broadcast_to(A[:1], (4, 6))}),
    (ValueError, r"strides \(1, 1\)",
     {"a": np.lib.stride_tricks.sliding_window_view(np.zeros(9, np.float32), 6)}),
    (ValueError, "strides of .* bytes, which are not multiples of its 4-byte elements",
     {"a": np.zeros((4, 6), "f4, i1")["f0"]}),
    (ValueError, "beta = 0.5 needs out", {"beta": 0.5}),
    (ValueError, "alpha = 1e[+]39 does not fit float32", {"alpha": 1e39}),
    (TypeError, "alpha is a str", {"alpha": "1"}),
    (TypeError, "transa = 'N' is neither True nor False", {"transa": "N"}),
    (ValueError, "math = 'loose' is none of: default, strict, fast", {"math": "loose"}),
    (ValueError, r"out has shape \(5, 4\); it must be \(4, 5\)",
     {"out": np.zeros((5, 4), np.float32)}),
    (ValueError, r"out has shape \(1, 4, 5\)", {"out": np.zeros((1, 4, 5), np.float32)}),
    (TypeError, "out has dtype float64", {"out": np.zeros((4, 5))}),
    (ValueError, "out is read-only", {"out": np.broadcast_to(np.float32(0), (4, 5))}),
    (ValueError, "a is a batch of 2 and b one of 3; they must have as many matrices",
     {"a": np.zeros((2, 4, 6), np.float32), "b": np.zeros((3, 6, 5), np.float32)}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.sgemm(**{"a": A, "b": B, **arguments})


def test_overlap_is_refused_in_the_librarys_words():
    whole = random_matrix(8, 8)
    before = whole.copy()
    with pytest.raises(mygemm.Error, match="C overlaps A.*A is b, B is a, C is out") as caught:
        mygemm.sgemm(np.eye(8, dtype=np.float32), whole, out=whole)
    assert caught.value.status == 7
    with pytest.raises(mygemm.Error, match="C overlaps A.*A is a, B is b, C is out"):
        mygemm.sgemm(whole, before, out=whole.T)
    assert np.array_equal(whole, before)
    batch = np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (4, 3, 3), (4, 12, 4))
    with pytest.raises(mygemm.Error, match="makes matrices of the batch overlap"):
        mygemm.sgemm(np.zeros((4, 3, 3), np.float32), np.eye(3, dtype=np.float32), out=batch)
    product = mygemm.sgemm(whole[:4, :4], whole[:4, 4:], out=whole[4:, :4])  # side by side is fine
    check_product(product, before[:4, :4], before[:4, 4:])


def test_misaligned_arrays_are_refused_in_the_librarys_words():
    misaligned = np.frombuffer(bytearray(4 * 16 + 1), np.uint8)[1:].view(np.float32).reshape(4, 4)
    with pytest.raises(mygemm.Error, match="A = 0x[0-9a-f]+ is not a multiple of 4 bytes"):
        mygemm.sgemm(np.eye(4, dtype=np.float32), misaligned)
