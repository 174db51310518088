"""The mygemm command's options: numbers, unknown words, settings of a handle, JSON.

Usage: command_line_test.py MYGEMM [unittest options]. Needs NumPy.
"""
import json
import os
import re
import sys
import unittest

import numpy as np

import cli_test

PRODUCT = ("explain", "sgemm", "-m", 4096, "-n", 4096, "-k", 4096, "--device", "H200")


class Sentences(cli_test.CommandTest):
    def refuse(self, sentence, *arguments):
        """One line on stderr that says it, and CLI11's exit status."""
        result = self.run_mygemm(*arguments)
        self.assertGreaterEqual(result.returncode, 100, result)
        self.assertRegex(result.stderr, r"\Amygemm: error: [^\n]+\n\Z")
        self.assertIn("error: " + sentence, result.stderr)

    def test_numbers_that_do_not_fit(self):
        product = ("sgemm", "a.npy", "b.npy", "-o", "c.npy")
        for number in "1e99", "-1e39", "1e-99":
            for option in "--alpha", "--beta":
                self.refuse(f"{option}: {number} is out of the range of FP32", *product,
                            f"{option}={number}")
        self.refuse("--scale: 1e99 is out of the range", "softmax", "x", "-o", "y",
                    "--scale", "1e99")
        self.refuse("--alpha: 1x is not a number", *product, "--alpha", "1x")
        for number in "99999999999999999999", "-99999999999999999999", "1.5", "0x10":
            self.refuse(f"-m: {number} is not an integer of 64 bits", "explain", "sgemm",
                        f"-m{number}", "-n1", "-k1")
        self.refuse("--element-size: -4 is not an integer of 64 bits that is not negative",
                    "explain", "transpose", "-m", 1, "-n", 1, "--element-size", -4)

    def test_numbers_that_do(self):
        self.save("a.npy", np.ones((2, 2), np.float32))
        for alpha in "inf", "nan", "-1e38", "1e-44":
            self.succeed("sgemm", "a.npy", "a.npy", "-o", "c.npy", f"--alpha={alpha}")
            np.testing.assert_array_equal(self.load("c.npy"),
                                          np.full((2, 2), np.float32(alpha) * np.float32(2)))
        self.assertIn("-m 10 -n 7 ",
                      self.succeed("explain", "sgemm", "-m", "010", "-n", "+7", "-k", 1))

    def test_unknown_words(self):
        self.refuse("sgem is not a subcommand of mygemm; did you mean sgemm?", "sgem", "x")
        self.refuse("--verison is not an option of mygemm; did you mean --version?", "--verison")
        self.refuse("-v is not an option of mygemm; did you mean -V?", "-v")
        self.refuse("sofmax is not a subcommand of mygemm explain; did you mean softmax?",
                    "explain", "sofmax")
        self.refuse("--trnasa is not an option of mygemm sgemm; did you mean --transa?",
                    "sgemm", "a", "b", "-o", "c", "--trnasa=T")
        self.refuse("c is one argument too many for mygemm sgemm", "sgemm", "a", "b", "c",
                    "-o", "d")
        self.refuse("frobnicate is not a subcommand of mygemm; mygemm --help", "frobnicate")
        self.refuse("mygemm needs a subcommand: info, sgemm, softmax, transpose, explain or demo")
        self.refuse("--transa: X is none of N, T and C", "sgemm", "a", "b", "-o", "c", "--transa",
                    "X")
        self.refuse("-n is required", "explain", "sgemm", "-m", 3)

    def test_version_and_help(self):
        self.assertEqual(self.succeed("-V"), self.succeed("--version"))
        text = self.succeed("sgemm", "--help")
        self.assertIn("--transa N, T or C", text)
        self.assertNotIn("ENUM", self.succeed("explain", "gemm", "--help") + text)


