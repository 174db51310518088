"""libmygemm_blas.so preloaded into programs that know nothing of it, the calls it took counted.

Usage: blas_test.py LIBRARY STAND_IN [unittest options]. STAND_IN: stand_in_blas.c, compiled. From
Debian: libblas-test, liblapack-test, python3-numpy, octave; a test whose program is not installed
is skipped, and where all are, the exit status is 77. With MYGEMM_BLAS_OFFLOAD=always in the
environment (on a machine with a GPU) every product that reads its operands must have run there.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = STAND_IN = None  # set from the command line
SKIPPED = 77
REPORT_LINE = re.compile(r"^mygemm:   (\w+) +(\d+) taken, (\d+) on the GPU(?:, (\d+) refused)?$",
                         re.M)
Count = collections.namedtuple("Count", "taken on_gpu refused")
ON_GPU = os.environ.get("MYGEMM_BLAS_OFFLOAD") == "always"
ARCHITECTURE = next(pathlib.Path("/usr/lib").glob("*-linux-gnu"), pathlib.Path("/usr/lib"))
# The reference implementation, whatever the machine's default is: its tests need its variables,
# and with some other libraries LAPACK's tests fail on their own account.
REFERENCE = ARCHITECTURE / "blas"


def debian_program(path, package):
    return unittest.skipUnless(pathlib.Path(path).exists(), f"{package} is not installed")


def run(*command, stdin="", cwd=None, library_path=REFERENCE, preload=True, **environment):
    """Runs a program with the library preloaded; returns its result and the calls taken."""
    variables = {**os.environ, "MYGEMM_REPORT": "1", "LD_LIBRARY_PATH": str(library_path),
                 **environment}
    if preload:
        variables["LD_PRELOAD"] = str(LIBRARY)
    result = subprocess.run([str(word) for word in command], input=stdin, cwd=cwd, text=True,
                            capture_output=True, check=False, env=variables, timeout=600)
    calls = {name: Count(int(taken), int(on_gpu), int(refused or 0))
             for name, taken, on_gpu, refused in REPORT_LINE.findall(result.stderr)}
    return result, calls


def only_sgemm(text):
    """A Netlib input file with all but SGEMM switched off."""
    return re.sub(r"(?m)^((?!SGEMM|cblas_sgemm)\w+) +T PUT", r"\1 F PUT", text)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def assert_ran_where_asked(self, count, reading):
        """`reading` of the calls read their operands, and so had something to do for a GPU."""
        self.assertEqual(count.on_gpu, reading if ON_GPU else 0)

    def only_blas(self, blas):
        """A path of libraries on which `blas` is the only BLAS."""
        for name in "libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2", "libcblas.so.3":
            (self.scratch / name).touch()  # no library: it cannot be loaded
        (self.scratch / "libblas.so.3").symlink_to(blas)
        return f"{self.scratch}:{LIBRARY.parent}"


@debian_program(ARCHITECTURE / "blas/xblat3s", "libblas-test")
class NetlibBlas(Program):
    CALLS = 17496
    # Sizes are 0 1 2 3 5 9 in three places, alpha is 0.0 1.0 0.7.
    READING = CALLS * (5 * 5 * 5 * 2) // (6 * 6 * 6 * 3)
    WITH_ERROR_EXITS = 28  # illegal calls, each of which must be reported as the reference does

    def fortran(self, **options):
        text = only_sgemm((ARCHITECTURE / "blas/sblat3.in").read_text())
        result, calls = run(ARCHITECTURE / "blas/xblat3s", stdin=text, cwd=self.scratch, **options)
        return result, calls, (self.scratch / "sblat3.out").read_text()

    def test_sgemm(self):
        result, calls, said = self.fortran()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("SGEMM  PASSED THE TESTS OF ERROR-EXITS", said)
        self.assertRegex(said, rf"SGEMM  PASSED THE COMPUTATIONAL TESTS \( *{self.CALLS} CALLS\)")
        self.assertEqual(calls["sgemm_"].taken, self.CALLS)
        self.assertEqual(calls["sgemm_"].refused, self.WITH_ERROR_EXITS)
        self.assert_ran_where_asked(calls["sgemm_"], self.READING)

    def test_cblas_sgemm(self):
        text = only_sgemm((ARCHITECTURE / "blas/sin3").read_text())
        result, calls = run(ARCHITECTURE / "blas/xscblat3", stdin=text, cwd=self.scratch)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("cblas_sgemm  PASSED THE TESTS OF ERROR-EXITS", result.stdout)
        for order in r"COLUMN-MAJOR", r"ROW-MAJOR   ":
            self.assertRegex(result.stdout, rf"cblas_sgemm  PASSED THE {order} COMPUTATIONAL TESTS "
                                            rf"\( *{self.CALLS} CALLS\)")
        self.assertEqual(calls["cblas_sgemm"].taken, 2 * self.CALLS)
        self.assertEqual(calls["cblas_sgemm"].refused, 2 * self.WITH_ERROR_EXITS)
        self.assert_ran_where_asked(calls["cblas_sgemm"], 2 * self.READING)

    def test_without_the_library_nothing_is_counted(self):
        result, calls, said = self.fortran(preload=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("SGEMM  PASSED", said)
        self.assertEqual(calls, {})


@debian_program(ARCHITECTURE / "lapack/xlintsts", "liblapack-test")
class NetlibLapack(Program):
    def test_linear_equations(self):
        command = ARCHITECTURE / "lapack/xlintsts"
        text = (ARCHITECTURE / "lapack/stest.in").read_text()
        baseline, _ = run(command, stdin=text, cwd=self.scratch, preload=False)
        # Over a million small products: on the host, whatever the environment asks for.
        result, calls = run(command, stdin=text, cwd=self.scratch, MYGEMM_BLAS_OFFLOAD="never")
        passed = self.verdicts(result.stdout)
        self.assertEqual(passed, self.verdicts(baseline.stdout))
        self.assertGreaterEqual(len(passed), 80)
        self.assertNotIn("failed to pass", result.stdout)
        self.assertGreater(calls["sgemm_"].taken, 1_400_000)

    @staticmethod
    def verdicts(text):
        return re.findall(r"^.*(?:passed|failed).*$", text, re.M)


NUMPY = """
import numpy
random = numpy.random.default_rng(1)
a = random.standard_normal((120, 90), dtype=numpy.float32)
b = random.standard_normal((90, 70), dtype=numpy.float32)
for x, y in (a, b), (b.T, a.T), (a[::2], b[:, 5:60]), (a[:, :40], b[:40]):
    exact = x.astype(float) @ y.astype(float)
    assert abs(x @ y - exact).max() < 1e-4
