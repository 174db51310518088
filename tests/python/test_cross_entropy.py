"""cross_entropy of NumPy arrays: values, outputs, options, what is refused."""
import numpy as np
import pytest

import mygemm
from support import ROUNDING, random_matrix


def expected_of(x, targets, smoothing=0.0, z_loss=0.0, ignore=-100):
    """Losses, log-sum-exps and the gradient of the sum of losses, in float64."""
    x = x.astype(np.float64)
    lse = np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1)) + x.max(-1)
    counts = targets != ignore
    hot = (np.arange(x.shape[-1]) == targets[..., None]).astype(np.float64)
    own = (x * hot).sum(-1)
    loss = (1 - smoothing) * (lse - own) + smoothing * (lse - x.mean(-1)) + z_loss * lse**2
    p = np.exp(x - lse[..., None])
    dx = p * (1 + 2 * z_loss * lse)[..., None] - smoothing / x.shape[-1] - (1 - smoothing) * hot
    return np.where(counts, loss, 0), lse, np.where(counts[..., None], dx, 0)


def random_targets(shape, cols, dtype=np.int64):
    return np.random.default_rng(3).integers(cols, size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (2, 3, 700)])
def test_values(shape, index, dtype):
    x = 3 * random_matrix(*shape, dtype=dtype)
    targets = random_targets(shape[:-1], shape[-1], index)
    targets.ravel()[-1] = -100
    for smoothing, z_loss in (0.0, 0.0), (0.1, 1e-3):
        loss, lse, dx = expected_of(x, targets, smoothing, z_loss)
        gradient, sums = np.empty_like(x), np.empty(shape[:-1], np.float32)
        got = mygemm.cross_entropy(x, targets, dx=gradient, lse=sums, label_smoothing=smoothing,
                                   z_loss=z_loss)
        assert got.dtype == np.float32 and got.shape == loss.shape
        assert np.allclose(got, loss, rtol=1e-6, atol=1e-6)
        assert np.allclose(sums, lse, rtol=1e-6, atol=1e-6)
        allowed = ROUNDING[np.dtype(dtype).name] * 2 * abs(dx) + 2e-7
        assert np.all(abs(gradient - dx) <= allowed)


def test_factors_and_in_place():
    x, targets = random_matrix(6, 40), random_targets((6,), 40)
    dloss = random_matrix(6, seed=5)
    expected = expected_of(x, targets)[2] * dloss[:, None] / 6
    out = np.empty(6, np.float32)
    assert mygemm.cross_entropy(x, targets, dx=x, dloss=dloss, gradient_scale=1 / 6,
                                out=out) is out
    assert np.allclose(x, expected, atol=1e-7)


def test_a_target_that_is_no_class_makes_its_row_nan():
    x, targets = random_matrix(3, 9), np.array([0, 9, 8])
    dx = np.empty_like(x)
    loss = mygemm.cross_entropy(x, targets, dx=dx)
    assert np.isnan(loss).tolist() == [False, True, False]
    assert np.isnan(dx).all(axis=1).tolist() == [False, True, False]


def test_empty():
    assert mygemm.cross_entropy(np.zeros((0, 5), np.float32), np.zeros(0, np.int64)).shape == (0,)


X, TARGETS = random_matrix(4, 6), np.array([0, 1, 2, 3])


@pytest.mark.parametrize("exception, sentence, arguments", [
    (TypeError, "x has dtype float64; cross_entropy takes", {"x": X.astype(np.float64)}),
    (TypeError, "targets has dtype float32; cross_entropy takes int32", {"targets": X[:, 0]}),
    (ValueError, r"targets has shape \(3,\); it must be \(4,\)", {"targets": TARGETS[:3]}),
    (ValueError, r"targets has strides \(2,\)", {"targets": np.arange(8)[::2]}),
    (ValueError, r"dx has shape \(3, 6\)", {"dx": np.empty((3, 6), np.float32)}),
    (ValueError, r"lse has shape \(3,\)", {"lse": np.empty(3, np.float32)}),
    (TypeError, "dloss has dtype int64", {"dloss": TARGETS}),
    (mygemm.Error, "label_smoothing = 2 is not from 0 to 1", {"label_smoothing": 2}),
    (mygemm.Error, "z_loss = nan is not finite", {"z_loss": float("nan")}),
])
def test_refusals(exception, sentence, arguments):
    with pytest.raises(exception, match=sentence):
        mygemm.cross_entropy(**{"x": X, "targets": TARGETS, **arguments})


def test_explain():
    text = mygemm.explain("cross_entropy", 4096, 128256, dtype="bfloat16", device="H200")
    assert text.startswith("chosen: cluster ")
    assert "--gradient apart" in text
    assert "--gradient none" in mygemm.explain("cross_entropy", 8, 9, gradient=False, device="host")
