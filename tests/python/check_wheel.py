"""The wheel as its users get it: built for other machines, installed into an environment that has
nothing else, used from elsewhere.

Usage: check_wheel.py SOURCE_DIR TOOLS_PYTHON LIBRARY [unittest options]. TOOLS_PYTHON is the
interpreter of an environment with scikit-build-core and auditwheel, which `./dev test` makes, with
NumPy's wheel in its folder wheels; exits with 77 where it is not there. The library of the wheel is
built for the host and little optimised: the time goes into compiling. LIBRARY is that of this
build; where it has kernels, it takes the other's place in a second wheel, as `./dev wheel cuda`
makes it with kernels for more GPUs.
"""
import base64
import email
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = TOOLS = LIBRARY = WHEELS = None  # set from the command line
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


@functools.cache
def host_wheel():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    run(sys.executable, "-B", SOURCE / "bindings/python/build_wheel.py", TOOLS, folder.name,
        "host", "CMAKE_CXX_FLAGS_RELEASE=-O1", cwd=folder.name)
    return next(pathlib.Path(folder.name).resolve().glob("*.whl"))


def with_library(wheel, library, folder):
    """A wheel with another library in place of its own, named as build_wheel.py names that of CUDA,
    and as if auditwheel had not seen it."""
    name, version = wheel.name.split("-")[:2]
    changed = folder / f"{name}-{version}-1cuda-py3-none-linux_x86_64.whl"
    info, record = f"{name}-{version}.dist-info", []
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.is_dir() or "mygemm.libs/" in entry.filename or entry.filename.endswith(
                    "RECORD"):
                continue
            if entry.filename == "mygemm/libmygemm.so":
                data = library.read_bytes()
            if entry.filename == f"{info}/WHEEL":
                data = re.sub(rb"Tag: .*\s*", b"", data).rstrip() + \
                    b"\nBuild: 1cuda\nTag: py3-none-linux_x86_64\n"
            new.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{entry.filename},sha256={digest},{len(data)}\n")
        new.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return changed


class Wheel(unittest.TestCase):
    build_tag = ""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name).resolve()
        cls.wheel = host_wheel()
        cls.version = re.search(r"project\(mygemm VERSION (\S+)",
                                (SOURCE / "CMakeLists.txt").read_text())[1]

    def test_name_says_what_it_runs_on(self):
        self.assertRegex(self.wheel.name,
                         rf"^mygemm-{re.escape(self.version)}{self.build_tag}-py3-none-"
                         r"manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            said = wheel.read(f"mygemm-{self.version}.dist-info/WHEEL").decode()
        tag = "-".join(self.wheel.stem.split("-")[-3:])
        self.assertEqual(re.findall(r"(?m)^Tag: (.*?)\s*$", said), [tag])

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


class CudaWheel(Wheel):
    """The same, with kernels: nothing of CUDA is needed but the driver, and that only on a GPU."""
    build_tag = "-1cuda"

    @classmethod
    def setUpClass(cls):
        if b"libcuda.so.1" not in LIBRARY.read_bytes():
            raise unittest.SkipTest(f"{LIBRARY} has no kernels")
        super().setUpClass()
        sys.path.insert(0, str(SOURCE / "bindings/python"))
        import build_wheel
        stripped = cls.scratch / "libmygemm.so"
        run("strip", "-o", stripped, LIBRARY, cwd=cls.scratch)
        changed = with_library(cls.wheel, stripped, cls.scratch)
        build_wheel.repair(TOOLS, changed, cls.scratch / "cuda")
        cls.wheel, = (cls.scratch / "cuda").glob("*.whl")

    def test_has_the_kernels_of_this_build(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extract("mygemm/libmygemm.so", self.scratch)
        kernels = []
        for library in self.scratch / "mygemm/libmygemm.so", LIBRARY:
            run("objcopy", "--dump-section", f".nv_fatbin={self.scratch}/kernels", library,
                "/dev/null", cwd=self.scratch)
            kernels.append((self.scratch / "kernels").read_bytes())
        self.assertGreater(len(kernels[0]), 1 << 20)
        self.assertTrue(kernels[0] == kernels[1])


if __name__ == "__main__":
    SOURCE, TOOLS, LIBRARY = (pathlib.Path(sys.argv.pop(1)) for _ in range(3))
    WHEELS = TOOLS.parent.parent / "wheels"
    if not tools_are_there():
        print(f"skip: {TOOLS} is not there, or has no scikit-build-core, auditwheel or wheel of "
              "NumPy; ./dev test makes it where PyPI can be reached")
        sys.exit(SKIPPED)
    unittest.main()
