"""mygemm explain gemm and gemm_grouped: products with an epilogue, and those of different sizes, in
the words of the call log.

Usage: explain_gemm_test.py MYGEMM [unittest options].
"""
import os
import sys
import unittest

import cli_test

PRODUCT = "gemm --transa N --transb T -m 4 -n 5 -k 6 --lda 4 --ldb 5 --ldc 7 --ldd 8 "


class ExplainGemm(cli_test.CommandTest):
    def test_lines_of_the_call_log(self):
        for options in (
                "--batch 1 --stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form single "
                "--bias 1 --stride-bias 0 --activation gelu --c-is-d 0 --reads-c 1",
                "--batch 2 --stride-a 0 --stride-b 9 --stride-c 40 --stride-d 50 --form strided "
                "--bias 1 --stride-bias 4 --activation none --c-is-d 0 --reads-c 0",
                "--batch 2 --stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form pointers "
                "--bias 0 --stride-bias 0 --activation relu --c-is-d 0 --reads-c 1"):
            for device in "H200", "host":
                call = PRODUCT + options
                text = self.succeed("explain", *call.split(), "--device", device)
                self.assertRegex(text, r"\Achosen: \w+ \(")
                self.assertIn(f"call: {call}\n", text)

    def test_element_types(self):
        call = (PRODUCT + "--batch 1 --stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 --form "
                "single --bias 1 --stride-bias 0 --activation gelu --c-is-d 0 --reads-c 1 "
                "--atype bf16 --dtype f16")
        for device in "H200", "host":
            text = self.succeed("explain", *call.split(), "--device", device)
            self.assertIn(f"call: {call}\n", text)
            self.assertIn("cannot run: takes FP32 operands", text)
        self.fail_with("D of a product with an FP32 operand is FP32", "explain", "gemm", "-m", 4,
                       "-n", 4, "-k", 4, "--dtype", "f16", "--device", "T4")

    def test_mixed_element_types(self):
        product = (PRODUCT + "--batch 1 --stride-a 0 --stride-b 0 --stride-c 0 --stride-d 0 "
                   "--form single --bias 0 --stride-bias 0 --activation none --c-is-d 1 "
                   "--reads-c 0 --atype ").replace("--ldc 7", "--ldc 8")
        for types in "f32 --btype bf16 --dtype f32", "bf16 --btype f32 --dtype f32":
            for device in "H200", "host":
                text = self.succeed("explain", *(product + types).split(), "--device", device)
                self.assertIn(f"call: {product}{types}\n", text)
                self.assertIn("cannot run: takes FP32 operands", text)
        self.fail_with("A and B have one element type, or are FP32 and BF16", "explain", "gemm",
                       "-m", 4, "-n", 4, "-k", 4, "--btype", "f16", "--device", "T4")

    def test_defaults(self):
        text = self.succeed("explain", "gemm", "-m", 4, "-n", 5, "-k", 6, "--bias", 1, "--batch", 3,
                            "--device", "T4")
        self.assertIn("--lda 4 --ldb 6 --ldc 4 --ldd 4 --batch 3 --stride-a 0 --stride-b 0 "
                      "--stride-c 20 --stride-d 20 --form strided --bias 1", text)

    def test_invariance(self):
        for call in "sgemm -m 64 -n 8 -k 1024", "gemm -m 64 -n 8 -k 1024 --bias 1":
            text = self.succeed("explain", *call.split(), "--invariance", "batch", "--device",
                                "H200")
            self.assertRegex(text, r"\Achosen: bf16x6_\w+ \(")
            self.assertRegex(text, r"(?m)^call: .* --invariance batch$")
            self.assertIn("cannot run: batch-invariant products of this k sum in another order: "
                          "six BF16 products\n", text)

    def test_triangles(self):
        text = self.succeed("explain", "gemm", "-m", 4096, "-n", 4096, "-k", 4096, "--transb", "T",
                            "--fill", "lower", "--device", "H200")
        self.assertRegex(text, r"\Achosen: bf16x6_\w+ \(")
        self.assertIn("--reads-c 0 --fill lower\n", text)
        self.assertRegex(text, r"\nsteps: this product first, of 2048 x 2048 x 4096; \d+ levels")
        text = self.succeed("explain", "gemm", "-m", 64, "-n", 64, "-k", 64, "--transb", "T",
                            "--fill", "upper", "--device", "H200")
        self.assertIn("computes all of D, not a triangle", text)

    def test_refusals_are_the_library_s(self):
        self.fail_with("ldd = 3", "explain", "gemm", "-m", 4, "-n", 1, "-k", 1, "--ldd", 3,
                       "--device", "T4")


class ExplainGrouped(cli_test.CommandTest):
    STACKED = ("gemm_grouped --transa T --transb N -m 64 -n 500 -k 96 --lda 96 --ldb 96 --ldc 64 "
               "--ldd 64 --batch 8 --stride-a 6144 --stride-b 0 --stride-c 0 --stride-d 0 --form "
               "strided --bias 0 --stride-bias 0 --activation none --c-is-d 1 --reads-c 0 --atype "
               "bf16 --dtype bf16 --sizes-of n --total 500 --sizes-on ")
    OWN = ("gemm_grouped --transa N --transb N -m 4 -n 5 -k 6 --lda 4 --ldb 6 --ldc 4 --batch 3 "
           "--stride-a 24 --stride-b 30 --stride-c 20 --form strided --sizes-of m,k --sizes-on ")

    def test_lines_of_the_call_log(self):
        for call in self.STACKED, self.OWN:
            for device, sizes_on in ("H200", "device"), ("H200", "host"), ("host", "host"):
                text = self.succeed("explain", *(call + sizes_on).split(), "--device", device)
                self.assertRegex(text, r"\Achosen: \w+ \(")
                self.assertIn(f"call: {call}{sizes_on}\n", text)
                self.assertEqual("cannot run: sizes are known on the device only" in text,
                                 sizes_on == "device")

    def test_defaults(self):
        text = self.succeed("explain", "gemm_grouped", "-m", 4, "-n", 5, "-k", 6, "--batch", 3,
                            "--sizes-of", "n", "--total", 9, "--device", "T4")
        self.assertIn("--lda 4 --ldb 6 --ldc 4 --batch 3 --stride-a 0 --stride-b 0 --stride-c 0 "
                      "--form strided --sizes-of n --total 9 --sizes-on device\n", text)

    def test_forced_kernel(self):
        call = (self.STACKED + "device").split()
        self.assertRegex(self.succeed("explain", *call, "--device", "H200", "--force",
                                      "grouped_naive"), r"\Achosen: grouped_naive .*forced")
        self.fail_with("MYGEMM_FORCE_GROUPED = abacus is not the name of a kernel", "explain",
                       *call, "--device", "H200", "--force", "abacus")

    def test_refusals_are_the_library_s(self):
        product = ("explain", "gemm_grouped", "-m", 4, "-n", 5, "-k", 6, "--device", "T4")
        self.fail_with("not exactly one of m, n and k of groups is an array", *product, "--total",
                       9)
        self.fail_with("grouped products have no aux", *product, "--activation", "gelu-gradient")


if __name__ == "__main__":
    cli_test.MYGEMM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
