"""Products of matrices that lie on several GPUs, by JAX's sharding: one process, and XLA multiplies
each GPU's parts by cuBLASLt or, with the drop-in preloaded, by mygemm.

    python3 jax_sharded_product.py [SIZE]
    LD_PRELOAD=/opt/mygemm/lib/libmygemm_cublas.so MYGEMM_REPORT=1 python3 jax_sharded_product.py

On all GPUs that JAX finds, or on processors. XLA's own Triton kernels are left out.
"""
import hashlib
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + " --xla_gpu_enable_triton_gemm=false").strip()

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

jax.config.update("jax_default_matmul_precision", "highest")  # FP32; the default is TF32

# How A, B and C = A B lie. Sharded by k, a GPU has sums over its part of k, which are added up and
# dealt out by rows.
SHARDINGS = {"columns": (PartitionSpec(), PartitionSpec(None, "gpu"), PartitionSpec(None, "gpu")),
             "rows": (PartitionSpec("gpu"), PartitionSpec(), PartitionSpec("gpu")),
             "k": (PartitionSpec(None, "gpu"), PartitionSpec("gpu"), PartitionSpec("gpu"))}


def multiply(a, b, mesh, sharding):
    of_a, of_b, of_c = (NamedSharding(mesh, spec) for spec in SHARDINGS[sharding])
    product = jax.jit(lambda a, b: a @ b, out_shardings=of_c)
    return product(jax.device_put(a, of_a), jax.device_put(b, of_b))


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1536
    mesh = Mesh(np.array(jax.devices()), ("gpu",))
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(shape, dtype=np.float32)
            for shape in ((size, size + 256), (size + 256, size + 512)))
    exact, bound = a.astype(np.float64) @ b, np.abs(a).astype(np.float64) @ np.abs(b)
    for sharding in SHARDINGS:
        c = np.asarray(multiply(a, b, mesh, sharding))
        error = (np.abs(c - exact) / bound).max()
        assert error < 1e-6, error
        bits = hashlib.sha256(c.tobytes()).hexdigest()[:16]
        print(f"by {sharding}, {mesh.size} x {jax.default_backend()}: largest error {error:.1e} of "
              f"|A||B|, bits {bits}", flush=True)


if __name__ == "__main__":
    main()
