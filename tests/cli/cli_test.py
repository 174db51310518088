"""The mygemm command as its users run it: .npy files by NumPy in, results compared with NumPy's.

Usage: cli_test.py MYGEMM [unittest options]. Needs Python's standard library and NumPy.
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

MYGEMM = ""  # set from the command line
FP32_EPS = 2.0**-24


def softmax(x, scale=1.0):
    s = scale * x.astype(np.float64)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = np.random.default_rng(7)

    def run_mygemm(self, *arguments, **environment):
        return subprocess.run([MYGEMM, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, env={**os.environ, **environment},
                              timeout=120, check=False)

    def succeed(self, *arguments, **environment):
        result = self.run_mygemm(*arguments, **environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def fail_with(self, sentence, *arguments, **environment):
        """Exit code 1, that one line on stderr, and no new file."""
        before = sorted(self.folder.iterdir())
        result = self.run_mygemm(*arguments, **environment)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stderr, r"\Amygemm: error: [^\n]+\n\Z")
        self.assertIn(sentence, result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def save(self, name, array):
        np.save(self.folder / name, array)
        return array

    def load(self, name):
        return np.load(self.folder / name)

    def matrix(self, *shape, dtype=np.float32, order="C"):
        return np.array(self.random.standard_normal(shape), dtype=dtype, order=order)


class Sgemm(CommandTest):
    def check(self, expected, bound, *options):
        """Runs sgemm on a.npy and b.npy; every element must be within FP32's error bound."""
        self.succeed("sgemm", "a.npy", "b.npy", "-o", "c.npy", *options)
        c = self.load("c.npy")
        self.assertEqual((c.dtype, c.shape), (np.float32, expected.shape))
        self.assertTrue(c.flags.c_contiguous)
        self.assertTrue(np.all(np.abs(c - expected) <= bound), options)

    def test_orders_transposes_and_types(self):
        m, n, k = 13, 7, 21
        for orders, transa, transb, dtype in itertools.product(
                ("CC", "CF", "FC", "FF"), "NT", "NT", (np.float32, np.float16)):
            a = self.save("a.npy", self.matrix(*((m, k) if transa == "N" else (k, m)),
                                               dtype=dtype, order=orders[0]))
            b = self.save("b.npy", self.matrix(*((k, n) if transb == "N" else (n, k)),
                                               dtype=dtype, order=orders[1]))
            a, b = (x.astype(np.float64) for x in (a, b))
            a, b = a if transa == "N" else a.T, b if transb == "N" else b.T
            self.check(a @ b, (k + 2) * FP32_EPS * (np.abs(a) @ np.abs(b)),
                       "--transa", transa, "--transb", transb)

    def test_alpha_beta_and_c(self):
        a = self.save("a.npy", self.matrix(5, 4)).astype(np.float64)
        b = self.save("b.npy", self.matrix(4, 6)).astype(np.float64)
        bound = 20 * FP32_EPS * (3 * np.abs(a) @ np.abs(b) + 10)
        for order, dtype in itertools.product("CF", (np.float32, np.float16)):
            c0 = self.save("c0.npy", self.matrix(5, 6, dtype=dtype, order=order))
            c0 = c0.astype(np.float64)
            self.check(-2.5 * (a @ b), bound, "--alpha", "-2.5")
            self.check(a @ b + c0, bound, "--c", "c0.npy")
            self.check(3 * (a @ b) - 0.5 * c0, bound, "--alpha=3", "--beta=-0.5", "--c", "c0.npy")

    def test_c_is_not_read_where_beta_is_zero(self):
        a = self.save("a.npy", self.matrix(3, 3))
        self.save("b.npy", np.eye(3, dtype=np.float32))
        self.save("c0.npy", np.full((3, 3), np.nan, np.float32))
        self.check(a, 0, "--beta", "0", "--c", "c0.npy")

    def test_integers_are_exact(self):
        a = self.save("a.npy", self.random.integers(-8, 9, (130, 257)).astype(np.float32))
        b = self.save("b.npy", self.random.integers(-8, 9, (257, 65)).astype(np.float32))
        self.check(a @ b, 0)

    def test_every_half_is_widened_exactly(self):
        halves = np.arange(65536, dtype=np.uint16).view(np.float16)
        halves = halves[np.isfinite(halves)]
        self.save("a.npy", halves.reshape(-1, 1))
        self.save("b.npy", np.ones((1, 1), np.float32))
        self.check(halves.astype(np.float32).reshape(-1, 1), 0)

    def test_views_are_saved_as_arrays(self):
        whole = self.matrix(10, 12)
        a, b = self.save("a.npy", whole[::2, 1:5]), self.save("b.npy", whole[:4, ::-3].copy("F"))
        self.check(a.astype(np.float64) @ b, 1e-5)

    def test_empty_matrices(self):
        for m, n, k in (0, 4, 3), (4, 0, 3), (4, 3, 0), (0, 0, 0):
            self.save("a.npy", np.zeros((m, k), np.float32))
            self.save("b.npy", np.zeros((k, n), np.float32, order="F"))
            self.check(np.zeros((m, n)), 0)
            c0 = self.save("c0.npy", self.matrix(m, n))
            self.check(2 * c0, 0, "--beta", "2", "--c", "c0.npy")

    def test_output_may_be_an_input(self):
        a = self.save("a.npy", np.arange(4, dtype=np.float32).reshape(2, 2))
        self.succeed("sgemm", "a.npy", "a.npy", "-o", "a.npy")
        np.testing.assert_array_equal(self.load("a.npy"), a @ a)

    def test_refuses_shapes_that_do_not_fit(self):
        self.save("a.npy", self.matrix(2, 3))
        self.save("b.npy", self.matrix(4, 5))
        self.save("v.npy", self.matrix(3))
        self.fail_with("the shapes do not fit: a.npy ((2, 3)) has 3 columns, and b.npy ((4, 5)) "
                       "has 4 rows", "sgemm", "a.npy", "b.npy", "-o", "c.npy")
        self.fail_with("a.npy transposed (stored as (2, 3)) has 2 columns", "sgemm", "a.npy",
                       "b.npy", "-o", "c.npy", "--transa", "T")
        self.fail_with("b.npy: has the shape (4, 5), and the product has the shape (2, 2)",
                       "sgemm", "a.npy", "a.npy", "--transb", "T", "--c", "b.npy", "-o", "c.npy")
        self.fail_with("v.npy: has the shape (3,); a matrix has two dimensions", "sgemm", "a.npy",
                       "v.npy", "-o", "c.npy")
        self.fail_with("--beta 2 needs a matrix", "sgemm", "a.npy", "a.npy", "--transb", "T",
                       "--beta", "2", "-o", "c.npy")

    def test_refuses_a_result_too_large_to_exist(self):
        self.save("a.npy", np.zeros((2**31, 0), np.float32))
        self.fail_with("the shape (2147483648, 2147483648) of 4-byte elements takes more than "
                       "2^63 - 1 bytes", "sgemm", "a.npy", "a.npy", "--transb", "T", "-o", "c.npy")

    def test_a_forced_kernel_must_exist(self):
        self.save("a.npy", self.matrix(2, 2))
        self.fail_with("MYGEMM_FORCE_GEMM", "sgemm", "a.npy", "a.npy", "-o", "c.npy",
                       MYGEMM_FORCE_GEMM="no_such_kernel")


