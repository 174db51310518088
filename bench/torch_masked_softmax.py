#!/usr/bin/env python3
"""mygemm_softmax_ex beside PyTorch and beside a copy of as many bytes, in one process.

Usage: torch_masked_softmax.py LIBMYGEMM RESULTS.json [--only WORD] [--groups N]
Attention scores of heads x queries x keys: causal, with an additive mask, with lengths, capped, and
their gradients, each checked against PyTorch in FP32 on its first rows. The floor is a copy of as
many bytes as the call must read and write: of causal rows the half that is not masked is read, and
all is written. Medians of groups timed with events; operands take turns where they are smaller than
the cache. Needs PyTorch with CUDA.
"""
import argparse
import ctypes
import json
import statistics

import torch
from torch_softmax import TYPES, Library, seconds

CACHE_BYTES = 120e6


class Call(ctypes.Structure):
    """mygemmSoftmax_t."""
    _fields_ = ([("struct_size", ctypes.c_size_t), ("mode", ctypes.c_int32),
                 ("backward", ctypes.c_int32)] +
                [(name, ctypes.c_int64)
                 for name in ("rows", "cols", "group_rows", "batch_groups")] +
                [(name, kind) for matrix in ("x", "y", "dy", "dx")
                 for name, kind in ((matrix, ctypes.c_void_p), ("ld" + matrix, ctypes.c_int64))] +
                [(name, ctypes.c_int32) for name in ("xtype", "ytype", "dytype", "dxtype")] +
                [("scale", ctypes.c_float), ("softcap", ctypes.c_float),
                 ("mask", ctypes.c_void_p)] +
                [("mask_stride_" + name, ctypes.c_int64)
                 for name in ("batch", "group", "row", "col")] + [("lengths", ctypes.c_void_p)] +
                [("lengths_stride_" + name, ctypes.c_int64) for name in ("batch", "group", "row")] +
                [("causal_offset", ctypes.c_int64), ("causal", ctypes.c_int32),
                 ("mask_type", ctypes.c_int32), ("lengths_type", ctypes.c_int32),
                 ("empty_rows", ctypes.c_int32)])


def cases():
    """Shape, type and options of each measurement."""
    for size, heads in ((512, 512), (1024, 256), (2048, 64), (4096, 16), (8192, 4)):
        for kind in ("bf16", "f32"):
            n = heads if kind == "bf16" else heads // 2
            yield dict(heads=n, queries=size, keys=size, type=kind, causal=True)
            yield dict(heads=n, queries=size, keys=size, type=kind, mask=kind)
    for kind in ("bf16", "f32"):
        base = dict(heads=16, queries=4096, keys=4096, type=kind)
        yield dict(base, causal=True, backward=True)
        yield dict(base, mask="f32")
        yield dict(base, mask=kind, one_mask=True)
        yield dict(base, causal=True, softcap=30.0)
        yield dict(base, causal=True, softcap=30.0, backward=True)
        yield dict(base, lengths=True)
        yield dict(base, causal=True, log=True)
    yield dict(heads=1, queries=4096, keys=4096, type="bf16", causal=True)
    yield dict(heads=4096, queries=64, keys=77, type="bf16", causal=True)
    yield dict(heads=4096, queries=128, keys=128, type="bf16", causal=True)
    yield dict(heads=2, queries=1024, keys=32768, type="bf16", causal=True, offset=32768 - 1024)
    for keys in (29, 77, 197, 333, 513, 1001, 2047, 4097):  # rows begin anywhere
        for kind in ("bf16", "f32"):
            elements = 64e6 if kind == "bf16" else 32e6
            base = dict(heads=max(1, int(elements / keys**2)), queries=keys, keys=keys, type=kind)
            yield dict(base, causal=True)
            yield dict(base, lengths=True)
            yield dict(base, mask=kind, one_mask=True)
            yield dict(base, mask=kind)
            yield dict(base, causal=True, backward=True)


def label(case):
    words = [f"{case['heads']} x {case['queries']} x {case['keys']} {case['type']}"]
    words += [word for word in ("causal", "lengths", "log", "backward") if case.get(word)]
    words += [f"mask {case['mask']}"] if "mask" in case else []
    words += ["one for all heads"] if case.get("one_mask") else []
    words += ["softcap"] if "softcap" in case else []
    return " ".join(words)


