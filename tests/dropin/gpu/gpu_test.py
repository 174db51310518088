"""The cuBLAS drop-in preloaded into real programs on a GPU: the same answers as cuBLAS's own, and
calls counted.

Usage: gpu_test.py DROP_IN ANSWERS [unittest options]. ANSWERS is the program cublas_answers.cpp.
Programs whose Python packages are missing are skipped.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

DROP_IN = ANSWERS = None  # set from the command line
CLIENT = pathlib.Path(__file__).resolve().parent / "torch_client.py"
JAX_CLIENT = CLIENT.with_name("jax_client.py")
# cuBLAS's error at k = 4096 is about 2e-7 at worst; TF32's is over 1e-4.
FP32_ERROR = 1e-6


def run(*command, preload, **settings):
    """(stdout, {function: (taken, forwarded)})"""
    environment = {**os.environ, "MYGEMM_REPORT": "1", **settings}
    environment.pop("LD_PRELOAD", None)
    if preload:
        environment["LD_PRELOAD"] = str(DROP_IN)
    process = subprocess.run([str(word) for word in command], env=environment, text=True,
                             check=False, capture_output=True)
    if process.returncode == 77:
        raise unittest.SkipTest(process.stderr.strip())
    if process.returncode != 0:
        raise AssertionError(f"{command} gave {process.returncode}\n{process.stdout[-2000:]}\n"
                             f"{process.stderr[-2000:]}")
    counts = re.findall(r"^mygemm:   (\w+) +(\d+) taken, (\d+) forwarded$", process.stderr, re.M)
    return process.stdout, {name: (int(taken), int(left)) for name, taken, left in counts}


class Answers(unittest.TestCase):
    def test_are_cublas_own(self):
        self.maxDiff = None
        plain, _ = run(ANSWERS, preload=False)
        ours, counts = run(ANSWERS, preload=True, MYGEMM_TAKE_16BIT="always")
        lines = plain.splitlines()
        answers = [line for line in lines if not line.startswith(" **")]  # cuBLAS's own remarks
        self.assertEqual(answers[-1], f"{len(answers) - 1} answers")
        self.assertGreater(len(answers), 1000)
        self.assertGreater(len([line for line in lines if line.startswith("cublasLtMatmul")]), 1000)
        self.assertEqual(ours.splitlines(), lines)
        self.assertEqual(len(counts), 21)
        for function, (taken, forwarded) in counts.items():
            self.assertGreater(taken, 0, function)
            self.assertGreater(forwarded, 0, function)


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class PyTorch(unittest.TestCase):
    def task(self, name):
        """(result with cuBLAS, result with mygemm, counts)"""
        plain, _ = run(sys.executable, CLIENT, name, preload=False)
        ours, counts = run(sys.executable, CLIENT, name, preload=True)
        return json.loads(plain), json.loads(ours), counts

    def assert_taken(self, counts, function, at_least):
        self.assertGreaterEqual(counts.get(function, (0, 0))[0], at_least, counts)

    def test_mm(self):
        _, ours, counts = self.task("mm")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assert_taken(counts, "cublasSgemm_v2", 8)

    def test_bmm(self):
        _, ours, counts = self.task("bmm")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assert_taken(counts, "cublasSgemmStridedBatched", 2)

    def test_linear_layers_with_biases(self):
        _, ours, counts = self.task("linear")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assert_taken(counts, "cublasLtMatmul", 6)

    def test_products_of_16_bits(self):
        for choice in "always", "auto", "never":
            ours, counts = run(sys.executable, CLIENT, "sixteen_bit", preload=True,
                               MYGEMM_TAKE_16BIT=choice)
            self.assertLess(max(json.loads(ours)["errors"]), 2 ** -8)
            taken = {name: of_name[0] for name, of_name in counts.items()}
            for function in "cublasGemmEx", "cublasGemmStridedBatchedEx", "cublasLtMatmul":
                if choice == "always":
                    self.assertGreater(taken[function], 0, counts)
                else:
                    self.assertEqual(taken.get(function, 0), 0, counts)

    def test_bits_of_a_row_depend_on_no_other_row(self):
        ours, counts = run(sys.executable, CLIENT, "rows", preload=True, MYGEMM_TAKE_16BIT="always",
                           MYGEMM_INVARIANCE="batch")
        self.assertEqual(set(json.loads(ours)["same"]), {True})
        self.assertEqual(sum(forwarded for _, forwarded in counts.values()), 0, counts)

    def test_two_gpus(self):
        if int(run(sys.executable, "-c", "import torch; print(torch.cuda.device_count())",
                   preload=False)[0]) < 2:
            self.skipTest("there is one GPU")
        _, ours, counts = self.task("two_gpus")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assertEqual(ours["same"], [True] * 16)
        self.assert_taken(counts, "cublasSgemm_v2", 80)
        self.assert_taken(counts, "cublasLtMatmul", 80)

    def test_graph(self):
        _, ours, counts = self.task("graph")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assert_taken(counts, "cublasSgemm_v2", 2)

    def test_training_follows_the_same_losses(self):
        plain, ours, counts = self.task("training")
        self.assertLess(plain["losses"][-1], 0.5 * plain["losses"][0])  # it learns
        for theirs, loss in zip(plain["losses"], ours["losses"], strict=True):
            self.assertAlmostEqual(loss, theirs, delta=1e-4 * theirs)
        # Backward: the gradients of three weights and of two inputs, 60 times.
        self.assert_taken(counts, "cublasSgemm_v2", 5 * 60)

    def assert_factors(self, name):
        plain, ours, counts = self.task(name)
        self.assertLess(ours["residual"], max(2 * plain["residual"], 1e-6))
        products = sum(taken for taken, _ in counts.values())
        self.assertGreater(products, 1, counts)  # one is the matrix's own

    def test_cusolver_potrf(self):
        self.assert_factors("potrf")

    def test_cusolver_getrf(self):
        self.assert_factors("getrf")

    def test_cusolver_geqrf(self):
        self.assert_factors("geqrf")

    @unittest.skipUnless(importlib.util.find_spec("cupy"), "CuPy is not installed")
    def test_cupy(self):
        _, ours, counts = self.task("cupy")
        self.assertLess(max(ours["errors"]), FP32_ERROR)
        self.assertGreater(sum(taken for taken, _ in counts.values()), 0)


@unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_products(self):
        plain, _ = run(sys.executable, JAX_CLIENT, preload=False)
        ours, counts = run(sys.executable, JAX_CLIENT, preload=True)
        self.assertLess(max(json.loads(ours)["errors"]), FP32_ERROR)
        self.assertEqual(len(json.loads(plain)["errors"]), len(json.loads(ours)["errors"]))
        self.assertGreater(counts["cublasLtMatmul"][0], 0, counts)


if __name__ == "__main__":
    DROP_IN, ANSWERS = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
