"""Programs that bench/drop_in.py runs, each in a process of its own: training steps of PyTorch and
JAX, factorisations of cuSOLVER, least squares of CuPy, and the host's time of small products.

All matrices are FP32 unless a program says otherwise; TF32 is off. The first sentence of a
program's docstring is its name in the table of docs/drop-in.md. A program returns a dictionary:

seconds                 median of a step, or of a call
first_loss, loss        of training: the loss of the first step and of the last measured one
gradient                of training with PyTorch: the norm of the first step's gradient
gpu_ms                  of training with PyTorch, where asked: milliseconds of a step that the GPU
                        spends in mygemm's kernels, in other products and in other kernels

PyTorch, JAX and CuPy are imported by the programs that use them.
"""
import functools
import math
import re
import statistics
import time
import traceback

WARM_UP, MEASURED, PROFILED = 2, 8, 2  # steps
# Kernels of products by their names: cuBLAS's, cuBLASLt's and cuDNN's. Those of fused attention are
# made of CUTLASS too, but no library of products is called for them.
PRODUCT = re.compile("gemm|gemv|cutlass|nvjet|xmma|splitK|cublas", re.I)
ATTENTION = re.compile("fmha|attention|flash", re.I)


# ---- measuring ---------------------------------------------------------------------------------

def measure(step, repetitions=MEASURED, warm_up=WARM_UP):
    """Median seconds of a call of `step`, by CUDA events, and what the last call returned."""
    import torch
    for _ in range(warm_up):
        step()
    times = []
    for _ in range(repetitions):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        value = step()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times), value


def train(model, loss, optimizer, profile):
    """Whole training steps: loss() forward and backward, and the optimizer's step."""
    def step():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.detach()

    first = step().item()
    squares = [p.grad.double().square().sum().item() for p in model.parameters()]
    seconds, last = measure(step, warm_up=WARM_UP - 1)
    result = {"seconds": seconds, "first_loss": first, "loss": last.item(),
              "gradient": math.sqrt(sum(squares))}
    if profile:
        try:
            result["gpu_ms"] = gpu_times(step)
        except Exception:  # without a profile, the rest of the result stands
            traceback.print_exc()
    return result


def kernel_class(name):
    if "mygemm" in name:
        return "mygemm"
    return "cublas" if PRODUCT.search(name) and not ATTENTION.search(name) else "other"


def gpu_times(step):
    """Milliseconds of a step by class of kernel."""
    import torch
    from torch.autograd import DeviceType
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(PROFILED):
            step()
        torch.cuda.synchronize()
    kernels = [event for event in profiler.events()
               if event.device_type == DeviceType.CUDA and not event.is_user_annotation]
    if not kernels:
        raise RuntimeError("the profiler saw no kernels")
    sums = {"mygemm": 0.0, "cublas": 0.0, "other": 0.0}
    for kernel in kernels:
        sums[kernel_class(kernel.name)] += kernel.time_range.elapsed_us() / 1e3 / PROFILED
    return sums


def on_gpu(make, *arguments):
    """make(*arguments), its weights made on the GPU from a fixed seed."""
    import torch
    torch.manual_seed(1)
    with torch.device("cuda"):
        return make(*arguments)


def adamw(model):
    import torch
    return torch.optim.AdamW(model.parameters(), lr=3e-4)


# ---- training with PyTorch ---------------------------------------------------------------------

def layers(profile):
    """PyTorch, four layers of 4096 x 4096 without bias, GELU, 4096 rows."""
    import torch
    import drop_in_models as models
    model = on_gpu(models.layers_without_biases, 4096, 4)
    inputs = torch.randn(4096, 4096, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    return train(model, lambda: model(inputs).square().mean(), optimizer, profile)


def train_decoder(model, sequences, tokens, profile):
    """The next token's cross entropy, of random tokens."""
    import torch
    import drop_in_models as models
    text = torch.randint(models.VOCABULARY, (sequences, tokens + 1), device="cuda")
    inputs, targets = text[:, :-1].contiguous(), text[:, 1:].flatten()

    def loss():
        return torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets)
    return train(model, loss, adamw(model), profile)


def decoder_without_biases(profile):
    """PyTorch, decoder without biases (LLaMA's architecture), width 2048, 4 layers, 16 heads,
    4 sequences of 1024 tokens. SwiGLU of width 5504."""
    import drop_in_models as models
    model = on_gpu(models.decoder_without_biases, 2048, 4, 16, 5504)
    return train_decoder(model, 4, 1024, profile)


