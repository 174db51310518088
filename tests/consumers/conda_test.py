"""The conda recipe, packaging/conda: Recipe reads it, Built runs its build scripts, into a prefix
of their own with the library of this build, and then the tests that the recipe names.

Usage: conda_test.py BUILD_DIR SOURCE_DIR [unittest options]. Exits with 77 where there is no yaml.
The scripts are run as rattler-build runs them: with PREFIX, SRC_DIR and the variant in the
environment. What is not tried here is rattler-build itself: docs/install.md.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

try:
    import yaml
except ImportError:
    print(f"skip: no yaml for {sys.executable} (Debian: python3-yaml)")
    sys.exit(77)

BUILD, SOURCE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
CONDA = SOURCE / "packaging/conda"
RECIPE = yaml.safe_load((CONDA / "recipe.yaml").read_text())
PROJECT = re.search(r'project\(mygemm VERSION (?P<version>\S+).*\n\s+DESCRIPTION "(?P<about>.*)"\)',
                    (SOURCE / "CMakeLists.txt").read_text())
LIBRARY, PYTHON = RECIPE["outputs"]


def filled_in(text):
    """A line of the recipe with the version in it."""
    return text.replace("${{ version }}", RECIPE["context"]["version"])


class Recipe(unittest.TestCase):
    def test_agrees_with_the_project(self):
        package = tomllib.loads((SOURCE / "bindings/python/pyproject.toml").read_text())["project"]
        self.assertEqual(RECIPE["context"]["version"], PROJECT["version"])
        self.assertEqual(RECIPE["recipe"]["version"], "${{ version }}")
        self.assertEqual(RECIPE["about"]["summary"], PROJECT["about"])
        self.assertEqual(RECIPE["about"]["license"], package["license"]["text"])
        self.assertEqual((CONDA / RECIPE["source"]["path"]).resolve(), SOURCE)
        self.assertIn("Apache License", (SOURCE / RECIPE["about"]["license_file"]).read_text())
        needed = PYTHON["requirements"]["run"]
        self.assertLessEqual({*package["dependencies"], "python " + package["requires-python"],
                              "libmygemm ==${{ version }}"}, set(needed))

    def test_nothing_is_downloaded(self):
        self.assertEqual(list(RECIPE["source"]), ["path"])
        for output in RECIPE["outputs"]:
            self.assertEqual(set(output["requirements"]), {"run"})
            script = (CONDA / output["build"]["script"]).read_text()
            self.assertNotRegex(script, r"\b(curl|wget|git|pip|FetchContent)\b")

    def test_files_are_there(self):
        for output in RECIPE["outputs"]:
            self.assertTrue(os.access(CONDA / output["build"]["script"], os.X_OK))
            for test in output["tests"]:
                for name in test.get("files", {}).get("recipe", []):
                    self.assertTrue((CONDA / name).exists(), name)

    def test_variants(self):
        """Both are builds of presets; that of CUDA is for the GPUs that the wheel is for."""
        self.assertEqual(yaml.safe_load((CONDA / "variants.yaml").read_text()),
                         {"backend": ["host"]})
        presets = {preset["name"]: preset.get("cacheVariables") for preset in json.loads(
            (SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
        named = dict(re.findall(r"(host|cuda)\) preset=(\S+) ;;",
                                (CONDA / LIBRARY["build"]["script"]).read_text()))
        self.assertEqual([presets[named[kind]]["MYGEMM_CUDA"] for kind in ("host", "cuda")],
                         ["OFF", "ON"])
        wheel = re.search(r'ARCHITECTURES = "(.*)"',
                          (SOURCE / "bindings/python/build_wheel.py").read_text())[1]
        self.assertEqual(presets[named["cuda"]]["CMAKE_CUDA_ARCHITECTURES"], wheel)


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name).resolve() / "prefix"
        # An environment of conda has its own Python; here it is the machine's, with its NumPy.
        cls.run_program("/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip",
                        cls.prefix)
        for output in RECIPE["outputs"]:
            cls.run_program(CONDA / output["build"]["script"])

    @classmethod
    def environment(cls):
        ours = ("MYGEMM_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH", "DESTDIR")
        site = next((cls.prefix / "lib").glob("python3.*/site-packages"), cls.prefix)
        return {**{k: v for k, v in os.environ.items() if k not in ours},
                "PATH": f"{cls.prefix}/bin:{os.environ['PATH']}", "PREFIX": str(cls.prefix),
                "SRC_DIR": str(SOURCE), "backend": "host", "MYGEMM_BUILD_DIR": str(BUILD),
                "SP_DIR": str(site), "PYTHONDONTWRITEBYTECODE": "1"}

    @classmethod
    def run_program(cls, *command, expect=0, **more):
        done = subprocess.run([str(word) for word in command], cwd=CONDA, text=True, check=False,
                              env={**cls.environment(), **more}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != expect:
            raise AssertionError(f"{command} gave {done.returncode}\n{done.stdout}")
        return done.stdout

    def test_the_tests_of_the_recipe(self):
        count = 0
        for test in LIBRARY["tests"] + PYTHON["tests"]:
            for line in test.get("script", []):
                self.run_program("bash", "-ec", filled_in(line))
                count += 1
            if "python" in test:
                self.run_program("python", "-c", f"import {test['python']['imports']}")
        self.assertGreaterEqual(count, 8)

    def test_python_takes_the_library_of_the_prefix(self):
        said = self.run_program("python", "-c", "import mygemm._library as l; "
                                "print(l._library_name())")
        self.assertEqual(said.strip(), f"{self.prefix}/lib/libmygemm.so.0")

    def test_metadata(self):
        said = self.run_program("python", "-c", "from importlib.metadata import distribution as d;"
                                "m = d('mygemm'); print(m.version, m.requires)")
        self.assertEqual(said.strip(), f"{PROJECT['version']} ['numpy']")

    def test_it_says_which_c_library_is_needed(self):
        said = self.run_program(CONDA / LIBRARY["build"]["script"], expect=1, MYGEMM_GLIBC="2.5")
        self.assertRegex(said, r"the library needs GLIBC_2\.\d+: build with MYGEMM_GLIBC=2\.\d+\n")

    def test_another_variant_is_refused(self):
        said = self.run_program(CONDA / LIBRARY["build"]["script"], expect=1, backend="rocm",
                                MYGEMM_BUILD_DIR="")
        self.assertIn("backend is rocm", said)


if __name__ == "__main__":
    unittest.main()