class Softmax(CommandTest):
    def check(self, x, tolerance, *options, scale=1.0):
        """Runs softmax on x and its logarithm; compares with FP64."""
        self.save("x.npy", x)
        expected = softmax(x, scale)
        for logarithm in (), ("--log",):
            self.succeed("softmax", "x.npy", "-o", "y.npy", *options, *logarithm)
            y = self.load("y.npy")
            self.assertEqual(y.shape, x.shape)
            wanted = np.log(expected) if logarithm else expected
            np.testing.assert_allclose(y, wanted, rtol=tolerance, atol=tolerance)
        return y

    def test_any_dimension_and_order(self):
        for shape in (17,), (1, 1), (5, 33), (3, 4, 5), (2, 1, 3, 4), (300, 7):
            for order in "CF":
                x = self.matrix(*shape, order=order)
                y = self.check(x, 2e-6)
                self.assertEqual(y.dtype, np.float32)
                self.assertEqual(y.flags.f_contiguous, x.flags.f_contiguous)

    def test_half_precision(self):
        for order in "CF":
            x = self.matrix(6, 50, dtype=np.float16, order=order)
            self.assertEqual(self.check(x, 4e-3).dtype, np.float16)
            self.assertEqual(self.check(x, 2e-6, "--dtype", "float32").dtype, np.float32)
        y = self.check(self.matrix(6, 50), 4e-3, "--dtype", "float16")
        self.assertEqual(y.dtype, np.float16)

    def test_scale_and_large_values(self):
        self.check(np.array([[1e30, 1e30, 1e30]], np.float32), 1e-6)
        self.check(self.matrix(4, 9), 4e-6, "--scale", "-1.5", scale=-1.5)
        self.check(self.matrix(4, 9), 4e-6, "--scale", "0", scale=0.0)

    def test_masked_elements_are_zero(self):
        self.save("x.npy", np.array([[0, -np.inf, 0], [np.nan, 1, 2]], np.float32))
        self.succeed("softmax", "x.npy", "-o", "y.npy")
        np.testing.assert_array_equal(self.load("y.npy"), [[0.5, 0, 0.5], [np.nan] * 3])

    def test_empty_arrays(self):
        for shape in (0,), (0, 3), (3, 0), (2, 0, 4):
            self.save("x.npy", np.zeros(shape, np.float32))
            self.succeed("softmax", "x.npy", "-o", "y.npy")
            self.assertEqual(self.load("y.npy").shape, shape)

    def test_refuses_scalars_other_types_and_nan_as_scale(self):
        self.save("x.npy", np.float32(3))
        self.fail_with("x.npy: is a scalar; softmax needs an axis", "softmax", "x.npy", "-o",
                       "y.npy")
        self.save("x.npy", np.zeros((2, 2)))
        self.fail_with("x.npy: holds <f8; only float32 (<f4) and float16 (<f2)", "softmax",
                       "x.npy", "-o", "y.npy")

        self.save("x.npy", self.matrix(2, 2))
        self.fail_with("scale", "softmax", "x.npy", "-o", "y.npy", "--scale", "nan")


