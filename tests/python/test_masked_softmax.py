"""softmax of NumPy arrays with masks, causality, lengths and caps, and its gradient."""
import numpy as np
import pytest

import mygemm
from support import ROUNDING, random_matrix

BATCH, HEADS, QUERIES, KEYS = 2, 3, 5, 16


def expected_of(x, mask=None, causal=False, offset=0, lengths=None, softcap=0.0, scale=1.0,
                empty=np.nan):
    """The probabilities, in float64, and which elements are masked."""
    s = scale * x.astype(np.float64)
    if softcap:
        s = softcap * np.tanh(s / softcap)
    if mask is not None:
        s = np.where(np.broadcast_to(mask, s.shape) == -np.inf, -np.inf, s + mask)
    columns = np.arange(x.shape[-1])
    if causal:
        rows = np.arange(x.shape[-2])[:, None]
        s = np.where(columns > rows + offset, -np.inf, s)
    if lengths is not None:
        s = np.where(columns >= np.broadcast_to(lengths, x.shape[:-1])[..., None], -np.inf, s)
    gone = np.isneginf(s)
    largest = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isneginf(largest), 0, largest))
    total = e.sum(-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), empty), gone


def scores(dtype=np.float32):
    return 3 * random_matrix(BATCH, HEADS, QUERIES, KEYS, dtype=dtype)


def check(got, expected, dtype=np.float32):
    allowed = 1e-6 + 2 * ROUNDING[np.dtype(dtype).name]
    assert got.shape == expected.shape
    assert np.allclose(got.astype(np.float64), expected, rtol=allowed, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", [(), (KEYS,), (1, KEYS), (QUERIES, 1), (QUERIES, KEYS),
                                   (HEADS, 1, 1), (HEADS, QUERIES, KEYS), (BATCH, 1, 1, KEYS),
                                   (BATCH, HEADS, QUERIES, KEYS)])
def test_masks_are_broadcast(shape, dtype):
    x, mask = scores(dtype), random_matrix(*shape, seed=2).astype(dtype)
    mask = np.where(abs(mask) > 1, -np.inf, mask).astype(dtype)
    expected, _ = expected_of(x, mask=mask)
    check(mygemm.softmax(x, mask=np.array(mask)), expected, dtype)


def test_masks_with_strides_of_their_own():
    x = scores()
    relative = random_matrix(HEADS, QUERIES + KEYS - 1, seed=3)
    # A bias of each head by the distance of query and key: a view with a negative stride.
    step = relative.strides[-1]
    view = np.lib.stride_tricks.as_strided(relative[:, QUERIES - 1:], (HEADS, QUERIES, KEYS),
                                           (relative.strides[0], -step, step))
    check(mygemm.softmax(x, mask=view), expected_of(x, mask=np.array(view))[0])


@pytest.mark.parametrize("log", [False, True])
def test_causal_rows_and_their_gradient(log):
    x = scores()
    x[..., 0, 9:] = np.nan  # masked: no effect
    expected, gone = expected_of(np.nan_to_num(x), causal=True, offset=2)
    y = mygemm.softmax(x, causal=True, causal_offset=2, log=log)
    assert np.array_equal(gone, np.isneginf(y) if log else y == 0)
    check(np.exp(y) if log else y, expected)
    dy = random_matrix(*x.shape, seed=4)
    dy[gone] = np.nan
    dx = mygemm.softmax_backward(y, dy, causal=True, causal_offset=2, log=log)
    clean = np.where(gone, 0, dy)
    want = (clean - expected * clean.sum(-1, keepdims=True) if log else
            expected * (clean - (expected * clean).sum(-1, keepdims=True)))
    assert np.allclose(dx, np.where(gone, 0, want), atol=1e-6)
    assert np.all(dx[gone] == 0)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(BATCH, 1, 1), (HEADS, 1), (QUERIES,),
                                   (BATCH, HEADS, QUERIES)])
def test_lengths_are_broadcast(shape, index):
    x, lengths = scores(), np.random.default_rng(5).integers(0, KEYS + 3, shape).astype(index)
    lengths.ravel()[0] = 0
    for empty, value in ("nan", np.nan), ("zero", 0.0):
        expected, _ = expected_of(x, lengths=lengths, empty=value)
        check(mygemm.softmax(x, lengths=lengths, empty=empty), expected)


def test_a_cap_and_its_gradient():
    x, dy = scores(), random_matrix(BATCH, HEADS, QUERIES, KEYS, seed=6)
    y = mygemm.softmax(x, softcap=1.5, scale=0.7, causal=True)
    check(y, expected_of(x, softcap=1.5, scale=0.7, causal=True)[0])
    dx = mygemm.softmax_backward(y, dy, softcap=1.5, scale=0.7, causal=True, x=x)
    step = 1e-3

    def loss(x):
        return (expected_of(x, softcap=1.5, scale=0.7, causal=True)[0] * dy).sum()

    for place in (0, 0, 4, 2), (1, 2, 3, 1), (1, 0, 0, 0):
        moved = [x.astype(np.float64) for _ in range(2)]
        moved[0][place] += step
        moved[1][place] -= step
        assert abs(dx[place] - (loss(moved[0]) - loss(moved[1])) / (2 * step)) < 1e-5
    with pytest.raises(ValueError, match="softcap"):
        mygemm.softmax_backward(y, dy, softcap=1.5)


def test_in_place_and_a_gradient_behind_a_mask():
    x = scores()
    mask = np.zeros(KEYS, np.float32)
    mask[::3] = -np.inf
    expected, gone = expected_of(x, mask=mask)
    assert mygemm.softmax(x, mask=mask, out=x) is x
    check(x, expected)
    dy = random_matrix(*x.shape, seed=7)
    dy[gone] = np.inf
    assert np.all(np.isfinite(mygemm.softmax_backward(x, dy, masked=True)))


def test_what_is_refused():
    x = scores()
    with pytest.raises(ValueError, match="last axis"):
        mygemm.softmax(x, axis=1, causal=True)
    with pytest.raises(ValueError, match="broadcast"):
        mygemm.softmax(x, mask=np.zeros((4, KEYS), np.float32))
    with pytest.raises(ValueError, match="broadcast"):
        mygemm.softmax(x, mask=np.zeros(KEYS + 1, np.float32))
    with pytest.raises(TypeError, match="lengths has dtype float32"):
        mygemm.softmax(x, lengths=np.zeros(QUERIES, np.float32))
    with pytest.raises(TypeError, match="mask has dtype float64"):
        mygemm.softmax(x, mask=np.zeros(KEYS))
    with pytest.raises(ValueError, match="empty"):
        mygemm.softmax(x, empty="ones")
    with pytest.raises(mygemm.Error, match="softcap = -1 is negative"):
        mygemm.softmax(x, softcap=-1)
    with pytest.raises(mygemm.Error, match="overlaps the addresses of mask"):
        mygemm.softmax(x, mask=x[0], out=x)
