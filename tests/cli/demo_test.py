"""mygemm demo: the similarity of paragraphs of text.

Usage: demo_test.py MYGEMM [unittest options]. Needs NumPy.
"""
import os
import subprocess
import sys
import unittest

import numpy as np

import cli_test


class Demo(cli_test.CommandTest):
    TEXT = ("The quick brown fox jumps over the lazy dog near the river bank today.\n\n"
            "Matrix products, softmax and transposes run\non graphics processors at high rates.\n"
            "\n# A heading\n\n"
            "The quick red fox leaps over the sleepy dog near the river bank today.\n\n"
            "```\nint main() { return this code is not a paragraph of real text at all; }\n```\n"
            "<!-- a: begin -->\nwhat some script has written into this file\n<!-- a: end -->\n")

    def test_the_project_s_documents(self):
        text = self.succeed("demo", MYGEMM_BACKEND="host")
        for operation in "transpose", "sgemm", "softmax":
            self.assertRegex(text, r"(?m)^%s .* [mu]s .*host_\w+ +(none|at most .*)$" % operation)
        self.assertRegex(text, r"\A\d+ paragraphs in \d+ files; \d+ terms; on the host\n")
        self.assertIn(".md:", text)

    def test_given_files(self):
        (self.folder / "a.txt").write_text(self.TEXT)
        text = self.succeed("demo", "a.txt", "--pairs", 1)
        self.assertTrue(text.startswith("3 paragraphs in 1 file; "), text)
        # The two foxes are the closest pair, each nearly all of the other's softmax.
        self.assertRegex(text, r"a.txt:1 +(?:99|100)\.\d %  The quick brown fox .*\n"
                               r" +a.txt:8 +(?:99|100)\.\d %  The quick red fox ")
        self.assertNotIn("Matrix products", text)

    def test_long_files(self):
        words = np.array(["word%d" % i for i in range(3000)])
        picks = self.random.zipf(1.3, (1500, 40)) % len(words)
        (self.folder / "long.txt").write_text("\n\n".join(" ".join(words[p]) for p in picks))
        for temperature in 0.001, 1000:
            self.succeed("demo", "long.txt", "--temperature", temperature)
        text = self.succeed("demo", "long.txt", "--max-paragraphs", 1000, "--max-terms", 500)
        self.assertIn("1500 paragraphs in 1 file, of which the first 1000 (--max-paragraphs); "
                      "500 terms", text)

    def test_text_in_other_scripts(self):
        (self.folder / "a.txt").write_text("число матрица вектор строка столбец один два три\n\n"
                                           * 3, encoding="utf-8")
        self.assertIn("1.000\n", self.succeed("demo", "a.txt"))

    def test_latin_1_is_shown_as_what_it_means(self):
        for encoding in "latin-1", "utf-8":
            (self.folder / "a.txt").write_text("Über\x85die Brücke ging früher ein König mit "
                                               "Gefährten nach Köln\n\n" * 2, encoding=encoding)
            text = self.succeed("demo", "a.txt")
            self.assertIn("%  Über die Brücke ging früher ein König mit Gefährten ", text)
            self.assertNotIn("\x85", text)
            self.assertIn("; 11 terms; ", text)

    def test_letters_of_han_and_kana_are_words(self):
        (self.folder / "a.txt").write_text("矩阵的乘积是线性代数的基础。\n\n" * 2 +
                                           "行列の積は、線形代数の基本です。\n", encoding="utf-8")
        text = self.succeed("demo", "a.txt")
        self.assertTrue(text.startswith("3 paragraphs in 1 file; 22 terms; "), text)
        self.assertIn("矩阵的乘积是线性代数的基础。\n", text)

    def test_standard_input(self):
        result = subprocess.run([cli_test.MYGEMM, "demo", "-", "--pairs", "1"], input=self.TEXT,
                                text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("standard input:1 ", result.stdout)

    def test_refuses_what_it_cannot_compare(self):
        (self.folder / "empty.txt").write_text("")
        (self.folder / "one.txt").write_text(self.TEXT.split("\n\n", 1)[0])
        (self.folder / "binary").write_bytes(b"\0\1\2")
        self.fail_with("none.txt: cannot be opened: No such file", "demo", "none.txt")
        self.fail_with("found 0 paragraphs of 8 words or more in empty.txt", "demo", "empty.txt")
        self.fail_with("1 paragraph of 8 words or more in 2 files", "demo", "one.txt", "empty.txt")
        self.fail_with("binary: is not text", "demo", "binary")
        self.fail_with(".: cannot be read: Is a directory", "demo", ".")


if __name__ == "__main__":
    cli_test.MYGEMM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