class Transpose(CommandTest):
    def test_every_type_and_order(self):
        for name in "?,i1,u1,i2,u2,f2,i4,u4,f4,i8,u8,f8,c8,f16,c16".split(","):
            for shape, order in itertools.product(((5, 9), (1, 4), (70, 33)), "CF"):
                x = np.array(self.random.integers(0, 100, shape).astype(name), order=order)
                self.save("x.npy", x)
                self.succeed("transpose", "x.npy", "-o", "y.npy")
                y = self.load("y.npy")
                self.assertTrue(y.flags.c_contiguous)
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x.T)

    def test_empty_matrices(self):
        for shape, order in itertools.product(((0, 3), (3, 0)), "CF"):
            self.save("x.npy", np.zeros(shape, np.float16, order=order))
            self.succeed("transpose", "x.npy", "-o", "y.npy")
            self.assertEqual(self.load("y.npy").shape, shape[::-1])

    def test_refuses_other_dimensions(self):
        for shape in (4,), (2, 3, 4):
            self.save("x.npy", np.zeros(shape, np.float32))
            self.fail_with("a matrix has two dimensions", "transpose", "x.npy", "-o", "y.npy")


class BadFiles(CommandTest):
    COMMANDS = (("sgemm", "x.npy", "x.npy"), ("softmax", "x.npy"), ("transpose", "x.npy"))

    def refuse(self, sentence, content):
        (self.folder / "x.npy").write_bytes(content)
        for command in self.COMMANDS:
            self.fail_with("x.npy: " + sentence, *command, "-o", "y.npy")

    def test_broken_files(self):
        self.save("good.npy", self.matrix(3, 3))
        good = (self.folder / "good.npy").read_bytes()
        self.refuse("not a .npy file", b"")
        self.refuse("not a .npy file", b"1.0 2.0\n")
        self.refuse("truncated", good[:40])
        self.refuse("truncated: the shape (3, 3) of <f4 takes 36 bytes, and 35 follow", good[:-1])
        self.refuse("too long: the shape (3, 3) of <f4 takes 36 bytes, and 37 follow", good + b"x")
        self.refuse(".npy format 9.0 is unknown", good.replace(b"NUMPY\1", b"NUMPY\x09"))
        self.refuse("the shape has an extent of -3", good.replace(b"(3, 3)", b"(-3,3)"))
        self.refuse("the header has no key", good.replace(b"'shape': (3, 3), ", b" " * 17))

    def test_other_types(self):
        def saved(array):
            self.save("other.npy", array)
            return (self.folder / "other.npy").read_bytes()

        self.refuse("descr '>f4' is big-endian", saved(np.zeros((2, 2), ">f4")))
        self.refuse("descr '|O' holds Python objects", saved(np.array([[None]])))
        self.refuse("descr is a list of fields", saved(np.zeros((2, 2), [("a", "f4")])))
        self.refuse("descr '<U3' is not a boolean", saved(np.array([["abc"]])))

    def test_missing_files_and_folders(self):
        for command in self.COMMANDS:
            self.fail_with("x.npy: cannot be opened: No such file", *command, "-o", "y.npy")
        self.fail_with(".: cannot be read: Is a directory", "transpose", ".", "-o", "y.npy")
        self.save("a.npy", self.matrix(2, 2))
        self.fail_with("none/y.npy: cannot be created: No such file", "transpose", "a.npy", "-o",
                       "none/y.npy")

    def test_an_old_result_survives_a_failure(self):
        old = self.save("y.npy", self.matrix(2, 2))
        self.fail_with("x.npy", "softmax", "x.npy", "-o", "y.npy")
        np.testing.assert_array_equal(self.load("y.npy"), old)