class Settings(cli_test.CommandTest):
    def test_workspace(self):
        self.assertRegex(self.succeed(*PRODUCT),
                         r"\Achosen: bf16x6_streamk_128x128 .*(?s:.*); workspace 33554432 bytes\n")
        self.assertRegex(self.succeed(*PRODUCT, "--workspace", 0),
                         r"\Achosen: bf16x6_128x128 .*(?s:.*); workspace 0 bytes\n")
        self.assertIn("; workspace 4194304 bytes\n", self.succeed(*PRODUCT, "--workspace", 4))

    def test_math(self):
        self.assertRegex(self.succeed(*PRODUCT, "--math", "fast"), r"\Achosen: tf32x3_")
        self.assertRegex(self.succeed(*PRODUCT, "--math", "strict"), r"\Achosen: streamk_")
        self.assertRegex(self.succeed(*PRODUCT, MYGEMM_MATH="fast"), r"\Achosen: tf32x3_")

    def test_force(self):
        self.assertRegex(self.succeed(*PRODUCT, "--force", "tiled"), r"\Achosen: tiled .*forced")
        self.assertRegex(self.succeed("explain", "transpose", "-m", 3, "-n", 3, "--device", "T4",
                                      "--force", "naive"), r"\Achosen: naive ")
        self.fail_with("MYGEMM_FORCE_GEMM = abacus is not the name of a kernel", *PRODUCT,
                       "--force", "abacus")

    def test_devices(self):
        lines = self.succeed("info", "--devices").splitlines()
        names = [line[:10].strip() for line in lines]
        self.assertEqual(names[0], "T4")
        for name in "RTX 4090", "H200", "sm_90", "sm_120", "host":
            self.assertIn(name, names)
        self.assertIn("H200       H200, sm_90, 132 SMs, 66.9 FP32 TFLOP/s, copy 4.25 TB/s", lines)
        self.fail_with("device = abacus is none of: " + ", ".join(names), *PRODUCT[:-1], "abacus")
        self.assertEqual(self.succeed(*PRODUCT[:-1], "sm_90a"),
                         self.succeed(*PRODUCT[:-1], "sm_90"))

    def test_verbose(self):
        self.save("a.npy", self.matrix(40, 40))
        for command, unit in ((("sgemm", "a.npy", "a.npy"), "GFLOP"), (("softmax", "a.npy"), "GB"),
                              (("transpose", "a.npy"), "GB")):
            result = self.run_mygemm(*command, "-o", "y.npy", "--verbose", "--backend", "host",
                                     "--force", "host_naive")
            self.assertEqual(result.returncode, 0, result)
            self.assertRegex(result.stderr, rf"\A{command[0]}: host_naive, [\d.]+ [mu]s, [\d.]+ "
                                            rf"{unit}/s\n\Z")

    def test_bars(self):
        said = self.succeed(*PRODUCT, "--plot")
        bars = re.findall(r"(?m)^  (\w+) +(#+) +([0-9.]+) us$", said)
        answer = json.loads(self.succeed(*PRODUCT, "--json"))
        times = {k["name"]: k["estimated_us"] for k in answer["kernels"] if "estimated_us" in k}
        self.assertEqual({name: float(us) for name, _, us in bars}, times)
        self.assertEqual(bars[0][0], answer["kernel"])
        self.assertEqual([float(us) for _, _, us in bars], sorted(times.values()))
        lengths = [len(bar) for _, bar, _ in bars]
        self.assertEqual(lengths, sorted(lengths, reverse=True))
        self.assertEqual(lengths[0], 48)
        self.assertIn(f"cannot run: {len(answer['kernels']) - len(bars)} kernels", said)
        both = self.run_mygemm(*PRODUCT, "--plot", "--json")
        self.assertIn("--json excludes --plot", both.stderr)

    def test_json(self):
        answer = json.loads(self.succeed(*PRODUCT, "--json"))
        self.assertEqual((answer["kernel"], answer["forced"]), ("bf16x6_streamk_128x128", False))
        self.assertGreater(answer["estimated_us"], 0)
        self.assertEqual(answer["workspace_bytes"], 8790016)
        self.assertRegex(answer["device"], r"\AH200, sm_90, .*; workspace 33554432 bytes\Z")
        self.assertIn("--transa N --transb N -m 4096", answer["call"])
        kernels = {kernel["name"]: kernel for kernel in answer["kernels"]}
        self.assertIn("for fast math alone", kernels["tf32x3_128x128"]["cannot_run"])
        self.assertEqual(kernels["streamk_128x64"]["figures"],
                         "efficiency 0.833, store_seconds 2e-11")
        self.assertEqual(set(kernels["naive"]), {"name", "estimated_us", "config", "figures"})
        triangle = json.loads(self.succeed("explain", "gemm", *PRODUCT[2:], "--transb", "T",
                                           "--fill", "lower", "--json"))
        self.assertIn("levels of rectangles", triangle["steps"])
        none = json.loads(self.succeed(*PRODUCT, "--json", "--force", "splitk_64x64"))
        self.assertIsNone(none["kernel"])
        self.assertIn("cannot run this call", none["reason"])


if __name__ == "__main__":
    cli_test.MYGEMM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
