#!/usr/bin/env python3
"""Grouped products: mygemm's beside PyTorch's, in one process.

Usage: torch_grouped.py LIBMYGEMM --out RESULTS.json [--commit HASH] [--groups N] [--seed N]
                        [--only TEXT]
mygemm_gemm_grouped through ctypes with sizes on the device, and torch._grouped_mm, or, for FP32,
which that does not take, torch.mm for each expert, whose sizes the host knows. `single` is one
product of mygemm_gemm with all tokens: the rate that no group can exceed. Data are random and
normal; operands are rotated where they fit the cache. Each is timed by events over the replay of a
CUDA graph of several calls, in turns; medians. Results are compared with FP64 on a sample of
columns. Needs PyTorch with CUDA.
"""
import argparse
import ctypes
import random
import re
import statistics

import torch

from torch_products import CACHE_BYTES, Gemm, Library, TYPES, graph_of, seconds_of, write_run

GRAPH_SECONDS, MOST_CALLS = 5e-3, 100


class Groups(ctypes.Structure):
    """mygemmGroups_t of include/mygemm/types.h."""
    _fields_ = [("struct_size", ctypes.c_size_t),
                *[(name, ctypes.c_void_p) for name in ("m", "n", "k", "lda", "ldb", "ldc", "ldd")],
                ("total", ctypes.c_int64), ("index_type", ctypes.c_int32),
                ("location", ctypes.c_int32), ("stacked", ctypes.c_int32),
                ("ends", ctypes.c_int32)]


def case(name, outputs, inputs, tokens, kind="bf16", form="forward", weights="KN"):
    """tokens: of each expert. weights: NK for outputs x inputs, as linear layers have them."""
    return {"name": name, "outputs": outputs, "inputs": inputs, "tokens": tokens, "type": kind,
            "form": form, "weights": weights}


def cases(seed):
    rng = random.Random(seed)
    uniform = [rng.randint(0, 512) for _ in range(64)]

    def routed(tokens, experts, skew):
        """Tokens of experts whose popularity falls as a power of their number."""
        weights = [(i + 1) ** -skew for i in range(experts)]
        rng.shuffle(weights)
        chosen = rng.choices(range(experts), weights, k=tokens)
        return [chosen.count(i) for i in range(experts)]

    found = []
    for weights in ("NK", "KN"):
        found += [case("64 experts, 0 to 512 tokens", 1536, 4096, uniform, weights=weights),
                  case("64 experts, 0 to 512 tokens", 4096, 1536, uniform, weights=weights)]
    found += [case("64 experts of 256 tokens", 1536, 4096, [256] * 64, weights="NK"),
              case("8 experts, 4096 tokens", 14336, 4096, routed(4096, 8, 0.3), weights="NK"),
              case("8 experts, 16384 tokens", 4096, 14336, routed(16384, 8, 0.3), weights="NK"),
              case("128 experts, 16384 tokens", 1536, 2048, routed(16384, 128, 0.5), weights="NK"),
              case("256 experts, 32768 tokens", 2048, 7168, routed(32768, 256, 0.7), weights="NK"),
              case("64 experts, 64 tokens", 1536, 4096, routed(64, 64, 0.3), weights="NK"),
              case("128 experts, 1024 tokens", 1536, 2048, routed(1024, 128, 0.5), weights="NK"),
              case("64 experts, gradients of weights", 1536, 4096, uniform, form="weights"),
              case("8 experts, gradients of weights", 4096, 2048, routed(8192, 8, 0.3),
                   form="weights"),
              case("64 experts, 0 to 512 tokens", 1536, 4096, uniform, kind="f32", weights="NK"),
              case("8 experts, 4096 tokens", 4096, 4096, routed(4096, 8, 0.3), kind="f32",
                   weights="NK")]
    return found


