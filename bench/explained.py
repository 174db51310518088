"""Plans of matrix products as libmygemm explains them: for bench/fit.py."""

import ctypes
import os
import pathlib
import re
import sys
import typing

WORKSPACE = 1 << 40  # as much as any kernel wants: what --all-kernels lends
MATH_MODES = {"default": 0, "strict": 1, "fast": 2}  # mygemmMathMode_t


class Explained(typing.NamedTuple):
    """A kernel in an explanation."""
    microseconds: float | None  # estimated; None where it cannot run
    figures: dict  # measured constants by name; empty where it cannot run


def read_figures(text):
    """"efficiency 0.84, step_seconds 8.6e-07" as a dictionary."""
    return {name: float(value) for name, value in re.findall(r"(\w+) ([^\s,]+)", text)}


def read_explanation(text):
    """The chosen kernel of mygemm_explain_sgemm's text, and every kernel of it by name."""
    kernels = {}
    for name, estimate, facts in re.findall(r"^  (\w+) +(?:([\d.]+) us: |cannot run: )(.*)$", text,
                                            re.M):
        kernels[name] = (Explained(float(estimate), read_figures(facts.rpartition("; ")[2]))
                         if estimate else Explained(None, {}))
    return re.match(r"chosen: (\w+)", text)[1], kernels


class Planner:
    """The plans of a libmygemm for a device, which need not be here, in a math mode. `kernels` and
    `figures` have what its explanations have named so far."""

    def __init__(self, library, device, math="default"):
        os.environ["MYGEMM_BACKEND"] = "host"
        os.environ.pop("MYGEMM_FORCE_GEMM", None)
        self.abi = ctypes.CDLL(str(pathlib.Path(library).resolve()))
        self.abi.mygemm_last_error.restype = ctypes.c_char_p
        self.device = device
        self.kernels, self.figures = set(), {}
        self.handle = ctypes.c_void_p()
        self.check(self.abi.mygemm_create(ctypes.byref(self.handle)))
        # Explaining follows no pointer: any aligned one says how large the workspace is.
        self.check(self.abi.mygemm_set_workspace(self.handle, ctypes.c_void_p(256),
                                                     ctypes.c_size_t(WORKSPACE)))
        self.check(self.abi.mygemm_set_math_mode(self.handle, MATH_MODES[math]))

    def check(self, status):
        if status != 0:
            sys.exit(f"{self.abi._name}: {self.abi.mygemm_last_error().decode()}")

    def plan(self, shape):
        """The kernel chosen for a product, and microseconds by kernel."""
        chosen, kernels = read_explanation(self.explanation(shape))
        self.kernels.update(kernels)
        self.figures.update({name: kernel.figures for name, kernel in kernels.items()
                             if kernel.figures})
        return chosen, {name: kernel.microseconds for name, kernel in kernels.items()
                        if kernel.microseconds is not None}

    def explanation(self, shape):
        def numbers(*keys):
            return [ctypes.c_int64(shape[key]) for key in keys]
        length = ctypes.c_size_t()
        text = None
        for _ in range(2):  # the length, then the text
            self.check(self.abi.mygemm_explain_sgemm(
                self.handle, self.device.encode(),
                *("NTC".index(shape[op]) for op in ["transa", "transb"]),
                *numbers("m", "n", "k"), None, *numbers("lda", "stride_a"),
                None, *numbers("ldb", "stride_b"), None, *numbers("ldc", "stride_c", "batch"),
                text, ctypes.c_size_t(len(text) if text else 0), ctypes.byref(length)))
            text = text or ctypes.create_string_buffer(length.value + 1)
        return text.value.decode()
