"""Test of the records of tests: what they say of sources that are theirs, and of others.

Usage: records_test.py SOURCE_DIR [unittest options].
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = None  # set from the command line
SKIPPED = 77
RECORDS = {"gpu": "GPU layer", "emulator": "emulated ops tests",
           "architectures": "build for every architecture"}


class Records(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for folder in "tests", "src", "bindings/python":
            (self.root / folder).mkdir(parents=True)
        for program in ("tests/records.py", "tests/gpu_record.py", "tests/emulator_record.py",
                        "tests/architectures_record.py", "bindings/python/build_wheel.py"):
            shutil.copy(SOURCE / program, self.root / program)
        self.write("void f();")

    def write(self, code):
        (self.root / "src/kernel.cu").write_text(code)

    def run_record(self, program, *arguments):
        """(exit status, output)"""
        process = subprocess.run([sys.executable, "-B", self.root / f"tests/{program}_record.py",
                                  *arguments], check=False, text=True, capture_output=True)
        return process.returncode, process.stdout

    def sources(self, program):
        return subprocess.run(
            [sys.executable, "-B", "-c", f"import {program}_record as r; print(r.sources())"],
            cwd=self.root / "tests", check=True, text=True, capture_output=True).stdout.strip()

    def note(self, program, **more):
        """A record of the sources of now."""
        record = {"date": "today", "device": "a device", "sources": self.sources(program), **more}
        (self.root / f"tests/{program}-record.json").write_text(json.dumps(record))

    def test_no_record_is_a_skip(self):
        for program in RECORDS:
            status, said = self.run_record(program, "check")
            self.assertEqual((status, said[:20]), (SKIPPED, "skip: there is no re"))

    def test_a_record_is_of_its_sources_alone(self):
        for program, layer in RECORDS.items():
            self.note(program, capability="9.0")
            self.assertEqual(self.run_record(program, "check"),
                             (0, f"these sources passed the {layer} on a device, today\n"))
        self.write("void g();")
        for program in RECORDS:
            status, said = self.run_record(program, "check")
            self.assertEqual(status, SKIPPED)
            self.assertIn("is older than the sources", said)

    def test_the_gpus_capability_can_be_asked_for(self):
        self.note("gpu", capability="8.6")
        self.assertEqual(self.run_record("gpu", "check", "--capability", "8.6")[0], 0)
        self.assertEqual(self.run_record("gpu", "check", "--capability", "9.0")[0], SKIPPED)

    def test_the_part_follows_from_the_sources(self):
        self.assertEqual(self.run_record("emulator", "part"), (0, ""))
        parts = set()
        for code in range(9):
            self.write(f"int f{code}();")
            self.note("emulator")
            status, said = self.run_record("emulator", "part")
            self.assertEqual(status, 0)
            self.assertRegex(said, r"^\d+/\d+\n$")
            part, count = (int(number) for number in said.split("/"))
            self.assertLess(part, count)
            parts.add(part)
        self.assertGreater(len(parts), 1)


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
