"""The test of the conda package: a product, a softmax, a transpose and a plan, on the host."""
import os

os.environ["MYGEMM_BACKEND"] = "host"
import mygemm  # noqa: E402
import numpy as np  # noqa: E402

a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
assert np.array_equal(mygemm.sgemm(a, b), a @ b)
assert abs(mygemm.softmax(a).sum(axis=-1) - 1).max() < 1e-6
assert np.array_equal(mygemm.transpose(a), a.T)
assert "chosen" in mygemm.explain("sgemm", 4096, 4096, 128, device="H200")
print("right")
