#!/usr/bin/python3
"""Measures when products of host matrices are worth their way to a GPU, through libmygemm_blas.so;
or, with --gpus, what those that are dealt out to all GPUs gain.

Usage: bench/blas_offload.py LIBRARY [--gpus] [--json FILE] [--shapes 512,4096x4096x64,...]
                             [--threads N] [--commit HASH]
       bench/blas_offload.py --table FILE [--write DOCUMENT | --check DOCUMENT]

Times the library's cblas_sgemm on NumPy's arrays, once with MYGEMM_BLAS_OFFLOAD=never and once with
always, and prints both, the ratio, and rates that explain the times, from which those of
kMeasuredRates in bindings/blas/offload_cost.cpp are. With --gpus it times MYGEMM_DEVICE=0 and all,
the largest product first: it makes up for the start of the other GPUs. Results to keep go to
bench/results/. Needs NumPy. Without a GPU both columns are the host's; it says so. With --table,
prints a result's table, or puts it into a document, or compares.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

import blocks

BLOCK = "bench/blas_offload.py"
GPUS_BLOCK = "bench/blas_offload.py gpus"
# Squares, then few flops to a byte: k is small, or n.
SHAPES = ("256,512,768,1024,1536,2048,3072,4096,6144,8192,"
          "4096x4096x64,8192x64x8192,16384x16384x256")
SHAPES_OF_GPUS = "32768,16384,65536x8192x8192,8192,4096"

# Runs in a process of its own: the library reads its environment once. Prints one JSON object.
MEASURE = """
import ctypes, json, sys, time
import numpy
shapes, budget, library = json.loads(sys.argv[1]), float(sys.argv[2]), ctypes.CDLL(sys.argv[3])
row_major, no_transpose, one, zero = 101, 111, ctypes.c_float(1), ctypes.c_float(0)
def multiply(m, n, k, a, b, c):
    library.cblas_sgemm(row_major, no_transpose, no_transpose, m, n, k, one,
                        ctypes.c_void_p(a.ctypes.data), k, ctypes.c_void_p(b.ctypes.data), n, zero,
                        ctypes.c_void_p(c.ctypes.data), n)
generator = numpy.random.default_rng(1)
def random(rows, columns):
    values = generator.random((rows, columns), dtype=numpy.float32)
    values -= numpy.float32(0.5)
    return values