class Grouped:
    """A case's operands, row-major, and the calls."""

    def __init__(self, library, c, sets):
        self.library, self.c, self.sets = library, c, sets
        dtype, total, experts = TYPES[c["type"]][0], sum(c["tokens"]), len(c["tokens"])
        self.total, self.experts = total, experts
        n, k = c["outputs"], c["inputs"]
        self.backward = c["form"] == "weights"
        sizes = torch.tensor(c["tokens"], dtype=torch.int32, device="cuda")
        self.ends = torch.cumsum(sizes, 0, dtype=torch.int32)
        shape = (total, n) if self.backward else (experts, n, k) if c["weights"] == "NK" else (
            experts, k, n)
        self.x = [torch.randn(total, k, device="cuda").to(dtype) for _ in range(sets)]
        self.w = [torch.randn(shape, device="cuda").to(dtype) for _ in range(sets)]
        out = (experts, n, k) if self.backward else (total, n)
        self.out = torch.full(out, float("nan"), device="cuda", dtype=dtype)
        self.calls = [self.call_of(i) for i in range(sets)]

    def call_of(self, i):
        c, n, k = self.c, self.c["outputs"], self.c["inputs"]
        call = Gemm(struct_size=ctypes.sizeof(Gemm), batch_count=self.experts, math=-1,
                    invariance=-1, alpha=ctypes.addressof(self.library.one),
                    beta=ctypes.addressof(self.library.zero), D=self.out.data_ptr())
        call.atype = call.btype = call.ctype = call.dtype = TYPES[c["type"]][1]
        groups = Groups(struct_size=ctypes.sizeof(Groups), total=self.total, index_type=10,
                        location=1, stacked=1, ends=1)
        if self.backward:  # D_i (n x k, row-major) = dY_i^T X_i
            call.transa, call.transb, call.m, call.n, call.k = 0, 1, k, n, self.total
            call.A, call.lda = self.x[i].data_ptr(), k
            call.B, call.ldb = self.w[i].data_ptr(), n
            call.ldd, call.stride_d = k, n * k
            groups.k = self.ends.data_ptr()
            return call, groups
        call.transa = int(c["weights"] == "NK")
        call.m, call.n, call.k = n, self.total, k
        call.A, call.lda, call.stride_a = self.w[i].data_ptr(), k if call.transa else n, n * k
        call.B, call.ldb, call.ldd = self.x[i].data_ptr(), k, n
        groups.n = self.ends.data_ptr()
        return call, groups

    def ours(self, i):
        library = self.library
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        library.check(library.functions.mygemm_set_stream(library.handle, stream))
        call, groups = self.calls[i % self.sets]
        library.check(library.functions.mygemm_gemm_grouped(
            library.handle, ctypes.byref(call), ctypes.byref(groups)))

    def torchs(self, i):
        x, w = self.x[i % self.sets], self.w[i % self.sets]
        if not self.backward and self.c["weights"] == "NK":
            w = w.transpose(1, 2)
        if self.c["type"] != "f32":
            return torch._grouped_mm(w.t(), x, offs=self.ends) if self.backward else (
                torch._grouped_mm(x, w, offs=self.ends))
        begin = 0
        for expert, tokens in enumerate(self.c["tokens"]):
            if tokens:
                torch.mm(x[begin:begin + tokens], w[expert],
                         out=self.peer_out[begin:begin + tokens])
            begin += tokens
        return self.peer_out

    def plan(self):
        text = ctypes.create_string_buffer(1 << 16)
        call, groups = self.calls[0]
        self.library.check(self.library.functions.mygemm_explain_gemm_grouped(
            self.library.handle, None, ctypes.byref(call), ctypes.byref(groups), text,
            ctypes.c_size_t(len(text)), None))
        found = re.search(r"chosen: (.+) \(estimated ([0-9.]+) us", text.value.decode())
        return found[1], float(found[2])

    def error(self, result):
        """The largest error as a share of |A| |B|, of the first rows of some experts."""
        worst, begin = 0.0, 0
        for expert, tokens in enumerate(self.c["tokens"]):
            if tokens and expert % 7 in (0, 3):
                rows = slice(begin, begin + tokens)
                if self.backward:
                    a, b = self.w[0][rows].double().t()[:64], self.x[0][rows].double()
                    got = result[expert][:64]
                else:
                    w = self.w[0][expert].double()
                    a = self.x[0][rows].double()
                    b, got = w.t() if self.c["weights"] == "NK" else w, result[rows]
                bound = a.abs() @ b.abs()
                worst = max(worst, ((got.double() - a @ b).abs() / bound).max().item())
            begin += tokens
        return worst

    def single(self, i):
        """All tokens with the first expert's weights; of gradients, all tokens in one sum."""
        call = Gemm.from_buffer_copy(self.calls[i % self.sets][0])
        call.batch_count = 1
        self.library.gemm(call)


def measure(library, c, groups):
    element = torch.finfo(TYPES[c["type"]][0]).bits // 8
    experts, total = len(c["tokens"]), sum(c["tokens"])
    bytes_of = element * (experts * c["outputs"] * c["inputs"] + total * c["inputs"])
    grouped = Grouped(library, c, max(1, min(8, CACHE_BYTES // bytes_of)))
    grouped.peer_out = torch.empty_like(grouped.out)
    grouped.ours(0)
    errors = [grouped.error(grouped.out), grouped.error(grouped.torchs(0))]
    runs = [grouped.ours, grouped.torchs, grouped.single]
    once = max(seconds_of(lambda: run(0)) for run in runs)
    repeats = max(2, min(MOST_CALLS, int(GRAPH_SECONDS / once)))
    graphs = [graph_of(run, repeats) for run in runs]
    times = [[seconds_of(graph.replay) / repeats for graph in graphs] for _ in range(groups + 1)]
    ours, peer, single = (statistics.median(column) for column in zip(*times[1:]))
    library.check(library.functions.mygemm_set_stream(library.handle, None))
    kernel, estimate = grouped.plan()
    flops = 2.0 * total * c["outputs"] * c["inputs"]
    label = f"{c['name']}, {c['outputs']} x {c['inputs']} {c['weights']} {c['type']}"
    print(f"{label:60} {kernel:24} {ours * 1e6:8.1f} us {flops / ours * 1e-12:6.0f} TFLOP/s,"
          f" PyTorch {peer * 1e6:8.1f} us {peer / ours:.2f}, single {single * 1e6:8.1f} us"
          f" {single / ours:.2f} (estimate {estimate}) errors {errors[0]:.1e} {errors[1]:.1e}",
          flush=True)
    return {"operation": "gemm_grouped", "label": label, "shape": c, "kernel": kernel,
            "estimated_us": estimate, "ms": {"median": ours * 1e3}, "rate": flops / ours * 1e-12,
            "unit": "TFLOP/s", "error": errors[0],
            "peers": [{"name": "PyTorch", "ms": {"median": peer * 1e3},
                       "rate": flops / peer * 1e-12, "ratio": peer / ours, "error": errors[1]},
                      {"name": "one product", "ms": {"median": single * 1e3},
                       "rate": flops / single * 1e-12, "ratio": single / ours}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--out", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--groups", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose names contain this text")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    library = Library(arguments.library, None, False)
    results = [measure(library, c, arguments.groups) for c in cases(arguments.seed)
               if arguments.only in c["name"]]
    write_run(arguments, results)


if __name__ == "__main__":
    main()