def decoder_with_biases(profile):
    """PyTorch, decoder with biases (GPT-2's architecture), width 768, 12 layers, 12 heads,
    8 sequences of 1024 tokens."""
    import drop_in_models as models
    model = on_gpu(models.decoder_with_biases, 768, 12, 12, 1024)
    return train_decoder(model, 8, 1024, profile)


def encoder(profile):
    """PyTorch, encoder with biases, width 1024, 24 layers, 16 heads, 16 sequences of 197 tokens."""
    import torch
    import drop_in_models as models
    model = on_gpu(models.encoder, 1024, 24, 16)
    inputs, targets = torch.randn(2, 16, 197, 1024, device="cuda")
    return train(model, lambda: torch.nn.functional.mse_loss(model(inputs), targets),
                 adamw(model), profile)


def vision_transformer(profile):
    """PyTorch, vision transformer of width 1024, 24 layers, 16 heads, 16 images of 224 x 224.
    An encoder of the same size, with patches of 16 x 16 and their embedding before it."""
    import torch
    import drop_in_models as models
    model = on_gpu(models.VisionTransformer, 1024, 24, 16, 224, 1000)
    images = torch.randn(16, 3, 224, 224, device="cuda")
    classes = torch.randint(1000, (16,), device="cuda")
    return train(model, lambda: torch.nn.functional.cross_entropy(model(images), classes),
                 adamw(model), profile)


def train_perceptron(profile, compiled):
    import torch
    import drop_in_models as models
    model = on_gpu(models.perceptron, 4096, 6)
    inputs = torch.randn(8192, 4096, device="cuda")
    classes = torch.randint(4096, (8192,), device="cuda")
    called = torch.compile(model) if compiled else model
    return train(model, lambda: torch.nn.functional.cross_entropy(called(inputs), classes),
                 adamw(model), profile)


def perceptron(profile):
    """PyTorch, six layers of 4096 x 4096 with biases and ReLU, 8192 rows."""
    return train_perceptron(profile, compiled=False)


def compiled_perceptron(profile):
    """PyTorch, six layers of 4096 x 4096 with biases and ReLU, 8192 rows, torch.compile."""
    return train_perceptron(profile, compiled=True)


def lstm(profile):
    """PyTorch, LSTM of width 1024, 2 layers, 128 sequences of 64. cuDNN computes it."""
    import torch
    torch.backends.cudnn.allow_tf32 = False  # it is on by default, unlike that of products
    model = on_gpu(torch.nn.LSTM, 1024, 1024, 2)
    inputs, targets = torch.randn(2, 64, 128, 1024, device="cuda")
    return train(model, lambda: torch.nn.functional.mse_loss(model(inputs)[0], targets),
                 adamw(model), profile)


# ---- training with JAX -------------------------------------------------------------------------

def train_jax(n, rows=4096):
    """Four layers of n x n, GELU, stochastic gradient descent."""
    import jax
    from jax import numpy as jnp
    if jax.default_backend() != "gpu":
        raise RuntimeError(f"JAX runs on {jax.default_backend()}")
    jax.config.update("jax_default_matmul_precision", "highest")
    keys = jax.random.split(jax.random.key(1), 6)
    weights = [jax.random.normal(key, (n, n), jnp.float32) / math.sqrt(n) for key in keys[:4]]
    inputs, targets = (jax.random.normal(key, (rows, n), jnp.float32) for key in keys[4:])

    def loss(weights, x, targets):
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return jnp.mean((x - targets) ** 2)

    @functools.partial(jax.jit, donate_argnums=0)
    def step(weights, inputs, targets):
        value, gradients = jax.value_and_grad(loss)(weights, inputs, targets)
        return [w - 0.5 * gradient for w, gradient in zip(weights, gradients)], value

    times, losses = [], []
    for _ in range(WARM_UP + MEASURED):
        start = time.perf_counter()
        weights, value = jax.block_until_ready(step(weights, inputs, targets))
        times.append(time.perf_counter() - start)
        losses.append(float(value))
    return {"seconds": statistics.median(times[WARM_UP:]), "first_loss": losses[0],
            "loss": losses[-1]}


def jax_4096():
    """JAX, four layers of 4096 x 4096 without bias, GELU, 4096 rows."""
    return train_jax(4096)


def jax_2048():
    """JAX, four layers of 2048 x 2048 without bias, GELU, 4096 rows."""
    return train_jax(2048)


def jax_2048_without_triton():
    """JAX, four layers of 2048 x 2048 without bias, `--xla_gpu_enable_triton_gemm=false`."""
    return train_jax(2048)


# ---- cuSOLVER and CuPy -------------------------------------------------------------------------