def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
first = None
seconds = []
for m, n, k in shapes:
    a, b = random(m, k), random(k, n)
    c = numpy.empty((m, n), dtype=numpy.float32)
    warm_up = timed(lambda: multiply(m, n, k, a, b, c))
    first = warm_up if first is None else first
    times = [timed(lambda: multiply(m, n, k, a, b, c))]
    while len(times) < 3 or (sum(times) < budget and len(times) < 200):
        times.append(timed(lambda: multiply(m, n, k, a, b, c)))
    seconds.append(sorted(times)[len(times) // 2])
print(json.dumps({"first": first, "seconds": seconds}))
"""
REPORT = re.compile(r"cblas_sgemm +(\d+) taken, (\d+) on the GPU")


def measure(library, choice, device, shapes, threads, budget):
    variables = {**os.environ, "MYGEMM_REPORT": "1", "MYGEMM_BLAS_OFFLOAD": choice,
                 "MYGEMM_DEVICE": device, "OMP_NUM_THREADS": str(threads)}
    result = subprocess.run([sys.executable, "-c", MEASURE, json.dumps(shapes), str(budget),
                             str(library)],
                            env=variables, text=True, capture_output=True, check=True)
    counts = REPORT.search(result.stderr)
    if not counts:
        sys.exit(f"{library} reports no call:\n{result.stderr}")
    taken, on_gpu = map(int, counts.groups())
    heading = result.stderr.partition("mygemm: calls of ")[2].splitlines()[0]
    return {**json.loads(result.stdout), "taken": taken, "on_gpu": on_gpu,
            "gpus": heading.count(", device ")}


def read_shapes(text):
    """[(m, n, k)] of "512,4096x4096x64": one size is all three."""
    sizes = [[int(size) for size in shape.split("x")] for shape in text.split(",")]
    if any(len(shape) not in (1, 3) for shape in sizes):
        raise argparse.ArgumentTypeError(f"{text} is no list of N or MxNxK")
    return [shape * 3 if len(shape) == 1 else shape for shape in sizes]


def flops(shape):
    return 2.0 * shape[0] * shape[1] * shape[2]


def transferred(shape):
    m, n, k = shape
    return 4.0 * (m * k + k * n + m * n)


def gpu_rates(shapes, seconds):
    """The best rate of each: transfers and products overlap, so that the slower one is the time."""
    transfer = max(transferred(s) / t for s, t in zip(shapes, seconds))
    return {"gpu_call_seconds": max(0.0, seconds[0] - transferred(shapes[0]) / transfer),
            "transfer_bytes": transfer,
            "gpu_flops": max(flops(s) / t for s, t in zip(shapes, seconds))}


def device_name():
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                               check=True, text=True, capture_output=True)
        return asked.stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def processor_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def name_of(shape):
    return f"{shape[0]}³" if len(set(shape)) == 1 else " × ".join(map(str, shape))


def three_digits(figure):
    return f"{float(f'{figure:.3g}'):g}"


def show_table(arguments):
    record = json.loads(arguments.table.read_text())
    of_gpus = "all" in record
    first, second = (record[part]["seconds"] for part in
                     (("one", "all") if of_gpus else ("host", "gpu")))
    lines = [[name_of(shape), *map(three_digits, (one * 1e3, other * 1e3, one / other))]
             for shape, one, other in zip(record["shapes"], first, second)]
    heads = ["product", "host, ms", "GPU, ms", "ratio"]
    device = record["device"]
    if of_gpus:
        gpus = record["all"]["gpus"]
        device = f"{gpus} × {device}"
        heads = ["product", "one GPU, ms", f"{gpus} GPUs, ms", "ratio", f"TFLOP/s of {gpus}"]
        for line, shape, seconds in zip(lines, record["shapes"], second):
            line.append(three_digits(flops(shape) / seconds / 1e12))
    text = blocks.table(heads, lines) + (
        f"\n{device}, {record['threads']} threads of an {record['processor']}, "
        f"{record['date'][:10]}, commit {record['commit']}; "
        f"bench/results/{arguments.table.name}.\n")
    blocks.put(arguments, GPUS_BLOCK if of_gpus else BLOCK, text)


def print_times(shapes, heads, first, second):
    print(f"{'m':>6} {'n':>6} {'k':>6} {heads[0]:>10} {heads[1]:>10} {'speedup':>8}")
    for shape, one, other in zip(shapes, first["seconds"], second["seconds"]):
        print("{:6} {:6} {:6} {:10.3f} {:10.3f} {:8.2f}".format(
            *shape, one * 1e3, other * 1e3, one / other))


def compare_host(shapes, threads, run):
    """The record's figures of the host and a GPU, printed."""
    host, gpu = run("never", "0"), run("always", "0")
    if gpu["on_gpu"] != gpu["taken"]:
        print(f"only {gpu['on_gpu']} of {gpu['taken']} calls ran on a GPU", file=sys.stderr)
    print_times(shapes, ("host ms", "GPU ms"), host, gpu)
    host_flops = max(flops(s) / t for s, t in zip(shapes, host["seconds"])) / threads
    host_bytes = max(transferred(s) / t for s, t in zip(shapes, host["seconds"]))
    rates = {"host_flops": host_flops, "host_bytes": host_bytes,
             "gpu_start_seconds": max(0.0, gpu["first"] - gpu["seconds"][0]),
             **gpu_rates(shapes, gpu["seconds"])}
    for name, value in rates.items():
        print(f"{name} = {value:.3g}")
    return {"rates": rates, "host": host, "gpu": gpu}


def compare_gpus(shapes, run):
    """The record's figures of one GPU and all, printed."""
    one, every = run("always", "0"), run("always", "all")
    if every["gpus"] < 2:
        print("no product ran on more than one GPU", file=sys.stderr)
    print_times(shapes, ("one, ms", "all, ms"), one, every)
    return {"one": one, "all": every}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="?",
                        type=lambda name: pathlib.Path(name).resolve(strict=True))
    parser.add_argument("--json", type=pathlib.Path, help="also write the result to this file")
    parser.add_argument("--gpus", action="store_true", help="compare one GPU and all")
    parser.add_argument("--shapes", type=read_shapes, help="N or MxNxK, ...")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each shape")
    parser.add_argument("--commit", default="unknown")
    blocks.add_arguments(parser)
    arguments = parser.parse_args()
    if arguments.table:
        show_table(arguments)
        return
    if not arguments.library:
        parser.error("which libmygemm_blas.so?")
    shapes = arguments.shapes or read_shapes(SHAPES_OF_GPUS if arguments.gpus else SHAPES)

    def run(choice, device):
        return measure(arguments.library, choice, device, shapes, arguments.threads,
                       arguments.budget)

    figures = compare_gpus(shapes, run) if arguments.gpus else \
        compare_host(shapes, arguments.threads, run)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    result = {"device": device_name(), "date": date, "commit": arguments.commit,
              "processor": processor_name(),
              "threads": arguments.threads, "shapes": shapes, **figures}
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
