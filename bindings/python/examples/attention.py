"""Attention of float32 heads from three calls: products of batches, softmax, products of batches.

Works on NumPy arrays, PyTorch tensors and CuPy arrays alike; here on NumPy's.
"""
import numpy as np

import mygemm


def attention(q, k, v):
    """softmax(q k' / sqrt(width)) v for q, k, v of shape (heads, positions, width)."""
    scores = mygemm.sgemm(q, k, transb=True, alpha=q.shape[-1] ** -0.5)
    mygemm.softmax(scores, out=scores)
    return mygemm.sgemm(scores, v)


def main():
    q, k, v = np.random.default_rng(1).standard_normal((3, 8, 256, 64), dtype=np.float32)
    result = attention(q, k, v)
    weights = np.exp(np.einsum("hqd,hkd->hqk", q, k, dtype=np.float64) / 8)
    expected = weights / weights.sum(axis=-1, keepdims=True) @ v
    print(f"largest difference from float64: {abs(result - expected).max():.1e}")
    print(mygemm.explain("sgemm", 256, 256, 64, transb=True, batch=8, device="H200"))


if __name__ == "__main__":
    main()
