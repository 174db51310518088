"""Programs on one GPU and on several that bench/scale_out.py runs, with the drop-in preloaded or
without: PyTorch's DTensor, tensor parallelism and FSDP (a process for each GPU), JAX's sharding and
NVIDIA's libraries for several GPUs (one process).

A function for each engine yields its measurements, dictionaries of

case, gpus              the name of the program in the record, and the number of GPUs
about                   its name in the table
base                    the case on one GPU that its throughput is compared with
work, unit              the work of a step in the unit of its rate, per second
seconds                 median of a step
error                   of a product: the largest error of 1024 results, as a share of |A| |B|
first_loss, loss        of training: the loss of the first step and of the last measured one
gradient                of training: the norm of the first step's gradient

All matrices are FP32; TF32 is off. PyTorch, JAX and NumPy are imported by the engines that use
them.
"""
import math
import os
import statistics
import time

WARM_UP, MEASURED = 2, 5  # steps
SAMPLES = 32  # rows and columns of a product that are computed in FP64
FULL = {"size": 16384, "width": 4096, "layers": 4, "heads": 32, "hidden": 11008, "sequences": 4,
        "tokens": 1024, "tile": 4096}
# Sizes with which the scripts are tested.
SMALL = {"size": 256, "width": 64, "layers": 2, "heads": 4, "hidden": 128, "sequences": 2,
         "tokens": 32, "tile": 128}


def timed(step, wait):
    """Seconds of each measured step; wait() returns when everybody has finished."""
    times = []
    for _ in range(WARM_UP + MEASURED):
        wait()
        start = time.perf_counter()
        step()
        wait()
        times.append(time.perf_counter() - start)
    return times[WARM_UP:]


def product(engine, sharding, gpus, m, n, k, **more):
    sides = f"{m}³" if m == n == k else f"{m} × {n} × {k}"
    how = f", sharded by {sharding}" if gpus > 1 else ""
    return {"case": f"{engine}_{sharding if gpus > 1 else 'whole'}" + ("_weak" if n != m else ""),
            "base": f"{engine}_whole", "about": f"{more.pop('about')}, {sides}{how}", "gpus": gpus,
            "work": 2e-12 * m * n * k, "unit": "TFLOP/s", **more}


# ---- PyTorch -----------------------------------------------------------------------------------

class Job:
    """The GPUs of some processes: this one's and those of the ranks before the last of them."""

    def __init__(self, count, device):
        import torch
        from torch import distributed
        from torch.distributed.device_mesh import DeviceMesh
        self.torch, self.distributed = torch, distributed
        self.count, self.device, self.rank = count, device, distributed.get_rank()
        # All processes take part in making groups, also those that are not in them.
        self.mesh = DeviceMesh(device, list(range(count)))
        self.group = distributed.new_group(list(range(count)), backend="gloo")

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        self.distributed.barrier(group=self.group)

    def over_ranks(self, values, operation):
        found = self.torch.tensor(values, dtype=self.torch.float64)
        self.distributed.all_reduce(found, getattr(self.distributed.ReduceOp, operation),
                                    group=self.group)
        return found.tolist()

    def seconds(self, step):
        """The median over steps of the slowest GPU's time."""
        return statistics.median(self.over_ranks(timed(step, self.wait), "MAX"))