class Operands:
    """The tensors of a call, and the call."""

    def __init__(self, case):
        self.case = case
        dtype, kind = TYPES[case["type"]]
        heads, queries, keys = shape = case["heads"], case["queries"], case["keys"]
        make = lambda: torch.empty(shape, device="cuda").uniform_(-3, 3).to(dtype)
        self.x, self.y = make(), torch.empty(shape, device="cuda", dtype=dtype)
        call = Call(ctypes.sizeof(Call), int(case.get("log", False)))
        call.rows, call.cols, call.group_rows = heads * queries, keys, queries
        call.scale, call.softcap = 0.5, case.get("softcap", 0.0)
        call.x, call.y, call.ldx, call.ldy = self.x.data_ptr(), self.y.data_ptr(), keys, keys
        call.xtype = call.ytype = call.dytype = call.dxtype = kind
        call.causal, call.causal_offset = int(case.get("causal", False)), case.get("offset", 0)
        self.mask = self.lengths = None
        read = written = self.x.numel() * self.x.element_size()
        if call.causal:
            kept = sum(min(keys, i + 1 + call.causal_offset) for i in range(queries))
            read *= kept / (queries * keys)
        if "mask" in case:
            mask_dtype, call.mask_type = TYPES[case["mask"]]
            mask_heads = 1 if case.get("one_mask") else heads
            self.mask = torch.empty(mask_heads, queries, keys, device="cuda").uniform_(-3, 3)
            self.mask[..., ::7] = float("-inf")
            self.mask = self.mask.to(mask_dtype)
            call.mask, call.mask_stride_row, call.mask_stride_col = self.mask.data_ptr(), keys, 1
            call.mask_stride_group = 0 if case.get("one_mask") else queries * keys
            read += self.mask.numel() * self.mask.element_size()
        if case.get("lengths"):
            self.lengths = torch.randint(1, keys + 1, (heads,), device="cuda", dtype=torch.int32)
            call.lengths, call.lengths_stride_group = self.lengths.data_ptr(), 1
            call.lengths_type = 10
            read *= self.lengths.double().mean().item() / keys
        self.call = call
        if case.get("backward"):
            self.forward = Call.from_buffer_copy(call)
            self.dy, self.dx = make(), torch.empty_like(self.y)
            call.backward = 1
            call.dy, call.dx, call.lddy, call.lddx = (self.dy.data_ptr(), self.dx.data_ptr(), keys,
                                                      keys)
            read *= 3 if call.softcap else 2
        self.bytes = read + written

    def scores(self, heads):
        """The masked scores of the first heads, by PyTorch in FP32."""
        s = self.x[:heads].float() * 0.5
        if self.call.softcap:
            s = self.call.softcap * torch.tanh(s / self.call.softcap)
        if self.mask is not None:
            s = s + self.mask[:heads].float()
        columns = torch.arange(s.shape[2], device="cuda")
        if self.call.causal:
            rows = torch.arange(s.shape[1], device="cuda")[:, None]
            s = s.masked_fill(columns > rows + self.call.causal_offset, float("-inf"))
        if self.lengths is not None:
            s = s.masked_fill(columns >= self.lengths[:heads, None, None], float("-inf"))
        return s

    def theirs(self):
        """The same by PyTorch, as programs do it: the causal mask is a tensor of its own."""
        s = self.x * 0.5
        if self.call.softcap:
            s = self.call.softcap * torch.tanh(s / self.call.softcap)
        if self.mask is not None:
            s = s + self.mask
        if self.call.causal:
            s = s.masked_fill(self.future, float("-inf"))
        if self.lengths is not None:
            s = s.masked_fill(self.beyond, float("-inf"))
        return (torch.log_softmax if self.call.mode else torch.softmax)(s, -1)

    def prepare_theirs(self):
        columns = torch.arange(self.call.cols, device="cuda")
        rows = torch.arange(self.call.group_rows, device="cuda")[:, None]
        self.future = columns > rows + self.call.causal_offset
        if self.lengths is not None:
            self.beyond = columns >= self.lengths[:, None, None]

    def error(self):
        """The largest error of a result of the first head, over its largest value."""
        function = torch.log_softmax if self.call.mode else torch.softmax
        s = self.scores(1)
        expected, got = function(s, -1), self.y[:1].float()
        if self.case.get("backward"):
            y, dy = self.y[:1].float(), self.dy[:1].float()
            expected = 0.5 * y * (dy - (y * dy).sum(-1, keepdim=True))
            if self.call.softcap:
                expected = expected / torch.cosh(0.5 * self.x[:1].float() / self.call.softcap)**2
            got = self.dx[:1].float()
        same = (expected == got) | (expected.isnan() & got.isnan())
        difference = torch.where(same, 0, (expected - got).abs())
        finite = expected[expected.isfinite()]
        return (difference.max() / finite.abs().max()).item()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("library")
    parser.add_argument("json")
    parser.add_argument("--only", default="", help="a part of a label")
    parser.add_argument("--groups", type=int, default=5)
    arguments = parser.parse_args()
    library = Library(arguments.library)
    results = []
    for case in cases():
        if arguments.only not in label(case):
            continue
        first = Operands(case)
        sets = [first] + [Operands(case) for _ in range(int(CACHE_BYTES // first.bytes))]
        ex = library.functions.mygemm_softmax_ex
        if case.get("backward"):
            for operands in sets:
                library.check(ex(library.handle, ctypes.byref(operands.forward)))
        turn = [0]

        def ours():
            turn[0] = (turn[0] + 1) % len(sets)
            library.check(ex(library.handle, ctypes.byref(sets[turn[0]].call)))

        half = torch.empty(int(max(first.bytes, CACHE_BYTES) // 2), device="cuda",
                           dtype=torch.uint8)
        other = torch.empty_like(half)
        calls = [ours, lambda: other.copy_(half)]
        if not case.get("backward"):
            first.prepare_theirs()
            calls.append(first.theirs)
        repeats = [max(1, int(2e-3 / seconds(call, 3))) for call in calls]
        times = [[seconds(call, n) for call, n in zip(calls, repeats)]
                 for _ in range(arguments.groups)]
        ours_s, copy_s, *torchs = [statistics.median(column) for column in zip(*times)]
        copy_s *= first.bytes / (2 * half.numel())
        for operands in sets:
            library.check(ex(library.handle, ctypes.byref(operands.call)))
        result = {"case": case, "label": label(case), "ms": ours_s * 1e3,
                  "gigabytes_per_second": first.bytes / ours_s * 1e-9,
                  "of_copy": copy_s / ours_s, "error": first.error()}
        words = ""
        if torchs:
            result["pytorch_ms"] = torchs[0] * 1e3
            words = f", {torchs[0] / ours_s:.1f} times as fast as PyTorch"
        print(f"{label(case):54} {ours_s * 1e6:8.1f} us, "
              f"{result['gigabytes_per_second']:5.0f} GB/s, {result['of_copy']:.3f} of a copy, "
              f"off by {result['error']:.1e}{words}", flush=True)
        results.append(result)
        del first, sets, half, other, calls, operands
        torch.cuda.empty_cache()
        with open(arguments.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "pytorch": torch.__version__,
                       "results": results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