"""


@debian_program("/usr/lib/python3/dist-packages/numpy", "python3-numpy")
class NumPy(Program):
    def test_products(self):
        result, calls = run("/usr/bin/python3", "-c", NUMPY, library_path="")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(calls["cblas_sgemm"].taken, 4)
        self.assert_ran_where_asked(calls["cblas_sgemm"], 4)

    def test_products_in_processes_that_fork(self):
        script = NUMPY + ("import multiprocessing\n"
                          "def error(i): return float(abs(a @ b - (a @ b)).max())\n"
                          "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
                          "    assert pool.map(error, range(6)) == [0.0] * 6\n")
        result, _ = run("/usr/bin/python3", "-c", script, library_path="")
        self.assertEqual(result.returncode, 0, result.stderr)


@debian_program(shutil.which("octave-cli") or "/usr/bin/octave-cli", "octave")
class Octave(Program):
    def test_products(self):
        script = ("a = single(rand(30, 20)); b = single(rand(20, 10));"
                  "error = max(max(abs(double(a * b) - double(a) * double(b))));"
                  "printf('%d\\n', error < 1e-5)")
        result, calls = run("octave-cli", "--norc", "--quiet", "--eval", script, library_path="")
        self.assertEqual(result.stdout, "1\n", result.stderr)
        self.assertEqual(calls["sgemm_"].taken, 1)
        self.assert_ran_where_asked(calls["sgemm_"], 1)


@debian_program(ARCHITECTURE / "blas/xblat3s", "libblas-test")
class HostBlas(Program):
    """Whichever BLAS the host backend finds, calls do not go round in circles."""

    ON_HOST = {"MYGEMM_BLAS_OFFLOAD": "never", "MYGEMM_LOG": "stderr"}

    def call(self, blas, preload):
        """A product in a process with `blas`: the kernel that computed it, the calls of the
        stand-in, and the files of libraries."""
        result, calls = run("/usr/bin/python3", "-c", CALL_BESIDE_A_BLAS, blas, LIBRARY,
                            library_path="", preload=preload, **self.ON_HOST)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(calls["cblas_sgemm"].taken, 1)  # one that comes back is not counted
        stand_in_calls, files = result.stdout.split("\n", 1)
        return re.search(r"kernel=(\w+)", result.stderr)[1], int(stand_in_calls), files

    def test_the_one_that_the_process_has_is_called_and_no_other_opened(self):
        for preload in False, True:
            kernel, stand_in_calls, files = self.call(STAND_IN, preload)
            self.assertEqual((kernel, stand_in_calls), ("host_cblas", 1))
            self.assertNotIn("openblas", files)

    def test_its_openmp_does_not_keep_a_child_waiting(self):
        result, _ = run("/usr/bin/python3", "-c", CALL_BESIDE_A_BLAS + CALL_IN_A_CHILD, STAND_IN,
                        LIBRARY, library_path="", preload=False, **self.ON_HOST)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(re.findall(r"kernel=(\w+)", result.stderr), ["host_cblas"] * 2)
        self.assertEqual(re.findall(r"calls: (\d+)", result.stdout), ["1"])  # our loops ran

    def test_the_reference_is_slower_than_our_loops_and_no_other_is_opened(self):
        for preload in False, True:
            kernel, stand_in_calls, files = self.call(REFERENCE / "libblas.so.3", preload)
            self.assertEqual((kernel, stand_in_calls), ("host_blocked", 0))
            self.assertNotIn("openblas", files)

    def test_the_reference_alone(self):
        path = self.only_blas(REFERENCE / "libblas.so.3")
        result, calls = run(ARCHITECTURE / "blas/xscblat3", library_path=path,
                            stdin=only_sgemm((ARCHITECTURE / "blas/sin3").read_text()),
                            cwd=self.scratch, **self.ON_HOST)
        self.assertEqual(result.stdout.count("PASSED"), 3, result.stdout)
        self.assertEqual(set(calls), {"cblas_sgemm"})
        self.assertFalse("host_cblas" in result.stderr)  # which is long

    def test_the_library_itself_as_the_machines_blas(self):
        path = self.only_blas(LIBRARY)
        result, calls = run(sys.executable, "-c", CALL_BY_CTYPES, self.scratch / "libblas.so.3",
                            library_path=path, preload=False, **self.ON_HOST)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(calls["cblas_sgemm"].taken, 1)
        self.assertNotIn("host_cblas", result.stderr)


class NoBlas(Program):
    """In a process without a BLAS, and so without an XERBLA."""

    def test_refusals_are_printed_and_the_program_goes_on(self):
        result, calls = run("/usr/bin/python3", "-c", REFUSED_CALLS, LIBRARY, preload=False,
                            library_path="")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in (" ** On entry to SGEMM  parameter number  8 had an illegal value\n"
                     "    lda = 1 is smaller than max(1, m) = 2\n",
                     "Parameter 11 to routine cblas_sgemm was incorrect\n"
                     "ldb = 1 is smaller than max(1, n) = 2\n"):
            self.assertIn(line, result.stderr)
        self.assertEqual(calls["sgemm_"], Count(taken=0, on_gpu=0, refused=1))

    def test_a_wrong_setting_is_named_and_ignored(self):
        result, calls = run("/usr/bin/python3", "-c", CALL_BY_CTYPES, LIBRARY, preload=False,
                            library_path="", MYGEMM_BLAS_OFFLOAD="sometimes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("MYGEMM_BLAS_OFFLOAD = sometimes is none of"), 1)
        self.assertEqual(calls["cblas_sgemm"].taken, 1)

    def test_the_block_of_pblas(self):
        for settings, expected in (({"MYGEMM_PBLAS_BLOCK": "512"}, "512 32"),
                                   ({"MYGEMM_PBLAS_BLOCK": "0"}, "32 32"),
                                   ({"MYGEMM_BLAS_OFFLOAD": "never"}, "32 32"),
                                   ({"MYGEMM_BLAS_OFFLOAD": "never",
                                     "MYGEMM_PBLAS_BLOCK": "many"}, "32 32")):
            result, _ = run("/usr/bin/python3", "-c", BLOCKS_OF_PBLAS, LIBRARY, preload=False,
                            library_path="", **settings)
            self.assertEqual(result.stdout.strip(), expected)
            self.assertEqual(result.stderr.count("MYGEMM_PBLAS_BLOCK = many is none of: numbers"),
                             int("many" in settings.values()))

    def test_a_report_names_process_and_rank(self):
        for launcher, rank in ({}, ""), ({"OMPI_COMM_WORLD_RANK": "7",
                                          "OMPI_COMM_WORLD_LOCAL_RANK": "3"}, ", rank 7"):
            result, _ = run("/usr/bin/python3", "-c", CALL_BY_CTYPES, LIBRARY, preload=False,
                            library_path="", MYGEMM_BLAS_OFFLOAD="never", **launcher)
            self.assertRegex(result.stderr, rf"(?m)^mygemm: calls of process \d+{rank}$")

    def test_a_child_reports_its_own_calls(self):
        fork = ("import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\n"
                "else: sgemm(i(101), i(111), i(112), i(1), i(1), i(1), f(1), a, i(1), b, i(1),"
                " f(1), c, i(1))\n")
        result, _ = run("/usr/bin/python3", "-c", CALL_BY_CTYPES + fork + CALL_BY_CTYPES, LIBRARY,
                        preload=False, library_path="", MYGEMM_BLAS_OFFLOAD="never")
        self.assertEqual(re.findall(r"sgemm +(\d) taken", result.stderr), ["2", "2"])
        self.assertEqual(len(set(re.findall(r"calls of process (\d+)", result.stderr))), 2)

    def test_a_wrong_report_is_named_and_ignored(self):
        for value, said in ("yes", 1), ("0", 0), ("", 0):
            result, calls = run("/usr/bin/python3", "-c", CALL_BY_CTYPES, LIBRARY, preload=False,
                                library_path="", MYGEMM_REPORT=value)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("MYGEMM_REPORT = yes is neither 0 nor 1"), said)
            self.assertEqual(calls, {})

    def test_a_log_that_cannot_be_opened_is_lost_alone(self):
        result, calls = run("/usr/bin/python3", "-c", CALL_BY_CTYPES, LIBRARY, preload=False,
                            library_path="", MYGEMM_LOG="/nonexistent/log",
                            MYGEMM_BLAS_OFFLOAD="never")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("MYGEMM_LOG = /nonexistent/log cannot be opened"), 1)
        self.assertNotIn("slow loops", result.stderr)
        self.assertEqual(calls["cblas_sgemm"].taken, 1)


CALL_BESIDE_A_BLAS = """
import ctypes, sys
f, i = ctypes.c_float, ctypes.c_int
blas = ctypes.CDLL(sys.argv[1])
n = 200
a, c = ((f * (n * n))(*[value] * (n * n)) for value in (1, 3))
sgemm = ctypes.CDLL(sys.argv[2]).cblas_sgemm
sgemm(i(101), i(111), i(112), i(n), i(n), i(n), f(1), a, i(n), a, i(n), f(1), c, i(n))
assert set(c) == {n + 3.0}
try:
    print(i.in_dll(blas, "stand_in_calls").value)