def torch_product(job, sharding, m, n, k):
    """By columns of B, rows of A, or k; the sums of parts of k end up dealt out by rows."""
    import torch
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    of_a, of_b, of_c = {"columns": (Replicate(), Shard(1), Shard(1)),
                        "rows": (Shard(0), Replicate(), Shard(0)),
                        "k": (Shard(1), Shard(0), Shard(0))}[sharding]
    torch.manual_seed(1)
    a, b = (distribute_tensor(torch.randn(*shape, device=job.device), job.mesh, [of],
                              src_data_rank=None)
            for shape, of in (((m, k), of_a), ((k, n), of_b)))
    result = {}

    def step():
        result["c"] = None  # its memory is the next one's
        result["c"] = torch.mm(a, b).redistribute(job.mesh, [of_c])

    seconds = job.seconds(step)
    rows, columns = (torch.arange(0, side, side // SAMPLES, device=job.device) for side in (m, n))
    x, y = a.full_tensor()[rows].double(), b.full_tensor()[:, columns].double()
    found = result["c"].full_tensor()[rows][:, columns]
    error = ((found.double() - x @ y).abs() / (x.abs() @ y.abs())).max().item()
    return product("torch", sharding, job.count, m, n, k, about="PyTorch DTensor", seconds=seconds,
                   error=error)


def whole(x):
    return x.full_tensor() if hasattr(x, "full_tensor") else x


def divide_decoder(model, mesh):
    """Tensor parallelism: the heads and the feed-forward parts' columns are divided."""
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                                   parallelize_module)
    plan = {"logits": ColwiseParallel(output_layouts=Replicate())}
    for number, block in enumerate(list(model.blocks)[:-1]):
        plan.update({f"blocks.{number}.attention.project.*": ColwiseParallel(),
                     f"blocks.{number}.attention.join": RowwiseParallel(),
                     f"blocks.{number}.feed.gate": ColwiseParallel(),
                     f"blocks.{number}.feed.up": ColwiseParallel(),
                     f"blocks.{number}.feed.down": RowwiseParallel()})
        block.attention.heads //= mesh.size()
    parallelize_module(model, mesh, plan, src_data_rank=None)


def shard_decoder(model, mesh):
    """FSDP: each GPU keeps its part of all weights, and has sequences of its own."""
    from torch.distributed.fsdp import fully_shard
    for block in model.blocks:
        if any(True for _ in block.parameters()):
            fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


def torch_decoder(job, sizes, how):
    """A training step of a decoder without biases; `how`: None, divide_decoder or shard_decoder."""
    import torch
    import drop_in_models as models
    torch.manual_seed(1)
    with torch.device(job.device):
        model = models.decoder_without_biases(sizes["width"], sizes["layers"], sizes["heads"],
                                              sizes["hidden"])
    if how:
        how(model, job.mesh)
    own_rows = how is shard_decoder
    torch.manual_seed(2 + (job.rank if own_rows else 0))
    text = torch.randint(models.VOCABULARY, (sizes["sequences"], sizes["tokens"] + 1),
                         device=job.device)
    inputs, targets = text[:, :-1].contiguous(), text[:, 1:].flatten()
    # One group of weights that are distributed, one of the others: an optimizer mixes no two.
    groups = [[p for p in model.parameters() if hasattr(p, "full_tensor") == distributed]
              for distributed in (False, True)]
    optimizer = torch.optim.AdamW([{"params": group} for group in groups if group], lr=3e-4)
    losses = []

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    step()
    squares = sum(whole(p.grad.double().square().sum()).item() for p in model.parameters())
    seconds = job.seconds(step)
    first, last = job.over_ranks([losses[0].item(), losses[-1].item()], "SUM")
    rows = job.count if own_rows else 1
    suffix = {None: "", divide_decoder: "_tensor", shard_decoder: "_fsdp"}[how]
    name = {None: "", divide_decoder: ", tensor parallelism", shard_decoder: ", FSDP"}[how]
    return {"case": f"torch_decoder{suffix}", "base": "torch_decoder", "gpus": job.count,
            "about": f"PyTorch, training step of a decoder of width {sizes['width']}, "
                     f"{sizes['layers']} layers, {rows * sizes['sequences']} sequences of "
                     f"{sizes['tokens']} tokens{name}",
            "work": rows * sizes["sequences"] * sizes["tokens"], "unit": "tokens/s",
            "seconds": seconds, "first_loss": first / job.count, "loss": last / job.count,
            "gradient": math.sqrt(squares)}


def torch_on(job, sizes):
    """Strong scaling: the same product and the same rows by more GPUs. Weak scaling: as many times
    as many columns, or as many rows (FSDP)."""
    n = sizes["size"]
    if job.count == 1:
        yield torch_product(job, "columns", n, n, n)
        yield torch_decoder(job, sizes, None)
        return
    for sharding in "columns", "rows", "k":
        yield torch_product(job, sharding, n, n, n)
    yield torch_product(job, "columns", n, n * job.count, n)
    yield torch_decoder(job, sizes, divide_decoder)
    yield torch_decoder(job, sizes, shard_decoder)


def torch_shared(count, device, everybody, n):
    """Each process multiplies its part of the columns, all on the first GPU."""
    import torch
    from torch import distributed
    first = torch.device(device, 0) if device == "cuda" else torch.device(device)
    a, b = torch.randn(n, n, device=first), torch.randn(n, n // count, device=first)

    def wait():
        if device == "cuda":
            torch.cuda.synchronize(first)
        distributed.barrier(group=everybody)

    times = torch.tensor(timed(lambda: a @ b, wait), dtype=torch.float64)
    distributed.all_reduce(times, distributed.ReduceOp.MAX, group=everybody)
    found = product("torch", "columns", 1, n, n, n, about=f"PyTorch, {count} processes on one GPU")
    return {**found, "case": "torch_shared", "seconds": statistics.median(times.tolist())}


def run_torch(counts, sizes):
    import torch
    from torch import distributed
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo")
    everybody = distributed.new_group(backend="gloo")
    for count in counts:
        job = Job(count, device)
        if job.rank < count:
            for found in torch_on(job, sizes):
                if device == "cuda":
                    torch.cuda.empty_cache()
                yield found
        distributed.barrier(group=everybody)
    if max(counts) > 1:
        yield torch_shared(max(counts), device, everybody, sizes["size"])
    distributed.destroy_process_group()


# ---- JAX ---------------------------------------------------------------------------------------

def jax_product(count, sharding, m, n, k):
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    mesh = Mesh(np.array(jax.devices()[:count]), ("gpu",))
    specs = {"columns": ((), (None, "gpu"), (None, "gpu")), "rows": (("gpu",), (), ("gpu",)),
             "k": ((None, "gpu"), ("gpu",), ("gpu",))}[sharding]
    of_a, of_b, of_c = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in specs)

    def random(seed, shape, sharded):
        make = jax.jit(lambda key: jax.random.normal(key, shape), out_shardings=sharded)
        return make(jax.random.key(seed))

    a, b = random(1, (m, k), of_a), random(2, (k, n), of_b)
    multiply = jax.jit(lambda a, b: a @ b, out_shardings=of_c)
    result = {}

    def step():
        result["c"] = None
        result["c"] = multiply(a, b)

    seconds = statistics.median(timed(step, lambda: jax.block_until_ready(result.get("c"))))
    rows, columns = (slice(None, None, side // SAMPLES) for side in (m, n))
    x, y = (np.asarray(part, np.float64) for part in (a[rows], b[:, columns]))
    found = np.asarray(result["c"][rows, columns], np.float64)
    error = float((np.abs(found - x @ y) / (np.abs(x) @ np.abs(y))).max())
    return product("jax", sharding, count, m, n, k, about="JAX", seconds=seconds, error=error)


def run_jax(counts, sizes):
    import jax
    if len(jax.devices()) < max(counts):
        raise RuntimeError(f"JAX finds {len(jax.devices())} devices")
    jax.config.update("jax_default_matmul_precision", "highest")
    n = sizes["size"]
    for count in counts:
        for sharding in ("columns", "rows", "k") if count > 1 else ("columns",):
            yield jax_product(count, sharding, n, n, n)
        if count > 1:
            yield jax_product(count, "columns", n, n * count, n)


# ---- NVIDIA's libraries ------------------------------------------------------------------------

def run_libraries(counts, sizes):
    import numpy as np
    import several_gpus
    n, cuda = sizes["size"], several_gpus.Cuda()
    random = np.random.default_rng(1)
    a, b, c = (cuda.pinned(n, n) for _ in range(3))
    for matrix in a, b:
        random.random(dtype=np.float32, out=matrix.T)
        matrix -= 0.5
    rows = columns = slice(None, None, n // SAMPLES)
    x, y = a[rows].astype(np.float64), b[:, columns].astype(np.float64)
    bound = np.abs(x) @ np.abs(y)
    for count in counts:
        products = several_gpus.HostProducts(range(count), sizes["tile"])
        seconds = statistics.median(timed(lambda: products.multiply(a, b, c), lambda: None))
        products.close()
        error = float((np.abs(c[rows, columns] - x @ y) / bound).max())
        yield {"case": "cublasxt", "base": "cublasxt", "gpus": count, "work": 2e-12 * n ** 3,
               "about": f"cublasXtSgemm, {n}³ in pinned host memory", "unit": "TFLOP/s",
               "seconds": seconds, "error": error}
    a[np.diag_indices(n)] = 4 * n ** 0.5  # positive definite; the upper triangle is not read
    for count in counts:
        yield cholesky(several_gpus.Cholesky(n, range(count)), a)


def cholesky(factors, a):
    """The matrix is loaded again before each step; that is not in its time."""
    times = []
    for _ in range(1 + 3):
        factors.load(a)
        start = time.perf_counter()
        factors.factorise()
        times.append(time.perf_counter() - start)
    return {"case": "cusolvermg", "base": "cusolvermg", "gpus": len(factors.devices),
            "work": 1e-12 * factors.n ** 3 / 3, "unit": "TFLOP/s",
            "about": f"cusolverMgPotrf, {factors.n} × {factors.n}",
            "seconds": statistics.median(times[1:])}


ENGINES = {"torch": run_torch, "jax": run_jax, "libraries": run_libraries}
# Variables of an engine's processes.
ENVIRONMENT = {"jax": {"XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                       "XLA_FLAGS": "--xla_gpu_enable_triton_gemm=false"}}
