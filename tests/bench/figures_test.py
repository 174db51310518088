"""Figures within sentences, bench/figures.py: every measured figure of README.md and docs is held
to a run, and one that is not is found.
"""

import pathlib
import re
import sys
import tempfile
import unittest

from scripts import BENCH, script

sys.path.insert(0, str(BENCH))
import figures  # noqa: E402

RUNS = {"speeds": {"results": [
    {"label": label, "kernel": kernel, "rate": 1000 / ms, "ms": {"median": ms}, "peers": [
        {"name": "copy", "ratio": ratio, "ms": {"median": ms * ratio}}]}
    for label, kernel, ms, ratio in [("8 x 8", "wide", 0.5, 0.5), ("8 x 9", "wide", 0.125, 0.75),
                                     ("9 x 9", "tall", 0.25, 1.25)]] +
    [{"label": "10 x 10", "failure": "none"}]},
    "builds": {"builds": [{"command": "make", "seconds": 61.4}]}}


class Committed(unittest.TestCase):
    def test_every_figure_is_held(self):
        self.assertEqual(script("figures.py", "--check"), "")

    def test_marks_are_there(self):
        """A check of nothing would pass too."""
        marks = [mark for path in figures.documents(figures.ROOT)
                 for mark in figures.MARK.findall(path.read_text())]
        self.assertGreater(len(marks), 20)

    def test_every_exception_is_needed(self):
        texts = [(path.relative_to(figures.ROOT).as_posix(),
                  figures.without_marks(path.read_text()))
                 for path in figures.documents(figures.ROOT)]
        for documents, pattern, reason in figures.ALLOWED:
            self.assertTrue(any(re.fullmatch(documents, name) and re.search(pattern, line)
                                for name, text in texts for line in text.splitlines()), reason)

    def test_a_figure_planted_in_any_document_is_found(self):
        for path in figures.documents(figures.ROOT):
            name = path.relative_to(figures.ROOT).as_posix()
            text = path.read_text() + "\nThis kernel takes 12 µs.\n"
            self.assertEqual(figures.unmarked(name, text),
                             [(text.count("\n"), "12 µs")], name)


class Planted(unittest.TestCase):
    def breaches(self, text, name="docs/a.md"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / "README.md").touch()
            path.write_text(text)
            return list(figures.breaches(pathlib.Path(folder), RUNS))

    def test_unmarked(self):
        for sentence in ["It takes 12 µs.", "It has 0.97 of a copy.", "It is 3 times as fast.",
                         "from 52 to 87 TFLOP/s", "4000 GB/s", "7 % less time", "in 20 minutes",
                         "1.5 ms", "at 2 GHz", "2310 clocks", "2 points ahead", "9 to 11 µs",
                         "9 to 11<!-- speeds; µs; 8 x 8 --> µs", "3 times cuBLAS's speed",
                         "It is half as fast.", "at a third of the FP32 kernels' speed",
                         "| problem | TFLOP/s |\n| --- | --- |\n| a | 100 |",
                         "| a | speed over a copy |\n| --- | --- |\n| a | 1 |"]:
            found = [one for one in self.breaches(sentence + "\n") if "no mark" in one]
            self.assertEqual(len(found), 1, sentence)
        self.assertEqual(self.breaches("one\n\nIt takes 12 µs.\n"), [
            "docs/a.md:3: '12 µs' is measured, and no mark says by which run"])

    def test_what_nobody_measures(self):
        for sentence in ["128 × 192 tiles, 4 stages of 16 KB", "from k = 256 on", "CUDA 13.0",
                         "compute capability 9.0", "| naive | 7.5 on | 32 × 8 |", "at most 2⁻²³",
                         "off by 2.5 · 2^-24", "64 times as tall as wide", "1 times x is x",
                         "`0.5 ms` of code", "    indented 3 ms", "```\n12 µs\n```",
                         "[7](b.md#at-0.5)", "sm_90", "version 0.1", "4 GiB",
                         "<!-- bench/tables.py: begin -->\n12 µs\n<!-- bench/tables.py: end -->"]:
            self.assertEqual(self.breaches(sentence + "\n"), [], sentence)

    def test_blocks_that_nothing_writes(self):
        self.assertEqual(self.breaches("<!-- a: begin -->\n12 µs\n<!-- a: end -->\n"),
                         ["docs/a.md: no script writes the block a"])

    def test_marks(self):
        for figure, mark in [("500", "speeds; µs; 8 x 8"), ("250", "speeds; copy's µs; 8 x 8"),
                             ("2000", "speeds; rate; 8 x 8"),
                             ("0.50", "speeds; speed over copy; 8 x 8"),
                             ("0.50", "speeds; least speed over copy; *"),
                             ("1.25", "speeds; most speed over copy; *"),
                             ("0.61", "speeds; mean speed over copy; 8 *"),
                             ("0.75", "speeds; most speed over copy; * [wide]"),
                             ("1.25", "speeds; speed over copy; * [t*]"),
                             ("2.00", "speeds; µs, over 9 x 9; 8 x 8"),
                             ("61", "builds; seconds; make")]:
            text = "{}<!-- " + mark + " --> of something\n"
            self.assertEqual(self.breaches(text.format(figure)), [], mark)
            self.assertRegex(self.breaches(text.format("7"))[0], f"7 of .* is {figure} in", mark)
            self.assertEqual(figures.renewed(text.format("7"), RUNS), text.format(figure))

    def test_marks_that_mean_nothing(self):
        for mark, said in [("fast; µs; 8 x 8", "no run is named 'fast'"),
                           ("speeds; µs; 7 x 7", "no result is named '7 x 7'"),
                           ("speeds; µs; 10 x 10", "no result is named '10 x 10'"),
                           ("speeds; µs; 8 *", "2 figures are 'µs' of '8 *'"),
                           ("speeds; weight; 8 x 8", "no figure is named 'weight'"),
                           ("speeds; speed over PyTorch; 8 x 8", "0 figures are"),
                           ("builds; seconds; all", "no build is named 'all'"),
                           ("speeds; µs", "follows no figure, or is no mark")]:
            self.assertIn(said, self.breaches(f"7<!-- {mark} -->\n")[0])
        self.assertIn("follows no figure", self.breaches("some<!-- speeds; µs; 8 x 8 -->\n")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
