#!/usr/bin/env python3
"""Products of 16-bit operands, or of FP32 and BF16: mygemm's beside PyTorch's, in one process.

Usage: torch_products.py LIBMYGEMM --out RESULTS.json [--commit HASH] [--groups N]
                         [--suites squares,shapes,skinny,odd,random,random_odd,batches,taken,
                                  mixed]
                         [--seed N]
                         [--count N] [--workspace MIB] [--invariant]
mygemm_gemm through ctypes, and torch.mm or torch.bmm into a tensor that is there (which call cuBLAS
or cuBLASLt, as PyTorch chooses). A BF16 operand beside an FP32 one is converted before PyTorch's
product, in its time, and that is of FP32 multiply-adds. Data are random and normal; operands are
rotated so that no call finds its own in the cache. With --invariant mygemm's are batch-invariant:
the price is the ratio to another run without. Each is timed by events over the replay of a CUDA
graph of several calls, in turns; medians. Both results are compared with FP64 on a sample of
elements. Needs PyTorch with CUDA.
"""
import argparse
import ctypes
import datetime
import json
import random
import re
import statistics
import sys

import torch

TYPES = {"bf16": (torch.bfloat16, 14), "f16": (torch.float16, 2), "f32": (torch.float32, 0)}
CACHE_BYTES = 128 << 20
GRAPH_SECONDS, MOST_CALLS = 3e-3, 200


