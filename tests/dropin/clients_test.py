"""Libraries of NVIDIA that call cuBLAS, with the drop-in preloaded: the loader binds to the drop-in
each function that it exports, and to cuBLAS every other. No GPU is needed, and nothing is called.

Usage: clients_test.py DROP_IN TOOLKIT_LIBRARIES [unittest options]. TOOLKIT_LIBRARIES is the CUDA
toolkit's folder with libcublas.so. A library that is not there is skipped; exits with 77 where none
is.

cuSOLVER and cuBLAS are opened by Python, all their functions bound at once (LD_BIND_NOW). cuBLASMp
is looked for among the packages of the Python that runs the test; ./dev test gets its wheel (12 MB)
from PyPI without what it depends on: NCCL alone is 305 MB. It cannot be opened without a driver and
a recent NCCL, so the loader only lists it, as for `ldd -r`: it binds all functions by the same
rules, and tells which it found nowhere instead of giving up. Those of cuBLAS have to be found.
"""
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

DROP_IN = TOOLKIT = None  # set from the command line
SKIPPED = 77
CUBLAS = re.compile(r"libcublas(Lt)?\.so(\.\d+)*")
OPEN = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"


def output_of(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def exports_of(library):
    """Names of the functions of cuBLAS in a library."""
    symbols = output_of("nm", "--dynamic", "--defined-only", library)
    return set(re.findall(r"^[0-9a-f]+ T (cublas\w+)", symbols, re.M))


def imports_of(library):
    symbols = output_of("nm", "--dynamic", "--undefined-only", library)
    return set(re.findall(r"^ +U (cublas\w+)", symbols, re.M))


def loader():
    """The path of the loader that starts this Python."""
    headers = output_of("readelf", "--program-headers", "--wide", sys.executable)
    return re.search(r"program interpreter: ([^\]]+)\]", headers)[1]


def bindings_of(library, *command, **variables):
    """The output of a command that loads a library with the drop-in preloaded, and {function of
    cuBLAS: the file that it is bound to} of the library."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [*command, library], check=True, text=True, capture_output=True,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": str(TOOLKIT),
                 "LD_PRELOAD": str(DROP_IN), "LD_BIND_NOW": "1", "LD_DEBUG": "bindings",
                 "LD_DEBUG_OUTPUT": f"{folder}/bindings", **variables})
        # One file for each process.
        text = "".join(path.read_text() for path in pathlib.Path(folder).iterdir())
    lines = re.findall(rf"binding file {re.escape(str(library))} \[0\] to (.+) \[0\]: "
                       r"normal symbol `(cublas\w+)'", text)
    return result.stdout + result.stderr, {name: pathlib.Path(file) for file, name in lines}


def find_in_toolkit(name):
    """The file of a library of the toolkit, or None."""
    found = sorted(TOOLKIT.glob(f"{name}.so.*"), key=lambda path: len(path.name))
    return found[0] if found else None


def find_cublasmp():
    """cuBLASMp's file from a wheel for the toolkit's major version, or None."""
    cublas = find_in_toolkit("libcublas")
    if cublas is None:
        return None
    major = cublas.name.split(".")[2]
    try:
        files = importlib.metadata.files(f"nvidia-cublasmp-cu{major}") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [file.locate() for file in files if file.name.startswith("libcublasmp.so")]
    return pathlib.Path(found[0]).resolve() if found else None


class Clients(unittest.TestCase):
    def assert_bound(self, library, bindings, expected):
        ours = exports_of(DROP_IN)
        self.assertEqual(set(bindings), imports_of(library))
        self.assertLessEqual(set(expected), set(bindings))
        self.assertLessEqual(set(expected), ours)
        for name, file in bindings.items():
            with self.subTest(function=name):
                if name in ours:
                    self.assertEqual(file.resolve(), DROP_IN)
                else:
                    self.assertTrue(CUBLAS.fullmatch(file.name), f"bound to {file}")

    def assert_opened(self, name, *expected):
        library = find_in_toolkit(name)
        if library is None:
            self.skipTest(f"{name}.so is not in {TOOLKIT}")
        _, bindings = bindings_of(library, sys.executable, "-c", OPEN)
        self.assert_bound(library, bindings, expected)

    def test_cusolver(self):
        self.assert_opened("libcusolver", "cublasSgemm_v2", "cublasSgemm_v2_64", "cublasGemmEx",
                           "cublasSgemmStridedBatched_64", "cublasSgeam_64")

    def test_cusolver_for_several_gpus(self):
        self.assert_opened("libcusolverMg", "cublasSgemm_v2", "cublasSgemm_v2_64",
                           "cublasSgemmStridedBatched_64", "cublasSgeam")

    def test_cublas_calls_cublaslt(self):
        self.assert_opened("libcublas", "cublasLtMatmul")

    def test_cublasxt_is_within_cublas(self):
        """Its products are calls that the loader does not see: it binds no other function."""
        library = find_in_toolkit("libcublas")
        if library is None:
            self.skipTest(f"libcublas.so is not in {TOOLKIT}")
        self.assertIn("cublasXtSgemm", exports_of(library))
        self.assertEqual(imports_of(library) & exports_of(DROP_IN), {"cublasLtMatmul"})

    def test_cublasmp(self):
        library = find_cublasmp()
        if library is None:
            self.skipTest("this Python has no nvidia-cublasmp for the toolkit's version; ./dev "
                          "test gets it where PyPI can be reached")
        told, bindings = bindings_of(library, loader(), LD_TRACE_LOADED_OBJECTS="1", LD_WARN="yes")
        self.assertNotRegex(told, r"undefined symbol: cublas")
        self.assert_bound(library, bindings, ["cublasGemmEx", "cublasLtMatmul", "cublasSgeam"])


if __name__ == "__main__":
    DROP_IN, TOOLKIT = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if len(outcome.skipped) == outcome.testsRun:
        sys.exit(SKIPPED)
