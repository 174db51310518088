"""Products of a JAX user in FP32, independent of mygemm: errors against FP64, as a line of JSON."""
import json
import os

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
os.environ["XLA_FLAGS"] = "--xla_gpu_enable_triton_gemm=false"  # products through cuBLASLt

import jax  # noqa: E402
from jax import numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_default_matmul_precision", "highest")


def worst_error(result, a, b):
    """max |C - C_ref| / (|A| |B|), with FP64 as the reference."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float((np.abs(np.asarray(result, np.float64) - a @ b) / (np.abs(a) @ np.abs(b))).max())


def main():
    errors = []
    multiply = jax.jit(lambda a, b: a @ b)
    of_transposes = jax.jit(lambda a, b: a.T @ b.T)
    with_bias = jax.jit(lambda a, b, bias: jax.nn.relu(a @ b + bias))
    for m, n, k in (256, 256, 256), (1000, 70, 333), (1024, 2048, 512):
        keys = jax.random.split(jax.random.key(m), 3)
        a, b = jax.random.normal(keys[0], (m, k)), jax.random.normal(keys[1], (k, n))
        bias = jax.random.normal(keys[2], (n,))
        errors.append(worst_error(multiply(a, b), a, b))
        errors.append(worst_error(of_transposes(jnp.asarray(a.T), jnp.asarray(b.T)), a, b))
        expected = np.maximum(np.asarray(a, np.float64) @ np.asarray(b, np.float64)
                              + np.asarray(bias, np.float64), 0)
        got = np.asarray(with_bias(a, b, bias), np.float64)
        errors.append(float(np.abs(got - expected).max() / expected.max()))
    print(json.dumps({"errors": errors}))


if __name__ == "__main__":
    main()
