#!/usr/bin/env python3
"""PyTorch's softmax beside mygemm's, alternating in one process, added to a file of mygemm-bench.

Usage: torch_softmax.py LIBMYGEMM RESULTS.json
For each softmax, forward, of one type in RESULTS.json: torch.softmax into a tensor that is there,
and mygemm_softmax of the same tensors through ctypes. Medians of groups timed with events; inputs
are random and larger than the cache where the problem is. The figure joins the result's peers as
"PyTorch", with the ratio of that run. Needs PyTorch with CUDA.
"""
import ctypes
import json
import statistics
import sys

import torch

TYPES = {"f32": (torch.float32, 0), "f16": (torch.float16, 2), "bf16": (torch.bfloat16, 14)}
MODES = {"softmax": 0, "log": 1}
GROUPS, GROUP_MS, WORKSPACE = 7, 2.0, 1 << 20


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        self.workspace = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
        self.check(self.functions.mygemm_create(ctypes.byref(self.handle)))
        self.check(self.functions.mygemm_set_workspace(
            self.handle, ctypes.c_void_p(self.workspace.data_ptr()), ctypes.c_size_t(WORKSPACE)))

    def check(self, status):
        if status != 0:
            self.functions.mygemm_last_error.restype = ctypes.c_char_p
            sys.exit(self.functions.mygemm_last_error().decode())

    def softmax(self, mode, kind, x, y):
        rows, cols = x.shape
        size = ctypes.c_int64
        self.check(self.functions.mygemm_softmax(
            self.handle, mode, size(rows), size(cols), ctypes.c_float(1),
            ctypes.c_void_p(x.data_ptr()), kind, size(cols), ctypes.c_void_p(y.data_ptr()), kind,
            size(cols)))


def seconds(call, repeats):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e-3 / repeats


def medians(calls):
    """The seconds of each call; they take turns."""
    repeats = [max(1, int(GROUP_MS * 1e-3 / seconds(call, 3))) for call in calls]
    times = [[seconds(call, n) for call, n in zip(calls, repeats)] for _ in range(GROUPS)]
    return [statistics.median(column) for column in zip(*times)]


def add_pytorch(usage, chosen, compare_shape):
    """Adds PyTorch to the peers of the chosen results. compare_shape(library, shape): the seconds
    of ours and of PyTorch, and a remark on them."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    library = Library(sys.argv[1])
    with open(sys.argv[2]) as file:
        run = json.load(file)
    for result in filter(chosen, run["results"]):
        (ours, torchs), remark = compare_shape(library, result["shape"])
        gigabytes = result["rate"] * result["ms"]["median"] * 1e-3
        result["peers"].append({"name": "PyTorch", "ms": {"median": torchs * 1e3},
                                "rate": gigabytes / torchs, "ratio": torchs / ours})
        print(f"{result['label']:36} mygemm {gigabytes / ours:6.0f} GB/s, PyTorch "
              f"{gigabytes / torchs:6.0f} GB/s, {torchs / ours:.2f} times as fast{remark}",
              flush=True)
    run["pytorch"] = torch.__version__
    with open(sys.argv[2], "w") as file:
        json.dump(run, file, indent=1)
        file.write("\n")


def compare(library, shape):
    """The seconds of ours and of PyTorch, and no remark."""
    dtype, kind = TYPES[shape["xtype"]]
    log = shape["mode"] == "log"
    x = torch.empty(shape["rows"], shape["cols"], device="cuda").uniform_(-1, 1).to(dtype)
    y = torch.empty_like(x)
    calls = [lambda: library.softmax(MODES[shape["mode"]], kind, x, y),
             lambda: (torch.log_softmax if log else torch.softmax)(x, -1, out=y)]
    return medians(calls), ""


def chosen(result):
    """Launches one by one of less than 20 us would time the host."""
    return (result["operation"] == "softmax" and result["shape"]["direction"] == "forward" and
            result["ms"]["median"] >= 0.02)


if __name__ == "__main__":
    add_pytorch(__doc__, chosen, compare)