except ValueError:
    print(0)
print({line.split()[-1] for line in open("/proc/self/maps")})
"""

CALL_IN_A_CHILD = """
import os, signal
sys.stdout.flush()
child = os.fork()
if child == 0:
    signal.alarm(60)
    sgemm(i(101), i(111), i(112), i(n), i(n), i(n), f(1), a, i(n), a, i(n), f(0), c, i(n))
    print("calls:", i.in_dll(blas, "stand_in_calls").value, flush=True)
    os._exit(set(c) != {float(n)})
assert os.waitpid(child, 0)[1] == 0
"""

BLOCKS_OF_PBLAS = """
import ctypes, sys
pilaenv = ctypes.CDLL(sys.argv[1]).pilaenv_
print(*(pilaenv(ctypes.byref(ctypes.c_int(0)), letter) for letter in (b"S", b"D")))
"""

REFUSED_CALLS = """
import ctypes, sys
f, i = ctypes.c_float, ctypes.c_int
library = ctypes.CDLL(sys.argv[1])
a = (f * 4)(1, 2, 3, 4)
two, one, ld = i(2), f(1), i(1)
by = ctypes.byref
library.sgemm_(b"N", b"N", by(two), by(two), by(two), by(one), a, by(ld), a, by(two), by(one), a,
               by(two))
library.cblas_sgemm(i(101), i(111), i(111), two, two, two, one, a, two, a, ld, one, a, two)
assert list(a) == [1, 2, 3, 4]
"""

CALL_BY_CTYPES = """
import ctypes, sys
f, i = ctypes.c_float, ctypes.c_int
sgemm = ctypes.CDLL(sys.argv[1]).cblas_sgemm
n = 200
a, b, c = ((f * (n * n))(*[value] * (n * n)) for value in (1, 2, 3))
sgemm(i(101), i(111), i(112), i(n), i(n), i(n), f(1), a, i(n), b, i(n), f(1), c, i(n))
assert set(c) == {2.0 * n + 3}
"""


if __name__ == "__main__":
    LIBRARY, STAND_IN = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    ran = unittest.main(exit=False).result
    if ran.testsRun == 0:
        sys.exit("no test was selected")
    if ran.wasSuccessful() and len(ran.skipped) == ran.testsRun:
        sys.exit(SKIPPED)
    sys.exit(not ran.wasSuccessful())
