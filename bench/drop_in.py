"""The gain of preloading libmygemm_cublas.so: PyTorch training steps in FP32, cuSOLVER
factorisations, and the host's time for a small product, with cuBLAS's own functions and with ours.

Usage: drop_in.py DROP_IN [--out FILE] [--rounds N] [--commit HASH]
       drop_in.py --table FILE                   what --out wrote, as a table for docs/drop-in.md
       drop_in.py --workload NAME                one measurement, as a child

Needs a GPU and PyTorch. Each measurement is a process of its own, since a preload is for a
process's life; rounds alternate between the two. Reported is the median over rounds of each
process's median.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time


def measure(step, repetitions):
    """Median seconds of a call of `step`, by CUDA events, after two that warm up."""
    import torch
    for _ in range(2):
        step()
    times = []
    for _ in range(repetitions):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        step()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def training(model, inputs):
    import torch
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        model(inputs).square().mean().backward()
        optimizer.step()
    return measure(step, 15)


def layers():
    """Four layers of 4096 x 4096 without bias, 4096 rows."""
    import torch
    torch.manual_seed(1)
    parts = []
    for _ in range(4):
        parts += [torch.nn.Linear(4096, 4096, bias=False), torch.nn.GELU()]
    return training(torch.nn.Sequential(*parts).cuda(), torch.randn(4096, 4096, device="cuda"))


def transformer():
    """Four encoder layers of width 1024, 16 heads, 8 sequences of 512; their biases' products go
    through cublasLt, which is not taken."""
    import torch
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda()
    return training(model, torch.randn(8, 512, 1024, device="cuda"))


def factorisation(function, n):
    import torch
    torch.backends.cuda.preferred_linalg_library("cusolver")
    torch.manual_seed(1)
    a = torch.randn(n, n, device="cuda")
    a = a @ a.T / n + torch.eye(n, device="cuda")
    return measure(lambda: function(torch, a), 5)


def cholesky():
    """cuSOLVER's potrf, 16384 x 16384."""
    return factorisation(lambda torch, a: torch.linalg.cholesky(a), 16384)


def lu():
    """cuSOLVER's getrf, 16384 x 16384."""
    return factorisation(lambda torch, a: torch.linalg.lu_factor(a), 16384)


def qr():
    """cuSOLVER's geqrf, 8192 x 8192."""
    return factorisation(lambda torch, a: torch.geqrf(a), 8192)


def small_product():
    """The host's time for a 64 x 64 x 64 torch.mm, enqueued without waiting."""
    import torch
    a, out = torch.randn(64, 64, device="cuda"), torch.empty(64, 64, device="cuda")
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            torch.mm(a, a, out=out)
        times.append((time.perf_counter() - start) / 500)
    return statistics.median(times)


WORKLOADS = [layers, transformer, lu, cholesky, qr, small_product]


def child(name, preload):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    environment["MYGEMM_REPORT"] = "1"
    if preload:
        environment["LD_PRELOAD"] = str(preload)
    process = subprocess.run([sys.executable, __file__, "--workload", name], env=environment,
                             check=True, text=True, capture_output=True)
    report = [line.removeprefix("mygemm:").strip() for line in process.stderr.splitlines()
              if line.startswith("mygemm:   ")]
    return float(process.stdout), report


def compare(workload, drop_in, rounds):
    seconds = {"cublas": [], "mygemm": []}
    for _ in range(rounds):
        seconds["cublas"].append(child(workload.__name__, None)[0])
        ours, report = child(workload.__name__, drop_in)
        seconds["mygemm"].append(ours)
    result = {name: statistics.median(values) for name, values in seconds.items()}
    return {"workload": workload.__name__, "about": " ".join(workload.__doc__.split()),
            "seconds": result, "speedup": result["cublas"] / result["mygemm"], "calls": report}


def print_table(record):
    print("| | cuBLAS, ms | mygemm, ms | ratio |\n| --- | --- | --- | --- |")
    for result in record["results"]:
        theirs, ours = (1e3 * result["seconds"][name] for name in ("cublas", "mygemm"))
        print(f"| {result['about'].rstrip('.')} | {theirs:.4g} | {ours:.4g} | "
              f"{result['speedup']:.2f} |")


def machine():
    import torch
    return {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("drop_in", nargs="?", type=pathlib.Path, help="libmygemm_cublas.so")
    parser.add_argument("--workload", choices=[w.__name__ for w in WORKLOADS])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.workload:
        print(globals()[arguments.workload]())
        return
    if arguments.table:
        print_table(json.loads(arguments.table.read_text()))
        return
    if not arguments.drop_in:
        parser.error("which libmygemm_cublas.so?")
    results = []
    for workload in WORKLOADS:
        results.append(compare(workload, arguments.drop_in.resolve(), arguments.rounds))
        print(f"{workload.__name__:14} {results[-1]['speedup']:.3f}", flush=True)
    if arguments.out:
        record = {**machine(), "commit": arguments.commit, "rounds": arguments.rounds,
                  "results": results}
        arguments.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