def factorisation(function, n, definite=True, repetitions=5):
    import torch
    torch.backends.cuda.preferred_linalg_library("cusolver")
    torch.manual_seed(1)
    a = torch.randn(n, n, device="cuda")
    if definite:
        a = a @ a.T / n + torch.eye(n, device="cuda")
    return {"seconds": measure(lambda: function(torch, a), repetitions)[0]}


def lu():
    """cuSOLVER's getrf, 16384 x 16384."""
    return factorisation(lambda torch, a: torch.linalg.lu_factor(a), 16384)


def cholesky():
    """cuSOLVER's potrf, 16384 x 16384."""
    return factorisation(lambda torch, a: torch.linalg.cholesky(a), 16384)


def qr():
    """cuSOLVER's geqrf, 8192 x 8192."""
    return factorisation(lambda torch, a: torch.geqrf(a), 8192)


def svd():
    """cuSOLVER's gesvd, 2048 x 2048."""
    return factorisation(lambda torch, a: torch.linalg.svd(a, driver="gesvd"), 2048, False, 3)


def cupy_median(solve, repetitions):
    """Median seconds of solve(cupy, a, b), a 16384 x 1024 and b 16384 x 512, by CUDA events."""
    import cupy
    import numpy
    random = numpy.random.default_rng(1)
    a, b = (cupy.asarray(random.standard_normal((16384, n), dtype=numpy.float32))
            for n in (1024, 512))
    times = []
    for _ in range(WARM_UP + repetitions):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        solve(cupy, a, b)
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    return {"seconds": statistics.median(times[WARM_UP:])}


def cupy_normal_equations():
    """CuPy, least squares by normal equations, 16384 x 1024, 512 right-hand sides."""
    return cupy_median(lambda cupy, a, b: cupy.linalg.solve(a.T @ a, a.T @ b), 8)


def cupy_lstsq():
    """CuPy's linalg.lstsq (by gesvd), 16384 x 1024, 512 right-hand sides."""
    return cupy_median(lambda cupy, a, b: cupy.linalg.lstsq(a, b, rcond=None), 3)


# ---- the host's time ---------------------------------------------------------------------------

def host_time(call):
    """Median seconds for which a call that only enqueues keeps the host."""
    import torch
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            call()
        times.append((time.perf_counter() - start) / 500)
    return {"seconds": statistics.median(times)}


def host_mm(dtype):
    import torch
    a, out = (torch.randn(64, 64, device="cuda").to(getattr(torch, dtype)) for _ in range(2))
    return host_time(lambda: torch.mm(a, a, out=out))


def small_product():
    """The host's time for torch.mm of 64 x 64 x 64, enqueued without waiting."""
    return host_mm("float32")


def small_linear():
    """The host's time for nn.Linear of 64 x 64 x 64 with a bias, without gradients."""
    import torch
    layer, x = on_gpu(torch.nn.Linear, 64, 64), torch.randn(64, 64, device="cuda")
    with torch.no_grad():
        return host_time(lambda: layer(x))


def small_bf16_product():
    """The host's time for torch.mm of 64 x 64 x 64 in BF16, which goes on to cuBLAS."""
    return host_mm("bfloat16")


# ---- the list ----------------------------------------------------------------------------------

# Those that can be profiled.
TRAINING = [layers, decoder_without_biases, decoder_with_biases, encoder, vision_transformer,
            perceptron, compiled_perceptron, lstm]
WORKLOADS = {workload.__name__: workload for workload in [
    *TRAINING, jax_4096, jax_2048, jax_2048_without_triton, lu, cholesky, qr, svd,
    cupy_normal_equations, cupy_lstsq, small_product, small_linear, small_bf16_product]}

# Those that measure the host.
HOST = {"small_product", "small_linear", "small_bf16_product"}

JAX = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
# Variables of a program's process. Workers of torch.compile would outlive it.
ENVIRONMENT = {
    "compiled_perceptron": {"TORCHINDUCTOR_COMPILE_THREADS": "1"},
    "jax_4096": JAX, "jax_2048": JAX,
    "jax_2048_without_triton": {**JAX, "XLA_FLAGS": "--xla_gpu_enable_triton_gemm=false"},
}


def title(name):
    """The first sentence of a program's docstring, without its full stop."""
    return re.match(r"(.*?)\.(?= |$)", " ".join(WORKLOADS[name].__doc__.split()))[1]


def can_be_profiled(name):
    return WORKLOADS[name] in TRAINING


def run(name, profile):
    return WORKLOADS[name](profile) if can_be_profiled(name) else WORKLOADS[name]()
