"""The library as its users get it: installed, moved, found, linked and called; and as .deb files.

Usage: consumers_test.py BUILD_DIR SOURCE_DIR [unittest options]. Needs cmake, a C and a C++
compiler, make and pkg-config, and dpkg-deb for the packages. Nothing is installed on the machine.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from document_programs import programs

BUILD = SOURCE = None  # set from the command line
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, cwd=None, **environment):
    """Runs a command, fails with all its output, returns its stdout."""
    cleaned = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "DESTDIR")}
    result = subprocess.run([str(word) for word in command], cwd=cwd, text=True, check=False,
                            capture_output=True, env={**cleaned, **environment})
    if result.returncode != 0:
        raise AssertionError(f"{command} gave {result.returncode}\n"
                             f"{result.stdout}\n{result.stderr}")
    return result.stdout


class ScratchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name).resolve()


class Installed(ScratchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        first = cls.scratch / "first"
        run("cmake", "--install", BUILD, "--prefix", first)
        cls.prefix = cls.scratch / "moved here"  # blanks in the path, too
        first.rename(cls.prefix)
        cls.library_dir = next(cls.prefix.rglob("libmygemm.so.0")).parent

    def test_nothing_names_where_it_was_built(self):
        for path in self.prefix.rglob("*"):
            if path.suffix in {".cmake", ".pc", ".h"}:
                text = path.read_text()
                for folder in BUILD, SOURCE, self.scratch:
                    self.assertNotIn(str(folder), text, path)

    def test_library_has_its_names(self):
        self.assertEqual(os.readlink(self.library_dir / "libmygemm.so"), "libmygemm.so.0")
        self.assertRegex(os.readlink(self.library_dir / "libmygemm.so.0"),
                         r"^libmygemm\.so\.0\.\d+\.\d+$")

    def test_pkg_config_and_make(self):
        shutil.copytree(HERE / "makefile", self.scratch / "c/makefile")
        shutil.copy(HERE / "product.c", self.scratch / "c")
        folder = self.scratch / "c/makefile"
        found = {"PKG_CONFIG_PATH": str(self.library_dir / "pkgconfig")}
        run("make", cwd=folder, **found)
        self.assertIn("right", run("./product", cwd=folder, LD_LIBRARY_PATH=str(self.library_dir)))
        version = run("pkg-config", "--modversion", "mygemm", **found).strip()
        self.assertIn(f"VERSION {version} ", (SOURCE / "CMakeLists.txt").read_text())

    def build_from(self, source, *options):
        """Builds a project that finds the moved library; its folder."""
        folder = self.scratch / f"build {source.name}"
        run("cmake", "-S", source, "-B", folder, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", *options)
        run("cmake", "--build", folder)
        return folder

    def test_cmake_find_package(self):
        folder = self.build_from(HERE / "find_package")
        self.assertIn("right", run(folder / "product"))
        cache = (folder / "CMakeCache.txt").read_text()
        self.assertIn(f"mygemm_DIR:PATH={self.library_dir}/cmake/mygemm\n", cache)

    def run_for_gpu(self, folder, program):
        """A program that is there where CMake found CUDA: right, or 77 where there is no GPU."""
        cache = (folder / "CMakeCache.txt").read_text()
        if not re.search(r"^CUDA_CUDART:FILEPATH=/", cache, re.M):
            self.assertFalse((folder / program).exists())
            return
        result = subprocess.run([folder / program], text=True, check=False, capture_output=True)
        self.assertIn(result.returncode, (0, 77), result.stderr)
        self.assertIn("right" if result.returncode == 0 else "no GPU: nothing to show",
                      result.stdout)

    def test_c_examples(self):
        folder = self.build_from(
            self.prefix / "share/mygemm/examples/c",
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror")
        for program in "linear", "product", "softmax_rows", "transpose_in_place":
            self.assertRegex(run(folder / program, MYGEMM_BACKEND="host"), "on the host: .*right")
        said = run(folder / "explain")
        self.assertRegex(said, r"(?m)^device: H200, ")
        self.assertRegex(said, r"(?m)^chosen: tiled .*forced by the environment")
        for program in "graph_capture", "two_streams":
            self.run_for_gpu(folder, program)

    def test_drop_in_blas(self):
        folder = self.scratch / "blas"
        run("cmake", "-S", HERE / "blas", "-B", folder, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", folder)
        said = run("sh", "-c", '"$0" 2>&1', folder / "product", MYGEMM_REPORT="1")
        self.assertIn("right\n", said)
        self.assertRegex(said, r"sgemm_ +1 taken")

    def test_programs_written_for_cublas(self):
        folder = self.scratch / "cublas"
        run("cmake", "-S", HERE / "cublas", "-B", folder, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DPROGRAMS={SOURCE}/tests/dropin")
        run("cmake", "--build", folder)
        self.assertEqual(run(folder / "compat", MYGEMM_BACKEND="host"), "right\n")
        if (self.library_dir / "libmygemm_cublas.so").exists():
            self.assertIn("libmygemm_cublas.so.0", run("ldd", folder / "linked"))

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not installed")
    def test_fortran(self):
        strict = "-DCMAKE_Fortran_FLAGS=-Wall -Wextra -Werror -std=f2018"
        folder = self.build_from(HERE / "fortran", strict)
        self.assertIn("every function: right", run(folder / "every_function"))

        folder = self.build_from(self.prefix / "share/mygemm/fortran/examples", strict)
        said = run(folder / "host_arrays")
        self.assertIn("right", said)
        self.assertIn("refused: lda = 4 is smaller than max(1, m) = 5", said)
        self.run_for_gpu(folder, "device_memory")

    def test_fortran_modules_need_the_language(self):
        (self.scratch / "no_fortran").mkdir()
        (self.scratch / "no_fortran/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(no_fortran LANGUAGES NONE)\n"
            "find_package(mygemm CONFIG REQUIRED COMPONENTS Fortran)\n")
        with self.assertRaisesRegex(AssertionError, r"LANGUAGES\s+Fortran"):
            run("cmake", "-S", self.scratch / "no_fortran", "-B", self.scratch / "no_fortran/build",
                f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_another_minor_version_is_refused(self):
        (self.scratch / "next").mkdir()
        (self.scratch / "next/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(next LANGUAGES NONE)\n"
            "find_package(mygemm 0.2 CONFIG REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, r"not accepted:\s+.*version: 0\.1"):
            run("cmake", "-S", self.scratch / "next", "-B", self.scratch / "next/build",
                f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_programs_of_documents(self):
        compilers = {"c": ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"],
                     "cpp": ["c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror"],
                     "fortran": ["gfortran", "-std=f2018"]}
        suffixes = {"c": ".c", "cpp": ".cpp", "fortran": ".f90"}
        modules = [self.prefix / f"share/mygemm/fortran/{name}.f90" for name in
                   ("mygemm_abi", "mygemm_gemm", "mygemm_grouped", "mygemm_cross_entropy",
                    "mygemm_softmax", "mygemm_products", "mygemm_rows", "mygemm_plans", "mygemm")]
        count = 0
        for document, language, program, printed in programs(SOURCE):
            folder = self.scratch / f"program {(count := count + 1)}"
            folder.mkdir()
            environment = {"LD_LIBRARY_PATH": str(self.library_dir)}
            if language == "python":
                said = run("/usr/bin/python3", "-B", "-c", program, cwd=folder,
                           PYTHONPATH=str(SOURCE / "bindings/python"),
                           MYGEMM_LIBRARY=str(self.library_dir / "libmygemm.so.0"))
            elif language == "fortran" and not shutil.which("gfortran"):
                continue
            else:
                source = folder / f"program{suffixes[language]}"
                source.write_text(program)
                run(*compilers[language], f"-I{self.prefix / 'include'}",
                    *(modules if language == "fortran" else []), source, f"-L{self.library_dir}",
                    "-lmygemm", "-o", folder / "program", cwd=folder)
                said = run(folder / "program", **environment)
            self.assertTrue(printed, document)
            for text in printed:
                self.assertIn(" ".join(text.removesuffix("...").split()), " ".join(said.split()),
                              document)
        self.assertGreaterEqual(count, 7)

    def test_documents(self):
        """All that the source tree links to, images too, and links that lead there."""
        folder = self.prefix / "share/doc/mygemm"
        run(sys.executable, "-B", SOURCE / "tests/static/links.py", folder)
        for name in ["README.md", "bindings/python/README.md", "bench/experiments.md",
                     *(path.relative_to(SOURCE) for path in (SOURCE / "docs").rglob("*.*"))]:
            self.assertEqual((folder / name).read_bytes(), (SOURCE / name).read_bytes())
        self.assertRegex(run(self.prefix / "bin/mygemm", "demo", MYGEMM_BACKEND="host"),
                         r"paragraphs in \d+ files")

    def test_command_runs(self):
        self.assertIn("backend:", run(self.prefix / "bin/mygemm", "info", MYGEMM_BACKEND="host"))
        self.assertIn("mygemm", run(self.prefix / "bin/mygemm-bench", "--help"))


class Subdirectory(ScratchTest):
    def test_builds_and_runs(self):
        # Unoptimised: the time goes into compiling.
        run("cmake", "-S", HERE / "subdirectory", "-B", self.scratch, "-G", "Ninja",
            f"-DMYGEMM_SOURCE={SOURCE}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0")
        run("cmake", "--build", self.scratch)
        self.assertIn("right", run(self.scratch / "product"))
        if shutil.which("gfortran"):
            self.assertIn("right", run(self.scratch / "host_arrays"))


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"),
                     "dpkg-dev is not installed")
class Packages(ScratchTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.scratch)
        cls.packages = {path.name.partition("_")[0]: path for path in cls.scratch.glob("*.deb")}

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.packages[package], name).strip()

    def contents(self, package):
        return re.findall(r"^-\S* .* \./usr/(\S+)", run("dpkg-deb", "-c", self.packages[package]),
                          re.M)

    def test_four_packages(self):
        self.assertEqual(set(self.packages),
                         {"libmygemm0", "libmygemm-dev", "mygemm-dropin", "mygemm-tools"})

    def test_fields(self):
        version = self.field("libmygemm0", "Version")
        for package in self.packages:
            self.assertEqual(self.field(package, "Version"), version)
            self.assertEqual(self.field(package, "Maintainer"),
                             "mygemm developers <mygemm@example.org>")
        self.assertIn("libgomp1", self.field("libmygemm0", "Depends"))
        for package in set(self.packages) - {"libmygemm0"}:
            self.assertIn(f"libmygemm0 (= {version})", self.field(package, "Depends"))
        for package in self.packages:
            self.assertNotIn("cuda", self.field(package, "Depends"))

    def test_each_file_is_where_it_belongs(self):
        contents = {name: self.contents(name) for name in self.packages}
        files = [file for part in contents.values() for file in part]
        self.assertEqual(len(files), len(set(files)), "a file is in two packages")
        libraries = [file for file in contents["libmygemm0"] if ".so" in file]
        self.assertEqual(len(libraries), 1, libraries)
        self.assertTrue(any("libmygemm_blas.so.0" in file for file in contents["mygemm-dropin"]))
        for header in "mygemm.h", "cublas_compat.h":
            self.assertIn(f"include/mygemm/{header}", contents["libmygemm-dev"])
        for name in "mygemm.pc", "mygemmConfig.cmake", "mygemmConfigVersion.cmake":
            self.assertTrue(any(file.endswith("/" + name) for file in contents["libmygemm-dev"]))
        for program in "mygemm", "mygemm-bench":
            self.assertLessEqual(
                {f"bin/{program}", f"share/man/man1/{program}.1",
                 f"share/bash-completion/completions/{program}",
                 f"share/fish/vendor_completions.d/{program}.fish",
                 f"share/zsh/vendor-completions/_{program}"}, set(contents["mygemm-tools"]))

    def test_apt_would_install_them(self):
        """Whatever they depend on is there to be had."""
        planned = run("apt-get", "install", "--simulate", *self.packages.values())
        for package in self.packages:
            self.assertIn(f"Inst {package} ", planned)

    def test_installed_used_and_removed(self):
        """By dpkg, in a root of its own with nothing else; libraries of others are the machine's,
        and its ldconfig is left alone."""
        root = self.scratch / "root"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").touch()
        (self.scratch / "ldconfig").symlink_to("/bin/true")
        path = f"{self.scratch}:{os.environ['PATH']}"
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root",
                "--force-script-chrootless", f"--log={self.scratch}/log"]
        run(*dpkg, "--install", *self.packages.values(), PATH=path)
        self.assertIn("backend:", run(root / "usr/bin/mygemm", "info", MYGEMM_BACKEND="host"))
        library = next(root.rglob("libmygemm.so.0.*"))
        self.assertNotIn(".debug_info", run("readelf", "-SW", library))
        flags = run("pkg-config", "--cflags", "--libs", "mygemm",
                    PKG_CONFIG_PATH=str(library.parent / "pkgconfig")).split()
        run("cc", HERE / "product.c", *flags, "-o", self.scratch / "product")
        self.assertIn("right", run(self.scratch / "product", MYGEMM_BACKEND="host",
                                   LD_LIBRARY_PATH=str(library.parent)))
        run(*dpkg, "--purge", *self.packages, PATH=path)
        self.assertEqual([path for path in (root / "usr").rglob("*") if not path.is_dir()], [])


if __name__ == "__main__":
    BUILD, SOURCE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