class CommandLine(CommandTest):
    def test_usage_errors(self):
        for arguments in ((), ("no-such-command",), ("sgemm",), ("sgemm", "a.npy", "b.npy"),
                          ("sgemm", "a", "b", "-o", "c", "--transa", "X"),
                          ("softmax", "x", "-o", "y", "--dtype", "float64"),
                          ("explain",), ("explain", "sgemm", "-m", "3"),
                          ("explain", "sgemm", "-m", "x", "-n", "1", "-k", "1"),
                          ("demo", "--pairs", "0")):
            result = self.run_mygemm(*arguments)
            self.assertGreaterEqual(result.returncode, 100, arguments)
            self.assertNotEqual(result.stderr, "", arguments)

    def test_help_and_version(self):
        self.assertIn("sgemm", self.succeed("--help"))
        self.assertIn("--alpha", self.succeed("sgemm", "--help"))
        self.assertRegex(self.succeed("--version"), r"^mygemm \d+\.\d+\.\d+\n$")

    def test_info(self):
        text = self.succeed("info", MYGEMM_BACKEND="host", MYGEMM_MATH="strict")
        self.assertRegex(text, r"library: +\d+\.\d+\.\d+")
        self.assertRegex(text, r"backend: +host")
        self.assertRegex(text, r"device: +host \(.*\), \d+ threads?")
        self.assertRegex(text, r"MYGEMM_MATH +strict")
        self.assertRegex(text, r"MYGEMM_LOG +\(not set\)")
        self.fail_with("MYGEMM_BACKEND = tpu", "info", MYGEMM_BACKEND="tpu")


class Explain(CommandTest):
    def test_any_gpu_on_any_machine(self):
        for device in "T4", "A100", "RTX 4090", "H200", "B200", "sm_86", "host":
            for question in (("sgemm", "-m", 1000, "-n", 1000, "-k", 1000),
                             ("softmax", "--rows", 64, "--cols", 1000, "--xtype", "bf16"),
                             ("softmax", "--direction", "backward", "-m", 3, "-n", 5),
                             ("transpose", "--rows", 50, "--cols", 60, "--in-place", 1)):
                text = self.succeed("explain", *question, "--device", device)
                self.assertRegex(text, r"\Achosen: [a-z]\w+ ")
                self.assertIn("naive", text)

    def test_this_machine(self):
        self.assertIn("chosen: host_",
                      self.succeed("explain", "transpose", "-m", 3, "-n", 3,
                                   MYGEMM_BACKEND="host"))

    def test_lines_of_the_call_log(self):
        self.save("a.npy", self.matrix(8, 8, order="F"))
        log = {"MYGEMM_LOG": str(self.folder / "log"), "MYGEMM_BACKEND": "host"}
        self.succeed("sgemm", "a.npy", "a.npy", "-o", "c.npy", **log)
        self.succeed("softmax", "a.npy", "-o", "c.npy", "--log", "--dtype", "float16", **log)
        lines = (self.folder / "log").read_text().splitlines()
        self.assertEqual([line.split()[1] for line in lines],
                         ["sgemm", "transpose", "softmax", "transpose"])
        for line in lines:
            call, _, outcome = line.partition(" # ")
            row = outcome.split()[0].removeprefix("kernel=")
            text = self.succeed("explain", *call.split()[1:], MYGEMM_BACKEND="host")
            self.assertTrue(text.startswith("chosen: " + row + " "), text)
            self.assertIn("call: " + call.split(" ", 1)[1] + "\n", text)

    def test_refusals_are_the_library_s(self):
        self.fail_with("m = -1", "explain", "sgemm", "-m", -1, "-n", 1, "-k", 1, "--device", "T4")
        self.fail_with("lda = 3", "explain", "sgemm", "-m", 4, "-n", 1, "-k", 1, "--lda", 3,
                       "--device", "T4")
        self.fail_with("abacus", "explain", "transpose", "-m", 1, "-n", 1, "--device", "abacus")


if __name__ == "__main__":
    MYGEMM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