class Gemm(ctypes.Structure):
    """mygemmGemm_t of include/mygemm/types.h."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("transa", ctypes.c_int32),
                ("transb", ctypes.c_int32), ("m", ctypes.c_int64), ("n", ctypes.c_int64),
                ("k", ctypes.c_int64), ("batch_count", ctypes.c_int64), ("atype", ctypes.c_int32),
                ("btype", ctypes.c_int32), ("ctype", ctypes.c_int32), ("dtype", ctypes.c_int32),
                ("math", ctypes.c_int32), ("activation", ctypes.c_int32),
                ("alpha", ctypes.c_void_p), ("beta", ctypes.c_void_p), ("A", ctypes.c_void_p),
                ("lda", ctypes.c_int64), ("stride_a", ctypes.c_int64), ("B", ctypes.c_void_p),
                ("ldb", ctypes.c_int64), ("stride_b", ctypes.c_int64), ("C", ctypes.c_void_p),
                ("ldc", ctypes.c_int64), ("stride_c", ctypes.c_int64), ("D", ctypes.c_void_p),
                ("ldd", ctypes.c_int64), ("stride_d", ctypes.c_int64), ("bias", ctypes.c_void_p),
                ("stride_bias", ctypes.c_int64), ("A_array", ctypes.c_void_p),
                ("B_array", ctypes.c_void_p), ("C_array", ctypes.c_void_p),
                ("D_array", ctypes.c_void_p), ("aux", ctypes.c_void_p), ("ldaux", ctypes.c_int64),
                ("stride_aux", ctypes.c_int64), ("sums", ctypes.c_void_p),
                ("stride_sums", ctypes.c_int64), ("sums_of", ctypes.c_int32),
                ("fill", ctypes.c_int32), ("invariance", ctypes.c_int32)]


class Library:
    def __init__(self, path, workspace_mib, invariant):
        self.functions = ctypes.CDLL(path)
        self.functions.mygemm_last_error.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.functions.mygemm_create(ctypes.byref(self.handle)))
        self.invariant = invariant
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        if workspace_mib is not None:
            self.memory = torch.empty(workspace_mib << 20, dtype=torch.uint8, device="cuda")
            self.check(self.functions.mygemm_set_workspace(
                self.handle, ctypes.c_void_p(self.memory.data_ptr()),
                ctypes.c_size_t(self.memory.numel())))

    def check(self, status):
        if status != 0:
            sys.exit(self.functions.mygemm_last_error().decode())

    def call_of(self, case, a, b, d):
        call = Gemm(ctypes.sizeof(Gemm), case["transa"] == "T", case["transb"] == "T", case["m"],
                    case["n"], case["k"], case["batch"], TYPES[case["type"]][1],
                    TYPES[case["btype"]][1], TYPES[case["dtype"]][1], TYPES[case["dtype"]][1], -1,
                    0,
                    ctypes.addressof(self.one),
                    ctypes.addressof(self.zero))
        call.A, call.lda, call.B, call.ldb = a.data_ptr(), case["lda"], b.data_ptr(), case["ldb"]
        call.D, call.ldd = d.data_ptr(), case["m"]
        call.stride_a, call.stride_b, call.stride_d = a.stride(0), b.stride(0), d.stride(0)
        call.invariance = int(self.invariant)  # MYGEMM_INVARIANCE_NONE or _BATCH
        return call

    def gemm(self, call):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.functions.mygemm_set_stream(self.handle, stream))
        self.check(self.functions.mygemm_gemm(self.handle, ctypes.byref(call)))

    def plan(self, call):
        """The kernel that is chosen, and its estimate in microseconds."""
        text = ctypes.create_string_buffer(1 << 16)
        self.check(self.functions.mygemm_explain_gemm(self.handle, None, ctypes.byref(call), text,
                                                      ctypes.c_size_t(len(text)), None))
        found = re.search(r"chosen: (.+) \(estimated ([0-9.]+) us", text.value.decode())
        return found[1], float(found[2])


def case(m, n, k, ops="NN", kind="bf16", dtype=None, suite="", pad=(0, 0), btype=None, batch=1):
    transa, transb = ops
    return {"m": m, "n": n, "k": k, "batch": batch, "transa": transa, "transb": transb,
            "type": kind, "btype": btype or kind, "dtype": dtype or kind, "suite": suite,
            "lda": (m if transa == "N" else k) + pad[0],
            "ldb": (k if transb == "N" else n) + pad[1]}


def cases_of(suite, seed, count):
    ops = ["NN", "NT", "TN", "TT"]
    if suite == "squares":
        return ([case(n, n, n, o, suite=suite) for n in (1024, 2048, 4096, 8192, 16384)
                 for o in ops] +
                [case(n, n, n, o, dtype="f32", suite=suite) for n in (4096, 8192)
                 for o in ("TN", "NT")])
    if suite == "shapes":
        sides = [(4096, 4096, 1024), (8192, 8192, 1024), (8192, 1024, 8192), (11008, 2048, 4096),
                 (4096, 512, 14336), (3072, 768, 3072), (128256, 256, 4096), (2048, 2048, 128)]
        return [case(*s, o, suite=suite) for s in sides for o in ("TN", "NN")]
    if suite == "skinny":
        return [case(m, n, k, "TN", suite=suite)
                for n in (1, 4, 16, 32, 64) for m, k in ((4096, 4096), (14336, 4096))
                ] + [case(128256, 1, 4096, "TN", suite=suite), case(8, 8192, 8192, "NN",
                                                                   suite=suite)]
    if suite == "odd":
        sides = [(1023, 1025, 1021), (2047, 2047, 2047), (4095, 4095, 4095), (8191, 1001, 3001),
                 (4097, 4100, 4098)]
        return [case(*s, o, suite=suite) for s in sides for o in ("NN", "TN", "NT")]
    if suite == "mixed":
        rng = random.Random(seed)
        side = lambda: max(8, int(2 ** rng.uniform(3, 13.5)) // 8 * 8)
        types = [{"kind": "f32", "btype": "bf16", "dtype": "f32", "suite": suite},
                 {"kind": "bf16", "btype": "f32", "dtype": "f32", "suite": suite}]
        found = [case(n, n, n, o, **t) for n in (1024, 4096, 8192) for o in ops for t in types]
        # A head of a large vocabulary, routers of few and of many tokens, odd sides.
        sides = [(4096, 128256, 4096), (128, 1, 6144), (128, 64, 6144), (128, 4096, 6144),
                 (2047, 2049, 2051)]
        found += [case(*s, "TN", **t) for s in sides for t in types]
        count += len(found)
        while len(found) < count:
            m, n, k = side(), side(), side()
            if 6.0 * m * n * k > 5e-6 * 5e14 and m * n < 1e8:
                found.append(case(m, n, k, rng.choice(ops), **rng.choice(types)))
        return found
    if suite == "batches":
        # Attention: keys by queries, values by weights, of heads of 64 and 128; and random ones.
        heads = [(512, 128, 64), (64, 2048, 128), (128, 1024, 64), (32, 4096, 128)]
        found = [case(*s, suite=suite, batch=batch) for batch, length, width in heads
                 for s in ((length, length, width, "TN"), (width, length, length, "NN"))]
        rng = random.Random(seed)
        side = lambda: max(8, int(2 ** rng.uniform(4, 11)) // 8 * 8)
        count += len(found)
        while len(found) < count:
            m, n, k, batch = side(), side(), side(), int(2 ** rng.uniform(1, 9))
            flops = 2.0 * batch * m * n * k
            if flops > 5e-6 * 5e14 and batch * max(m * n, m * k, n * k) < 3e8:
                found.append(case(m, n, k, rng.choice(ops), rng.choice(["bf16", "f16"]),
                                  suite=suite, batch=batch))
        return found
    if suite == "taken":
        # The cuBLAS drop-in takes them by default (bindings/cublas/sixteen_bit.cpp).
        rng = random.Random(seed)
        side = lambda: max(8, int(2 ** rng.uniform(3, 15)) // 8 * 8)
        found = []
        while len(found) < count:
            m, n, k, batch = side(), side(), side(), rng.choice([1, 1, int(2 ** rng.uniform(1, 9))])
            large = 2e12 <= 2.0 * batch * m * n * k < 8e12
            short = k <= 64 and min(m, n) >= 1000 and batch * m * n >= 16e6
            fits = batch * max(m * n, m * k, n * k) < 1e9
            if fits and (large if len(found) % 2 else short):
                found.append(case(m, n, k, rng.choice(ops), rng.choice(["bf16", "f16"]),
                                  rng.choice([None, "f32"]) if batch == 1 else None, suite=suite,
                                  batch=batch))
        return found
    if suite in ("random", "random_odd"):
        rng = random.Random(seed)
        multiple = 8 if suite == "random" else 1
        side = lambda: max(8, int(2 ** rng.uniform(3, 14.01)) // multiple * multiple)
        found = []
        while len(found) < count:
            m, n, k = side(), side(), side()
            if 2.0 * m * n * k > 5e-6 * 5e14:  # from about 5 us on
                found.append(case(m, n, k, rng.choice(ops), rng.choice(["bf16", "f16"]),
                                  suite=suite))
        return found
    sys.exit(f"no suite is called {suite}")


def operands(c, sets):
    """Column-major matrices, as PyTorch sees them: lines of `ld` elements."""
    lines_a = c["k"] if c["transa"] == "N" else c["m"]
    lines_b = c["n"] if c["transb"] == "N" else c["k"]
    batch = c["batch"]
    a = torch.randn(sets, batch, lines_a, c["lda"], device="cuda").to(TYPES[c["type"]][0])
    b = torch.randn(sets, batch, lines_b, c["ldb"], device="cuda").to(TYPES[c["btype"]][0])
    d = torch.full((sets, batch, c["n"], c["m"]), float("nan"), device="cuda",
                   dtype=TYPES[c["dtype"]][0])
    return a, b, d


def of_torch(c, a, b):
    """op(B)^T and op(A)^T, whose product is D^T, row-major."""
    a = a[..., :c["m"] if c["transa"] == "N" else c["k"]]
    b = b[..., :c["k"] if c["transb"] == "N" else c["n"]]
    return (b if c["transb"] == "N" else b.mT), (a if c["transa"] == "N" else a.mT)


def error_of(c, x, y, d):
    """The largest error of 64 columns of D as a share of |A| |B|."""
    columns = torch.randperm(c["n"], device="cuda")[:64]
    x64, y64 = x[columns].double(), y.double()
    bound = x64.abs() @ y64.abs()
    return ((d[columns].double() - x64 @ y64).abs() / bound).max().item()


def graph_of(call, calls):
    call(0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            call(i)
    return graph


def seconds_of(run):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e-3


def measure(library, c, groups):
    batch = c["batch"]
    bytes_of = batch * (2 * (c["m"] * c["k"] + c["k"] * c["n"]) + 4 * c["m"] * c["n"])
    sets = max(1, min(24, -(-CACHE_BYTES // bytes_of)))
    a, b, d = operands(c, sets)
    descriptors = [library.call_of(c, a[i], b[i], d[i]) for i in range(sets)]
    torchs = [of_torch(c, a[i], b[i]) for i in range(sets)]
    outs = [d[i] for i in range(sets)]
    multiply = torch.bmm
    if batch == 1:
        torchs, outs, multiply = [(x[0], y[0]) for x, y in torchs], [x[0] for x in outs], torch.mm
    same, mixed = c["type"] == c["btype"] == c["dtype"], c["type"] != c["btype"]

    def torch_mm(i):
        x, y = torchs[i % sets]
        if mixed:
            return multiply(x.float(), y.float(), out=outs[i % sets])
        return (multiply(x, y, out=outs[i % sets]) if same else
                multiply(x, y, out_dtype=TYPES[c["dtype"]][0]))

    def error(found):
        last = (-1,) * (batch > 1)
        return error_of(c, *(part[last] for part in (*torchs[0], found)))

    calls = [lambda i: library.gemm(descriptors[i % sets]), torch_mm]
    calls[0](0)
    errors = [error(outs[0])]
    errors.append(error(torch_mm(0)))
    once = max(seconds_of(lambda: calls[0](0)), seconds_of(lambda: calls[1](0)), 2e-6)
    repeats = max(sets if sets > 1 else 2, min(MOST_CALLS, int(GRAPH_SECONDS / once)))
    graphs = [graph_of(call, repeats) for call in calls]
    times = [[seconds_of(graph.replay) / repeats for graph in graphs] for _ in range(groups + 1)]
    ours, peer = (statistics.median(column) for column in zip(*times[1:]))
    library.check(library.functions.mygemm_set_stream(library.handle, None))
    kernel, estimate = library.plan(descriptors[0])
    flops = 2.0 * batch * c["m"] * c["n"] * c["k"]
    label = ((f"{batch} of " if batch > 1 else "")
             + f"{c['m']} x {c['n']} x {c['k']} {c['transa']}{c['transb']} {c['type']}"
             + (f" by {c['btype']}" if mixed else "" if same else f"-{c['dtype']}"))
    print(f"{label:38} {kernel:28} {ours * 1e6:8.1f} us {flops / ours * 1e-12:6.0f} TFLOP/s"
          f"  PyTorch {peer * 1e6:8.1f} us  {peer / ours:.2f}  (estimate {estimate})", flush=True)
    return {"operation": "gemm", "label": label, "shape": c, "kernel": kernel,
            "estimated_us": estimate, "ms": {"median": ours * 1e3}, "rate": flops / ours * 1e-12,
            "unit": "TFLOP/s", "error": errors[0],
            "peers": [{"name": "PyTorch", "ms": {"median": peer * 1e3},
                       "rate": flops / peer * 1e-12, "ratio": peer / ours, "error": errors[1]}]}


def write_run(arguments, results):
    """The file of results, with what the run was made on and by."""
    run = {"machine": {"name": torch.cuda.get_device_name(), "driver": ""},
           "pytorch": torch.__version__, "commit": arguments.commit,
           "date": datetime.date.today().isoformat(), "command_line": sys.argv[1:],
           "results": results}
    with open(arguments.out, "w") as file:
        json.dump(run, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--out", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--groups", type=int, default=5)
    parser.add_argument("--suites",
                        default="squares,shapes,skinny,odd,random,random_odd,batches,taken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--workspace", type=int, help="MiB; by default the handle's own")
    parser.add_argument("--invariant", action="store_true",
                        help="mygemm's products are batch-invariant; PyTorch's are as ever")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    library = Library(arguments.library, arguments.workspace, arguments.invariant)
    results = [measure(library, c, arguments.groups)
               for suite in arguments.suites.split(",")
               for c in cases_of(suite, arguments.seed, arguments.count)]
    write_run(arguments, results)


if __name__ == "__main__":
    main()
