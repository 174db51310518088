"""Products of matrices that lie on several GPUs, by PyTorch's DTensor: each GPU multiplies its
parts by cuBLAS or, with the drop-in preloaded, by mygemm.

    torchrun --nproc-per-node 2 torch_sharded_product.py [SIZE]
    LD_PRELOAD=/opt/mygemm/lib/libmygemm_cublas.so MYGEMM_REPORT=1 torchrun ...

One process where torchrun did not start it; on processors where PyTorch finds no GPU.
"""
import hashlib
import os
import sys

import torch
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

# How A, B and C = A B lie. Sharded by k, a GPU has sums over its part of k, which are added up and
# dealt out by rows.
SHARDINGS = {"columns": (Replicate(), Shard(1), Shard(1)),
             "rows": (Shard(0), Replicate(), Shard(0)),
             "k": (Shard(1), Shard(0), Shard(0))}


def start():
    """The mesh of the job's GPUs, one for each process."""
    alone = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": 29531}
    for name, value in alone.items():
        os.environ.setdefault(name, str(value))
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if gpu else "gloo")
    return init_device_mesh("cuda" if gpu else "cpu", (distributed.get_world_size(),))


def multiply(a, b, mesh, sharding):
    of_a, of_b, of_c = SHARDINGS[sharding]
    # Every process has the same A and B: it takes its parts, and nothing is sent.
    parts = (distribute_tensor(x, mesh, [of], src_data_rank=None)
             for x, of in ((a, of_a), (b, of_b)))
    return torch.mm(*parts).redistribute(mesh, [of_c])


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1536
    mesh = start()
    generator = torch.Generator(mesh.device_type).manual_seed(1)
    a, b = (torch.randn(shape, device=mesh.device_type, generator=generator)
            for shape in ((size, size + 256), (size + 256, size + 512)))
    exact, bound = a.double() @ b.double(), a.abs().double() @ b.abs().double()
    for sharding in SHARDINGS:
        c = multiply(a, b, mesh, sharding).full_tensor()
        error = ((c.double() - exact).abs() / bound).max().item()
        assert error < 1e-6, error
        if distributed.get_rank() == 0:
            bits = hashlib.sha256(c.cpu().numpy().tobytes()).hexdigest()[:16]
            print(f"by {sharding}, {mesh.size()} x {mesh.device_type}: largest error {error:.1e} "
                  f"of |A||B|, bits {bits}", flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
