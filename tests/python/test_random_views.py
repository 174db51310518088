"""Views with random shapes, strides and offsets: each call is right to the bit or refused.

The values are small integers, so that products are exact. What a view does not show must stay as
it was, whether the call succeeds or not.
"""
import numpy as np
import pytest

import mygemm

ROUNDS = 4000


def random_view(random, shape, dtype=np.float32):
    """A view of that shape and the buffer it lies in; often one that BLAS can express."""
    strides, step = [0] * len(shape), 1
    for axis in random.permutation(len(shape)) if random.random() < 0.3 else \
            reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis]
        if random.random() < 0.3:  # room between lines
            step += int(random.integers(0, 3))
        if random.random() < 0.06:  # what BLAS cannot express: gaps, overlap, broadcasting
            strides[axis] = int(random.integers(0, 3)) * strides[axis]
            step = max(step, 1) * 2
    if shape and random.random() < 0.06:
        axis = int(random.integers(len(shape)))
        strides[axis] = -strides[axis]
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides) if extent > 0]
    before, after = (sum(abs(r) for r in reach if (r < 0) == back) for back in (True, False))
    buffer = random.integers(-4, 5, before + after + 8).astype(dtype)
    start = before + int(random.integers(0, 7))
    view = np.lib.stride_tricks.as_strided(buffer[start:], shape,
                                           [stride * buffer.itemsize for stride in strides])
    return view, buffer


def outcome(call, out, buffer, expected):
    """Calls, and returns whether that succeeded; either way the buffer must be as it should be."""
    before = buffer.copy()
    try:
        call()
    except (ValueError, mygemm.Error) as error:
        assert len(str(error)) > 20
        assert np.array_equal(buffer, before)
        return False
    assert np.array_equal(out, expected)
    out[...] = 0  # what is not in `out` is compared
    after = buffer.copy()
    buffer[...] = before
    out[...] = 0
    assert np.array_equal(buffer, after)
    return True


def shape_of(random, dimensions):
    return [int(n) for n in random.integers(0, 7, dimensions)]


@pytest.mark.parametrize("seed", range(4))
def test_products(seed):
    random, succeeded = np.random.default_rng(seed), 0
    for _ in range(ROUNDS // 4):
        m, n, k = shape_of(random, 3)
        batch = [int(random.integers(0, 4))] if random.random() < 0.4 else []
        a, _ = random_view(random, [*batch, m, k])
        b, _ = random_view(random, [*(batch if random.random() < 0.5 else []), k, n])
        out, buffer = random_view(random, [*batch, m, n])
        expected = a.astype(np.float64) @ b - 2 * out
        succeeded += outcome(lambda a=a, b=b, out=out: mygemm.sgemm(a, b, beta=-2, out=out), out,
                             buffer, expected)
    assert ROUNDS / 4 * 0.2 < succeeded < ROUNDS / 4 * 0.9


@pytest.mark.parametrize("seed", range(4))
def test_grouped_products(seed):
    random, succeeded = np.random.default_rng(seed), 0
    for _ in range(ROUNDS // 4):
        tokens, m, n, groups = shape_of(random, 4)
        ends = np.sort(random.integers(0, tokens + 1, groups)).astype(random.choice(["i4", "i8"]))
        form = int(random.integers(3))  # rows of a, columns of b, the sum
        shapes = [([tokens, m], [groups, m, n], [tokens, n]),
                  ([groups, m, n], [n, tokens], [m, tokens]),
                  ([m, tokens], [tokens, n], [groups, m, n])][form]
        (a, _), (b, _), (out, buffer) = (random_view(random, shape) for shape in shapes)
        expected = out.astype(np.float64)
        for i, part in enumerate(map(slice, [0, *ends], ends)):
            if form == 0:
                expected[part] = a[part].astype(np.float64) @ b[i]
            elif form == 1:
                expected[:, part] = a[i].astype(np.float64) @ b[:, part]
            else:
                expected[i] = a[:, part].astype(np.float64) @ b[part]
        succeeded += outcome(lambda a=a, b=b, ends=ends, out=out:
                             mygemm.grouped_matmul(a, b, ends, out=out), out, buffer, expected)
    assert ROUNDS / 4 * 0.2 < succeeded < ROUNDS / 4 * 0.9


@pytest.mark.parametrize("seed", range(2))
def test_softmax(seed):
    random, succeeded = np.random.default_rng(seed), 0
    for _ in range(ROUNDS // 2):
        shape = shape_of(random, int(random.integers(1, 4)))
        x, _ = random_view(random, shape)
        out, buffer = random_view(random, shape)
        expected = mygemm.softmax(np.ascontiguousarray(x))
        succeeded += outcome(lambda x=x, out=out: mygemm.softmax(x, out=out), out, buffer,
                             expected)
    assert ROUNDS / 2 * 0.2 < succeeded < ROUNDS / 2 * 0.9


@pytest.mark.parametrize("seed", range(2))
def test_transpose(seed):
    random, succeeded = np.random.default_rng(seed), 0
    for _ in range(ROUNDS // 2):
        shape = shape_of(random, int(random.integers(2, 4)))
        dtype = random.choice(["int8", "int16", "float32", "float64", "complex128"])
        x, _ = random_view(random, shape, dtype)
        out, buffer = random_view(random, [*shape[:-2], shape[-1], shape[-2]], dtype)
        succeeded += outcome(lambda x=x, out=out: mygemm.transpose(x, out=out), out, buffer,
                             np.swapaxes(x, -1, -2))
    assert ROUNDS / 2 * 0.2 < succeeded < ROUNDS / 2 * 0.9
