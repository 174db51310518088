"""Tables of speed, bench/tables.py: README.md, docs/performance.md, docs/scale-out.md and
docs/invariance.md have what the committed runs say, and a document that says anything else is
refused.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from scripts import BENCH, script

sys.path.insert(0, str(BENCH))
import blocks
import kernel_tables  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402

ROOT = BENCH.parent
DOCUMENTS = ["README.md", "docs/performance.md", "docs/scale-out.md", "docs/invariance.md"]


class Copied(unittest.TestCase):
    """Documents and runs in a folder of their own, to be changed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "docs").mkdir()
        for document in DOCUMENTS:
            shutil.copy(ROOT / document, self.folder / document)
        shutil.copytree(BENCH / "results", self.folder / "results")

    def tables(self, job, expect=0):
        return script("tables.py", job, "--documents", self.folder, "--results",
                      self.folder / "results", expect=expect)

    def text_of(self, document):
        return (self.folder / document).read_text()

    def test_changed_figure_in_a_document(self):
        for document in DOCUMENTS:
            path = self.folder / document
            text = path.read_text()
            changed = re.sub(r"\d( \|\n\n)", r"x\1", text, count=1)  # the end of a table
            self.assertNotEqual(changed, text, document)
            path.write_text(changed)
            self.assertIn(document, self.tables("--check", expect=1))
            self.tables("--write")
            self.assertEqual(path.read_text(), text)
            self.tables("--check")

    def test_changed_run(self):
        for name in tables.load_all(self.folder / "results"):
            path = self.folder / "results" / tables.FILES[name]
            text = path.read_text()
            run = json.loads(text)
            run["commit"] = "0000000"
            path.write_text(json.dumps(run))
            self.assertIn("use --write", self.tables("--check", expect=1), name)
            path.write_text(text)
        self.tables("--check")

    def test_products_by_data(self):
        """The table of a run that was not measured."""
        run = {"date": "2026-11-30", "commit": "1234567", "results": [],
               "machine": {"name": "some GPU", "driver": ""}}
        for size, factor in [(1024, 1), (2048, 8)]:
            for data, ours, theirs in [(None, 2, 3), ("sparse", 1, 2.4), ("one_nan", 5, 3)]:
                shape = {"m": size, "n": size, "k": size, "transa": "N", "transb": "N",
                         "form": "single", "batch": 1, **({"data": data} if data else {})}
                run["results"].append({
                    "operation": "sgemm", "shape": shape, "kernel": "some_kernel",
                    "ms": {"median": ours * factor}, "peers": [
                        {"name": "cublas", "ms": {"median": theirs * factor},
                         "ratio": theirs / ours}]})
        (self.folder / "results" / tables.FILES["data"]).write_text(json.dumps(run))
        self.tables("--write")
        self.tables("--check")
        path = self.folder / "docs/performance.md"
        inside = blocks.split(path, path.read_text(), "bench/tables.py data")[1]
        for line in ["1024³ NN:",
                     "| `uniform_signed` | some_kernel | 2000 | 1.00 | 3000 | 1.00 | 1.50 |",
                     "| `sparse` | some_kernel | 1000 | 0.50 | 2400 | 0.80 | 2.40 |", "2048³ NN:",
                     "| `one_nan` | some_kernel | 40000 | 2.50 | 24000 | 1.00 | 0.60 |"]:
            self.assertIn(line + "\n", inside)

    def test_several_gpus(self):
        """The table of a run that was not measured, and of programs that failed."""
        results = []
        for case, gpus, work, ours, theirs in [("whole", 1, 8, 80, 160), ("columns", 2, 8, 40, 100),
                                               ("weak", 2, 16, 80, 200), ("lost", 2, 8, 1, 1)]:
            results.append({
                "operation": "scale_out", "label": f"product, {case}", "unit": "TFLOP/s",
                "shape": {"case": case, "base": "whole", "gpus": gpus, "work": work},
                "rate": 1e3 * work / ours, "ms": {"median": ours}, "peers": [
                    {"name": "cublas", "ms": {"median": theirs}, "rate": 1e3 * work / theirs,
                     "ratio": theirs / ours}]})
        results[-1]["failure"] = "no result"
        run = {"date": "2026-11-30", "commit": "1234567", "results": results, "jax": "1.2",
               "machine": {"name": "some GPU", "driver": "", "gpus": 2},
               "failures": [{"engine": "jax", "side": "mygemm", "failure": "was ended"}]}
        (self.folder / "results" / tables.FILES["scale_out"]).write_text(json.dumps(run))
        self.tables("--write")
        self.tables("--check")
        inside = self.text_of("docs/scale-out.md")
        for line in ["| product, whole | 1 | 160 | 80.0 | 2.00 |  |  |",
                     "| product, columns | 2 | 100 | 40.0 | 2.50 | 1.60 | 2.00 |",
                     "| product, weak | 2 | 200 | 80.0 | 2.50 | 1.60 | 2.00 |",
                     "2 × some GPU, 2026-11-30, commit 1234567, JAX 1.2; bench/results/",
                     "Not measured: product, lost on 2 GPUs: no result; jax, mygemm: was ended."]:
            self.assertIn(line, inside)

    def test_text_around_the_blocks_stays(self):
        path = self.folder / "docs/performance.md"
        text = path.read_text()
        begin, end = (at("bench/tables.py hot") for at in (blocks.begin, blocks.end))
        path.write_text(f"before\n{text}".replace(begin, f"{begin}old\n") + "after\n")
        self.tables("--write")
        self.assertEqual(path.read_text(), f"before\n{text}after\n")
        path.write_text(text.replace(end, ""))
        self.assertIn("bench/tables.py hot", self.tables("--check", expect=1))


class Committed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = {document: (ROOT / document).read_text() for document in DOCUMENTS}
        cls.runs = tables.load_all(BENCH / "results")

    def test_documents(self):
        script("tables.py", "--check")

    def test_tables_of_kernels(self):
        script("kernel_tables.py", "--check")
        run = json.loads((BENCH / "results" / tables.FILES["softmax"]).read_text())
        shapes = {r["label"] for r in run["results"] if runs.peer(r, "copy") and
                  kernel_tables.moved(r) >= kernel_tables.LEAST_BYTES}
        text = (ROOT / "docs/kernels/softmax.md").read_text()
        inside = blocks.split("softmax.md", text, "bench/kernel_tables.py")[1]
        counts = re.findall(r"(?m)^\| \w+ \| [^|]+ \| (\d+) \|", inside)
        self.assertEqual(sum(map(int, counts)), len(shapes))

    def test_every_block_is_written(self):
        for document, contents in tables.documents(self.runs).items():
            blocks_there = re.findall(r"<!-- (bench/tables.py .*): begin -->", self.texts[document])
            self.assertEqual(blocks_there, list(contents), document)

    def test_every_shape_has_a_line(self):
        for name in ("default", "strict", "softmax", "transpose"):
            path = "docs/performance.md"
            inside = blocks.split(path, self.texts[path], f"bench/tables.py {name}")[1]
            self.assertEqual(len(re.findall(r"(?m)^\| \d", inside)),
                             len({r["label"] for r in self.runs[name]["results"]}), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
