"""The cuBLAS drop-in preloaded into programs on a machine without a GPU: nothing is taken, nothing
breaks, and what was forwarded is told.

Usage: preload_test.py DROP_IN PROGRAMS_DIR FAKES_DIR [unittest options]. PROGRAMS_DIR holds the
programs of this folder, FAKES_DIR/fake_<major>/ the stand-ins for cuBLAS and cuBLASLt.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

DROP_IN = PROGRAMS = FAKES = None  # set from the command line
NO_GPU = "there is no GPU here that mygemm can use"


def run(program, *arguments, preload=True, fake=13, report="1"):
    """The finished process. fake: the folder with the cuBLAS that the loader finds, or a major
    version of those in FAKES."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "MYGEMM_REPORT": report,
                   "LD_LIBRARY_PATH": str(FAKES / f"fake_{fake}")}
    if preload:
        environment["LD_PRELOAD"] = str(DROP_IN)
    return subprocess.run([PROGRAMS / program, *arguments], env=environment, text=True, check=False,
                          capture_output=True)


def run_python(code, **settings):
    """The finished process of a program of Python, which opens libraries itself."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "MYGEMM_REPORT": "1",
                   "LD_LIBRARY_PATH": str(FAKES / "fake_13"), **settings}
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                          check=False, env=environment)


class Preloaded(unittest.TestCase):
    def assert_forwarded(self, process, reason=NO_GPU, function="cublasSgemm_v2",
                         said="statuses: 0 0 0 0"):
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(process.stdout, said + "\n")
        heading, *lines = process.stderr.splitlines()
        self.assertRegex(heading, r"^mygemm: calls of process \d+$")
        self.assertEqual(lines, [
            f"mygemm:   {function:30} 0 taken, 1 forwarded",
            f"mygemm:     1 forwarded, 2e-09 GFLOP: {reason}",
            "mygemm: 0 of 1 calls taken, with 0.0 % of their 2e-09 GFLOP"])

    def test_program_that_is_linked_to_cublas(self):
        self.assert_forwarded(run("cublas_linked"))

    def test_program_that_loads_cublas_itself(self):
        self.assert_forwarded(run("cublas_loader", "library", "libcublas.so.13"))

    def test_program_that_loads_cublaslt_itself(self):
        self.assert_forwarded(run("cublas_loader", "lt", "libcublasLt.so.13"),
                              function="cublasLtMatmul", said="status: 0")

    def test_plugin_that_is_linked_to_cublas(self):
        self.assert_forwarded(run("cublas_loader", "plugin", PROGRAMS / "libcublas_plugin.so"))

    def test_program_that_is_linked_to_the_drop_in_first(self):
        self.assert_forwarded(run("cublas_linked_to_drop_in", preload=False))

    def test_cublas_of_an_unknown_version(self):
        self.assert_forwarded(run("cublas_linked", fake=14),
                              reason="cuBLAS is not of major version 11, 12 or 13")

    def test_no_cublas(self):
        # Files that cannot be loaded hide those that this machine may have.
        with tempfile.TemporaryDirectory(prefix="fake_", dir=FAKES) as folder:
            for version in 11, 12, 13:
                (pathlib.Path(folder) / f"libcublas.so.{version}").touch()
            process = run("cublas_linked_to_drop_in", preload=False,
                          fake=folder.rpartition("fake_")[2])
        self.assertEqual(process.stdout, "statuses: 1 1 1 1\n")
        self.assertEqual(process.stderr.splitlines()[0],
                         "mygemm: no libcublas.so.13, .12 or .11 was found to forward "
                         "cublasCreate_v2 to; set LD_LIBRARY_PATH")

    def test_no_report_unless_asked_for(self):
        for report in "", "0":
            self.assertEqual(run("cublas_linked", report=report).stderr, "")

    def test_one_report_of_both_libraries(self):
        blas = DROP_IN.with_name("libmygemm_blas.so")
        if not blas.exists():
            self.skipTest("libmygemm_blas.so is not built")
        process = run_python(f"""
import ctypes
blas, cublas = ctypes.CDLL("{blas}"), ctypes.CDLL("{DROP_IN}")
one, zero = (ctypes.c_float * 1)(1), ctypes.c_float(0)
blas.cblas_sgemm(102, 111, 111, 1, 1, 1, zero, one, 1, one, 1, zero, one, 1)
cublas.cublasSgemm_v2(None, 0, 0, 1, 1, 1, one, one, 1, one, 1, one, one, 1)
""")
        lines = process.stderr.splitlines()
        self.assertEqual(process.stderr.count("mygemm: calls of process "), 1)
        for function in "cblas_sgemm", "cublasSgemm_v2":
            self.assertTrue(any(function in line for line in lines), process.stderr)

    def test_products_of_16_bits_and_why_they_were_left(self):
        for choice, reason in (
                ("never", "16-bit matrices, which MYGEMM_TAKE_16BIT=never leaves to cuBLAS"),
                ("auto", "16-bit matrices, with which cuBLAS is faster as far as is known "
                         "(MYGEMM_TAKE_16BIT=auto)"),
                ("always", NO_GPU)):
            process = run_python(f"""
import ctypes
cublas = ctypes.CDLL("{DROP_IN}")
bf16, sum_of_32_bits, default = 14, 68, -1
one = (ctypes.c_float * 1)(1)
handle = ctypes.c_void_p()
cublas.cublasCreate_v2(ctypes.byref(handle))
status = cublas.cublasGemmEx(handle, 0, 0, 1, 1, 1, one, one, bf16, 1, one, bf16, 1, one, one, bf16,
                             1, sum_of_32_bits, default)
print("status:", status)
""", MYGEMM_TAKE_16BIT=choice)
            self.assert_forwarded(process, reason, "cublasGemmEx", "status: 0")

    def test_program_that_calls_nothing_of_cublas(self):
        self.assertEqual(run("cublas_loader", "next").stderr, "")

    def test_dlsym_finds_no_cublas_where_there_is_none(self):
        self.assertEqual(run("cublas_loader", "probe").stdout, "cuBLAS: missing\n")

    def test_dlsym_still_knows_who_asks(self):
        for preload in False, True:
            self.assertEqual(run("cublas_loader", "next", preload=preload).stdout, "next: 2\n")


if __name__ == "__main__":
    DROP_IN, PROGRAMS, FAKES = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
    unittest.main()
