"""Static test: what libmygemm.so exports, needs and is called, read from the binary with binutils.

Usage: symbols_test.py LIBRARY SOURCE_DIR [unittest options]. A new function of the ABI is added to
the header and to cmake/symbols.map; nothing else may leave the library.
"""
import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY = SOURCE = None  # set from the command line
NODE = "MYGEMM_0"
# What the library may ask of a machine: the C library and the OpenMP runtime, never a GPU's driver.
ALLOWED_NEEDED = {"libc.so.6", "libm.so.6", "libgomp.so.1", "libdl.so.2", "libpthread.so.0",
                  "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
ALLOWED_VERSIONS = re.compile(r"(GLIBC|GOMP|OMP)_[0-9.]+")


def output_of(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


class Symbols(unittest.TestCase):
    def setUp(self):
        self.map = (SOURCE / "cmake/symbols.map").read_text()
        self.mapped = set(re.findall(r"^\s+(mygemm_\w+);", self.map, re.M))

    def test_map_equals_header(self):
        header = (SOURCE / "include/mygemm/mygemm.h").read_text()
        declared = set(re.findall(r"^MYGEMM_API [^;(]*?(\w+)\(", header, re.M))
        self.assertGreater(len(declared), 20)
        self.assertEqual(self.mapped, declared)

    def test_every_enumerator_has_its_number_tested(self):
        header = (SOURCE / "include/mygemm/mygemm.h").read_text()
        numbers = set(re.findall(r"\b(MYGEMM_[A-Z0-9_]+) = (\d+)", header))
        tested = (SOURCE / "tests/static/header_test.c").read_text()
        self.assertEqual(set(re.findall(r"SAME\((MYGEMM_\w+), (\d+)\)", tested)), numbers)

    def test_map_has_one_node_and_hides_the_rest(self):
        self.assertEqual(re.findall(r"^(\w+) \{", self.map, re.M), [NODE])
        self.assertRegex(self.map, r"local:\s+\*;")

    def test_exports_equal_map(self):
        lines = output_of("nm", "-D", "--defined-only", LIBRARY).splitlines()
        exported = {tuple(line.split()[1:]) for line in lines}
        expected = {("T", f"{name}@@{NODE}") for name in self.mapped} | {("A", NODE)}
        self.assertEqual(exported, expected)

    def test_asks_only_for_the_c_and_openmp_libraries(self):
        for line in output_of("nm", "-D", "--undefined-only", LIBRARY).splitlines():
            kind, symbol = line.split()
            _, _, version = symbol.partition("@")
            self.assertTrue(kind == "w" or ALLOWED_VERSIONS.fullmatch(version.lstrip("@")), symbol)

    def test_dynamic_section(self):
        dynamic = output_of("readelf", "-dW", LIBRARY)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertLessEqual(needed, ALLOWED_NEEDED)
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), ["libmygemm.so.0"])
        self.assertNotRegex(dynamic, r"\((RPATH|RUNPATH|TEXTREL)\)")
        self.assertIn("NOW", dynamic)

    def test_stack_is_not_executable(self):
        segments = output_of("readelf", "-lW", LIBRARY)
        self.assertRegex(segments, r"GNU_STACK.* RW ")


if __name__ == "__main__":
    LIBRARY, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    unittest.main()
