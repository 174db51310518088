"""Static test: what a library exports, needs and is called, read from the binary with binutils.

Usage: symbols_test.py LIBRARY SOURCE_DIR [MAP] [unittest options]. MAP is the library's version
script in SOURCE_DIR; nothing that is not in it may leave the library. Without one it is that of
libmygemm.so, cmake/symbols.map, to which a new function of the ABI is added as to the header. A
drop-in library's map has a node without a name, so that its symbols have no versions: a symbol with
one would not take the place of another library's.
"""
import pathlib
import re
import subprocess
import sys
import unittest

from abi_headers import abi_headers

LIBRARY = SOURCE = MAP = None  # set from the command line
NODE = "MYGEMM_0"
OWN_MAP = "cmake/symbols.map"
OURS = "libmygemm.so.0"
# The libraries that it may need: the C library and the OpenMP runtime, never a GPU's driver.
ALLOWED_NEEDED = {"libc.so.6", "libm.so.6", "libgomp.so.1", "libdl.so.2", "libpthread.so.0",
                  "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
ALLOWED_VERSIONS = re.compile(r"(GLIBC|GOMP|OMP)_[0-9.]+")


def output_of(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def read_map():
    """The text of the map and the names in it."""
    text = (SOURCE / MAP).read_text()
    return text, set(re.findall(r"^\s+(\w+);", text, re.M))


class Header(unittest.TestCase):
    def setUp(self):
        if MAP != OWN_MAP:
            self.skipTest("a drop-in library has the header of what it stands in for")

    def test_map_equals_header(self):
        header = abi_headers(SOURCE)
        declared = set(re.findall(r"^MYGEMM_API [^;(]*?(\w+)\(", header, re.M))
        self.assertGreater(len(declared), 20)
        self.assertEqual(read_map()[1], declared)

    def test_every_enumerator_has_its_number_tested(self):
        header = abi_headers(SOURCE)
        numbers = set(re.findall(r"\b(MYGEMM_[A-Z0-9_]+) = (\d+)", header))
        tested = (SOURCE / "tests/static/header_test.c").read_text()
        self.assertEqual(set(re.findall(r"SAME\((MYGEMM_\w+), (\d+)\)", tested)), numbers)


class Binary(unittest.TestCase):
    def setUp(self):
        self.map, self.mapped = read_map()
        self.drop_in = MAP != OWN_MAP

    def test_map_has_one_node_and_hides_the_rest(self):
        nodes = re.findall(r"^(\w+ )?\{", self.map, re.M)
        self.assertEqual(nodes, [""] if self.drop_in else [NODE + " "])
        self.assertRegex(self.map, r"local:\s+\*;")

    def test_exports_equal_map(self):
        lines = output_of("nm", "-D", "--defined-only", LIBRARY).splitlines()
        exported = {tuple(line.split()[1:]) for line in lines}
        if self.drop_in:
            expected = {("T", name) for name in self.mapped}
        else:
            expected = {("T", f"{name}@@{NODE}") for name in self.mapped} | {("A", NODE)}
        self.assertEqual(exported, expected)

    def test_asks_only_for_the_c_and_openmp_libraries(self):
        for line in output_of("nm", "-D", "--undefined-only", LIBRARY).splitlines():
            kind, symbol = line.split()
            _, _, version = symbol.partition("@")
            known = ALLOWED_VERSIONS.fullmatch(version.lstrip("@"))
            ours = self.drop_in and symbol.endswith(f"@{NODE}")
            self.assertTrue(kind == "w" or known or ours, symbol)

    def test_dynamic_section(self):
        dynamic = output_of("readelf", "-dW", LIBRARY)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertLessEqual(needed, ALLOWED_NEEDED | ({OURS} if self.drop_in else set()))
        name = pathlib.Path(LIBRARY).name.partition(".so")[0]
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), [f"{name}.so.0"])
        self.assertNotRegex(dynamic, r"\((RPATH|TEXTREL)\)")
        # A drop-in library finds ours beside itself.
        self.assertEqual(re.findall(r"\(RUNPATH\).*\[(.*)\]", dynamic),
                         ["$ORIGIN"] if self.drop_in else [])
        self.assertIn("NOW", dynamic)

    def test_stack_is_not_executable(self):
        segments = output_of("readelf", "-lW", LIBRARY)
        self.assertRegex(segments, r"GNU_STACK.* RW ")


if __name__ == "__main__":
    LIBRARY, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
    MAP = sys.argv.pop(1) if sys.argv[1:] and sys.argv[1].endswith(".map") else OWN_MAP
    unittest.main()
