"""Test of house_rules.py: one planted breach for each rule, and text that only looks like one.

Usage: house_rules_test.py [unittest options].
"""
import pathlib
import tempfile
import unittest

import house_rules


class HouseRules(unittest.TestCase):
    def check(self, path, text):
        """The sentences on a project that has this one file."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(text)
            return [(number, sentence) for _, number, sentence in
                    house_rules.breaches(pathlib.Path(folder))]

    def breaks(self, sentence, path, body):
        found = self.check(path, "// A file.\n" + body)
        self.assertEqual([number for number, _ in found], [2], found)
        self.assertIn(sentence, found[0][1])

    def keeps(self, path, body):
        self.assertEqual(self.check(path, "// A file.\n" + body), [])

    def test_includes_go_down_only(self):
        self.breaks("includes call.h, which is above it", "src/validate.cpp",
                    '#include "call.h"\n')
        self.breaks("includes plan/plan.h, which is above it", "src/ptx/shared.cuh",
                    '#include "plan/plan.h"\n')
        self.breaks("includes host/simd.h, which is above it", "src/kernels/gemm/naive.cu",
                    '#include "host/simd.h"\n')
        self.breaks("other.h has no place", "src/call.cpp", '#include "other.h"\n')
        self.assertIn("src/other.cpp has no place",
                      self.check("src/other.cpp", "// A file.\n")[0][1])
        self.keeps("src/api.cpp", '#include "call.h"\n#include "problem.h"\n')
        self.keeps("src/kernels/gemm/tiled.cu", '#include "kernels/kernel.h"\n')
        self.breaks("includes plan/plan.h, which is above it", "src/kernels/gemm/thin.h",
                    '#include "plan/plan.h"\n')
        self.breaks("includes kernels/gemm/table.cpp, which is above it", "src/kernels/gemm/thin.h",
                    '#include "kernels/gemm/table.cpp"\n')
        self.breaks("includes kernels/gemm/tma/tma.h, which is above it",
                    "src/kernels/gemm/persistent/work.cuh",
                    '#include "kernels/gemm/tma/tma.h"\n')
        self.keeps("src/plan/plan.h", '#include "kernels/kernel.h"\n')

    def test_kernels_do_not_include_one_another(self):
        self.breaks("includes kernels/gemm/tma/feed.cuh, which belongs to other kernels",
                    "src/kernels/gemm/tf32x3/feed.cuh", '#include "kernels/gemm/tma/feed.cuh"\n')
        self.breaks("includes kernels/gemm/tf32x3/tf32x3.h, which belongs to other kernels",
                    "src/kernels/gemm/tma/feed.cuh", '#include "kernels/gemm/tf32x3/tf32x3.h"\n')
        self.breaks("includes kernels/gemm/bf16x6/split.cuh, which belongs to other kernels",
                    "src/kernels/gemm/tf32x3/split.cuh",
                    '#include "kernels/gemm/bf16x6/split.cuh"\n')
        self.breaks("includes kernels/gemm/tf32x3/tf32x3.h, which is above it",
                    "src/kernels/gemm/tensor/tensor.h",
                    '#include "kernels/gemm/tf32x3/tf32x3.h"\n')
        self.keeps("src/kernels/gemm/bf16x6/method.cuh",
                   '#include "kernels/gemm/tensor/rows.cuh"\n')
        self.breaks("includes kernels/softmax/packs.cuh, which belongs to other kernels",
                    "src/kernels/transpose/vector.cu", '#include "kernels/softmax/packs.cuh"\n')
        for included in ["kernels/gemm/persistent/work.cuh", "kernels/gemm/tma/feed.cuh",
                         "kernels/gemm/config.h", "kernels/launch.h"]:
            self.keeps("src/kernels/gemm/tma/tma.cuh", f'#include "{included}"\n')

    def test_the_plan_knows_no_algorithm(self):
        for code in ['if (config.splits > 1) return;', 'if (name == "naive") return;',
                     'bool is_tma(const GemmKernel&);', 'config->cluster_blocks = 1;']:
            self.breaks("names an algorithm", "src/plan/plan.cpp", code + "\n")
            self.breaks("names an algorithm", "src/call.cpp", code + "\n")
            self.keeps("src/kernels/gemm/small.h", code + "\n")
        self.breaks("the plan knows no kernel", "src/plan/plan.h",
                    '#include "kernels/gemm/config.h"\n')
        self.keeps("src/plan/plan.cpp", "// Not even tma.\nif (config.seconds < least) return;\n")

    def test_comments_begin_with_their_subject(self):
        for comment in ["// What a block has.", "int x;  // Of a block, bytes.", "/* Whose? */",
                        "/** Of all. */", "x();  // What follows"]:
            found = self.check("src/validate.h", f"// A file.\n\n{comment}\n")
            self.assertEqual([number for number, _ in found], [3], comment)
            self.assertIn("a comment that begins with", found[0][1])
        for comment in ["// A block has\n// What it has.", "// Offset of a block.", "// Whatever.",
                        'f("// What");', "int x;  // of a block"]:
            self.keeps("src/validate.h", "\n" + comment + "\n")
        for path, text in [("a.py", '"""A file."""\n# What is it.\n'),
                           ("a.py", '"""A file."""\ndef f():\n    """Of what."""\n'),
                           ("a.f90", "! A file.\n\n! Whose it is.\n")]:
            found = list(house_rules.comment_beginnings(pathlib.Path(path), text))
            self.assertTrue(house_rules.RIDDLE.match(found[-1][1]), found)

    def test_cuda_headers(self):
        for path in "src/plan/plan.h", "src/validate.cpp", "src/host/simd.h":
            self.breaks("a CUDA header", path, "#include <cuda_runtime.h>\n")
        self.breaks("a CUDA header", "src/kernels/swizzle.h", "#include <cuda.h>\n")
        self.keeps("src/kernels/launch.h", "#include <cuda_runtime.h>\n")
        self.keeps("src/kernels/tensor_map.h", "#include <cuda.h>\n")

    def test_words_with_a_place_of_their_own(self):
        for what, path, body in [
                ('extern "C"', "src/call.cpp", 'extern "C" void f();\n'),
                ("a kernel launch", "src/call.cpp", "f<<<1, 1>>>();\n"),
                ("a kernel launch", "src/context.cpp", "cudaLaunchKernelExC(&c, f, a);\n"),
                ("asm", "src/kernels/gemm/tiled.cu", 'asm volatile("nop;");\n'),
                ("getenv", "src/context.cpp", 'std::getenv("HOME");\n'),
                ("throw", "src/validate.cpp", "throw 1;\n"),
                ("printing", "src/validate.cpp", 'printf("x");\n'),
                ("abort or exit", "src/validate.cpp", "std::abort();\n")]:
            self.breaks(what + " is only for", path, body)
        self.keeps("src/ptx/shared.cuh", 'asm volatile("nop;");\n')
        self.keeps("src/environment.cpp", 'std::getenv("HOME");\n')
        self.keeps("src/kernels/launch.h", "cudaLaunchKernelEx(&config, kernel);\n")

    def test_comments_and_strings_are_not_code(self):
        self.keeps("src/validate.cpp", '// never getenv or throw\n/* asm\n asm */\n'
                                       'f("do not throw // asm");\n')
        self.breaks("throw", "src/validate.cpp", 'f("// no comment"); throw 1;\n')

    def test_macros(self):
        self.breaks("a macro, MAX", "src/status.h", "#define MAX(a, b) a\n")
        self.breaks("a macro, WGMMA_64", "src/ptx/math.cuh", "#define WGMMA_64(a) a\n")
        self.keeps("src/ptx/wgmma.cuh", "#define WGMMA_64(a) a\n")
        self.keeps("src/status.h", "#define CUDA_TRY(call) call\n")
        self.keeps("tests/abi/rules.h", "#define MAX(a, b) a\n")

    def test_shape_of_files(self):
        self.breaks("101 columns", "bench/a.cpp", "x" * 101 + "\n")
        self.breaks("a tab", "bench/a.cpp", "\tx\n")
        self.breaks("blanks at the end", "bench/a.cpp", "x \n")
        self.breaks("unfinished work", "bench/a.cpp", "// " + "TO" + "DO: more\n")
        self.assertEqual(self.check("tests/a.py", '"""A file."""\n' + "x\n" * 400),
                         [(401, "401 lines; at most 400")])
        self.assertEqual(self.check("tests/a.f90", "! A file.\n" + "x" * 101 + "\n"),
                         [(2, "101 columns; at most 100")])
        for start in "int x;\n", "#include <a>\n", "#pragma once\n":
            self.assertIn("does not begin with a comment", self.check("src/call.h", start)[0][1])


if __name__ == "__main__":
    unittest.main()
