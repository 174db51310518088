#!/usr/bin/env python3
"""PyTorch's cross entropy beside mygemm's, in one process, added to a file of mygemm-bench.

Usage: torch_cross_entropy.py LIBMYGEMM RESULTS.json
For each cross entropy with gradient and of one type in RESULTS.json: the mean of
torch.nn.functional.cross_entropy and its backward pass, mygemm_cross_entropy of the same tensors
through ctypes, and a copy of the logits. Medians of groups timed with events. The figure joins the
result's peers as "PyTorch", with the ratio of that run. Needs PyTorch with CUDA.
"""
import ctypes

import torch
from torch_softmax import TYPES, add_pytorch, medians

INDEX_64I = 24


class Call(ctypes.Structure):
    """mygemmCrossEntropy_t."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("rows", ctypes.c_int64),
                ("cols", ctypes.c_int64), ("x", ctypes.c_void_p), ("ldx", ctypes.c_int64),
                ("targets", ctypes.c_void_p), ("ignore_index", ctypes.c_int64),
                ("dx", ctypes.c_void_p), ("lddx", ctypes.c_int64), ("dloss", ctypes.c_void_p),
                ("stride_dloss", ctypes.c_int64), ("loss", ctypes.c_void_p),
                ("lse", ctypes.c_void_p), ("xtype", ctypes.c_int32), ("dxtype", ctypes.c_int32),
                ("target_type", ctypes.c_int32), ("label_smoothing", ctypes.c_float),
                ("z_loss", ctypes.c_float), ("gradient_scale", ctypes.c_float)]


def compare(library, shape):
    """The seconds of ours and of PyTorch; the remark is our share of a copy, and the largest errors
    of our loss and gradient against PyTorch's in FP64, of the first rows."""
    rows, cols, (dtype, kind) = shape["rows"], shape["cols"], TYPES[shape["xtype"]]
    x = torch.empty(rows, cols, device="cuda").uniform_(-6, 6).to(dtype)
    targets = torch.randint(cols, (rows,), device="cuda")
    dx, loss = torch.empty_like(x), torch.empty(rows, device="cuda")
    call = Call(ctypes.sizeof(Call), rows, cols, x.data_ptr(), cols, targets.data_ptr(), -100,
                dx.data_ptr(), cols, None, 0, loss.data_ptr(), None, kind, kind, INDEX_64I, 0, 0,
                1 / rows)
    leaf = x.detach().requires_grad_()

    def ours():
        library.check(library.functions.mygemm_cross_entropy(library.handle, ctypes.byref(call)))

    def theirs():
        leaf.grad = None
        torch.nn.functional.cross_entropy(leaf, targets).backward()

    ours()
    some = x[:8].double().requires_grad_()
    exact = torch.nn.functional.cross_entropy(some, targets[:8], reduction="none")
    exact.sum().backward()
    errors = ((loss[:8] - exact.detach()).abs().max().item(),
              (dx[:8].double() * rows - some.grad).abs().max().item())
    calls = [ours, theirs, lambda: dx.copy_(x)]
    *times, copy = medians(calls)
    return times, (f", {copy / times[0]:.3f} of a copy; off by {errors[0]:.1e} in the loss, "
                   f"{errors[1]:.1e} in the gradient")


def chosen(result):
    return result["operation"] == "cross_entropy" and result["shape"]["gradient"] != "none"


if __name__ == "__main__":
    add_pytorch(__doc__, chosen, compare)
