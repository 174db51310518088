"""The wheel as its users get it: built for other machines, installed into an environment that has
nothing else, used from elsewhere.

Usage: check_wheel.py SOURCE_DIR TOOLS_PYTHON [unittest options]. TOOLS_PYTHON is the interpreter of
an environment with scikit-build-core and auditwheel, which `./dev test` makes, with NumPy's wheel
in its folder wheels; exits with 77 where it is not there. The library is built for the host and
little optimised: the time goes into compiling.
"""
import email
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = TOOLS = WHEELS = None  # set from the command line
SKIPPED = 77

PROGRAM = """
import mygemm, numpy as np
a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 4), np.float32)
assert np.array_equal(mygemm.sgemm(a, b), a @ b)
assert abs(mygemm.softmax(a).sum(axis=-1) - 1).max() < 1e-6
assert np.array_equal(mygemm.transpose(a), a.T)
try:
    mygemm.sgemm(b, b.T, out=b[:, :3])
except mygemm.Error as error:
    assert "C overlaps" in str(error)
    print(mygemm.__version__, mygemm.__file__)
"""


def tools_are_there():
    return TOOLS.exists() and any(WHEELS.glob("numpy-*.whl")) and subprocess.run(
        [TOOLS, "-c", "import scikit_build_core, auditwheel"], check=False,
        capture_output=True).returncode == 0


def run(*command, cwd):
    """Runs a command, fails with all its output, returns its stdout."""
    ours = ("MYGEMM_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")
    result = subprocess.run([str(word) for word in command], cwd=cwd, text=True, check=False,
                            capture_output=True,
                            env={k: v for k, v in os.environ.items() if k not in ours})
    if result.returncode != 0:
        raise AssertionError(f"{command} gave {result.returncode}\n{result.stdout}\n"
                             f"{result.stderr}")
    return result.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name).resolve()
        run(sys.executable, "-B", SOURCE / "bindings/python/build_wheel.py", TOOLS, cls.scratch,
            "host", "CMAKE_CXX_FLAGS_RELEASE=-O1", cwd=cls.scratch)
        cls.wheel, = cls.scratch.glob("*.whl")
        cls.version = re.search(r"project\(mygemm VERSION (\S+)",
                                (SOURCE / "CMakeLists.txt").read_text())[1]

    def test_name_says_what_it_runs_on(self):
        self.assertRegex(self.wheel.name,
                         rf"^mygemm-{re.escape(self.version)}-py3-none-manylinux_2_\d+_\w+\.whl$")

    def test_holds_the_package_and_one_library(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            files = [name for name in wheel.namelist()
                     if ".dist-info/" not in name and not name.endswith("/")]
            metadata = email.message_from_bytes(
                wheel.read(f"mygemm-{self.version}.dist-info/METADATA"))
        modules = {f"mygemm/{path.name}" for path in (SOURCE / "bindings/python/mygemm").iterdir()
                   if path.suffix in {".py", ".typed"}}
        gomp = {name for name in files if name.startswith("mygemm.libs/libgomp")}
        self.assertEqual(len(gomp), 1)
        self.assertEqual(set(files), modules | gomp | {"mygemm/libmygemm.so", "mygemm/LICENSE"})
        self.assertEqual(metadata.get_all("Requires-Dist"), ["numpy"])
        self.assertEqual(metadata["Requires-Python"], ">=3.9")
        self.assertEqual(metadata["License"], "Apache-2.0")
        self.assertIn("Environment :: GPU :: NVIDIA CUDA", metadata.get_all("Classifier"))
        self.assertIn("## What is refused", metadata.get_payload())

    def test_depends_on_the_c_library_alone(self):
        """Once more by auditwheel, which looks at every symbol; and by what the library names."""
        said = run(TOOLS, "-m", "auditwheel", "show", self.wheel, cwd=self.scratch)
        tag = re.search(r"-(manylinux_2_\d+_\w+?)\.whl$", self.wheel.name)[1]
        self.assertRegex(said, rf'platform tag:\s+"{tag}"')
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extract("mygemm/libmygemm.so", self.scratch)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "mygemm/libmygemm.so",
                                                        cwd=self.scratch))
        for name in needed:
            self.assertRegex(name, r"^(lib(c|m|dl|pthread)\.so\.\d|ld-linux-.*|libgomp-\w+\.so.*)$")

    def test_works_from_elsewhere(self):
        environment = self.scratch / "environment"
        run("/usr/bin/python3", "-m", "venv", environment, cwd=self.scratch)
        python = environment / "bin/python"
        run(python, "-m", "pip", "install", "--no-index", "--find-links", WHEELS, self.wheel,
            cwd=self.scratch)
        version, path = run(python, "-c", PROGRAM, cwd=self.scratch).split()
        self.assertEqual(version, self.version)
        self.assertTrue(pathlib.Path(path).is_relative_to(environment), path)


if __name__ == "__main__":
    SOURCE, TOOLS = (pathlib.Path(sys.argv.pop(1)) for _ in range(2))
    WHEELS = TOOLS.parent.parent / "wheels"
    if not tools_are_there():
        print(f"skip: {TOOLS} is not there, or has no scikit-build-core, auditwheel or wheel of "
              "NumPy; ./dev test makes it where PyPI can be reached")
        sys.exit(SKIPPED)
    unittest.main()
