"""Training on several GPUs with PyTorch, first with tensor parallelism (each layer's weights
divided, every GPU has all rows), then with FSDP (weights gathered when they are needed, rows
divided). All products are cuBLAS's or, with the drop-in preloaded, mygemm's.

    torchrun --nproc-per-node 2 torch_parallel_training.py
    LD_PRELOAD=/opt/mygemm/lib/libmygemm_cublas.so MYGEMM_REPORT=1 torchrun ...

One process where torchrun did not start it; on processors where PyTorch finds no GPU. The losses
are compared with those of the same training in FP64 by each process alone.
"""
import hashlib

import torch
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                               parallelize_module)

from torch_sharded_product import start

WIDTH, HIDDEN, ROWS, STEPS = 512, 2048, 256, 6


class Layer(nn.Module):
    """The feed-forward part of a transformer, with the input added."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


def network(device):
    torch.manual_seed(1)
    return nn.Sequential(*(Layer() for _ in range(3))).to(device)


def tensor_parallel(model, mesh):
    for layer in model:
        # Whatever follows `up` has a part of the columns, and `down` adds the parts up.
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})


def fsdp(model, mesh):
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)


def train(model, inputs, targets):
    """The loss of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64)


def bits_of(model):
    whole = (p.full_tensor() if isinstance(p, DTensor) else p for p in model.parameters())
    return hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in whole)).hexdigest()


def main():
    mesh = start()
    device, rank = mesh.device_type, distributed.get_rank()
    torch.manual_seed(2)
    inputs, targets = torch.randn(2, ROWS * mesh.size(), WIDTH).to(device)
    exact = train(network(device).double(), inputs.double(), targets.double())
    for parallelize, rows in (tensor_parallel, slice(None)), (fsdp, slice(rank * ROWS,
                                                                         (rank + 1) * ROWS)):
        model = network(device)
        parallelize(model, mesh)
        losses = train(model, inputs[rows], targets[rows]).to(device)
        distributed.all_reduce(losses)  # with FSDP each process has the mean over its own rows
        losses = losses.cpu() / mesh.size()
        difference = ((losses - exact) / exact).abs().max().item()
        assert losses[-1] < losses[0] and difference < 1e-5, (losses, exact)
        bits = bits_of(model)
        if rank == 0:
            print(f"{parallelize.__name__}, {mesh.size()} x {device}: loss {losses[0]:.4f} to "
                  f"{losses[-1]:.4f}, within {difference:.1e} of FP64's, bits {bits[:16]}",
                  flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
