"""Test of ./dev: what the demo and the tests build, by a copy that runs among stand-ins; and
of the defaults that `pip install ./bindings/python` builds with.

Usage: dev_test.py SOURCE_DIR [unittest options].
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = None  # set from the command line
CMAKE = """echo "cmake $*" >> "$LOG"
if [[ $1 == --build ]]; then
  mkdir -p "$2/bin"; printf '#!/bin/sh\\n' > "$2/bin/mygemm"; chmod +x "$2/bin/mygemm"
fi"""


def cmake_of(job, gpu, record=None, part="", architectures=77):
    """CMake's command lines of a job of ./dev on a machine with nvcc; `record`, `architectures`:
    what gpu_record.py and architectures_record.py exit with; `part`: what emulator_record.py
    prints."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(SOURCE / "dev", root / "dev")
        programs = [("stand-ins/cmake", CMAKE), ("stand-ins/dpkg-query", "echo installed"),
                    ("stand-ins/nvcc", "echo release 13.0, V13.0"),
                    ("stand-ins/nvidia-smi", "echo 9.0" if gpu else "exit 9"),
                    ("stand-ins/ctest", ""), ("build/wheel-tools/bin/python", "")]
        for name, text in programs:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"#!/bin/bash\n{text}\n")
            (root / name).chmod(0o755)
        (root / "build/wheel-tools/wheels/numpy-2.whl").mkdir(parents=True)
        (root / "build/cublasmp/nvidia_cublasmp_cu13-0.dist-info").mkdir(parents=True)
        (root / "tests").mkdir()
        (root / "tests/gpu_record.py").write_text(f"raise SystemExit({record})\n")
        (root / "tests/architectures_record.py").write_text(f"raise SystemExit({architectures})\n")
        (root / "tests/emulator_record.py").write_text(f"print({part!r})\n")
        (root / "tests/summary.py").write_text("")
        subprocess.run([root / "dev", job], check=True, stdout=subprocess.DEVNULL, env={
            **os.environ, "LOG": str(root / "log"),
            "PATH": f"{root / 'stand-ins'}:{os.environ['PATH']}"})
        return (root / "log").read_text()


class Demo(unittest.TestCase):
    def demo(self, gpu):
        return cmake_of("demo", gpu)

    def test_without_a_gpu_it_builds_the_host_part(self):
        said = self.demo(gpu=False)
        self.assertIn("--preset host-only -B build/host-only-plain -DMYGEMM_TESTS=OFF", said)
        self.assertNotIn("--preset dev", said)

    def test_with_a_gpu_it_builds_for_it(self):
        said = self.demo(gpu=True)
        self.assertIn("--preset dev -B build/dev-plain -DMYGEMM_TESTS=OFF "
                      "-DCMAKE_CUDA_ARCHITECTURES=90a-real", said)

    def test_the_tests_folder_is_left_alone(self):
        for gpu in False, True:
            self.assertNotRegex(self.demo(gpu), r"build/(dev|host-only)(?!-plain)")


class Test(unittest.TestCase):
    def test_kernels_that_are_new_or_can_run_are_optimised(self):
        for gpu, record in (False, 77), (True, 0), (True, 77):
            with self.subTest(gpu=gpu, record=record):
                self.assertIn("-DMYGEMM_TESTS=ON", cmake_of("test", gpu, record))
                self.assertNotIn("MYGEMM_QUICK_KERNELS=ON", cmake_of("test", gpu, record))

    def test_kernels_that_were_optimised_elsewhere_are_not(self):
        for record, architectures in (0, 77), (77, 0):
            with self.subTest(record=record, architectures=architectures):
                self.assertIn("MYGEMM_QUICK_KERNELS=ON",
                              cmake_of("test", False, record, architectures=architectures))

    def test_all_emulated_ops_tests_run_unless_these_sources_have_passed_them(self):
        self.assertRegex(cmake_of("test", gpu=False, record=0), r"-DMYGEMM_EMULATED_PART=(\s|$)")
        self.assertIn("-DMYGEMM_EMULATED_PART=5/32",
                      cmake_of("test", gpu=False, record=0, part="5/32"))


class Wheel(unittest.TestCase):
    def configured(self, smi):
        """CMake's cache, with a stand-in for nvidia-smi."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "nvidia-smi"
            program.write_text(f"#!/bin/sh\n{smi}\n")
            program.chmod(0o755)
            options = [f"-D{name}=OFF" for name in (
                "MYGEMM_TESTS", "MYGEMM_BENCH", "MYGEMM_CLI", "MYGEMM_DROP_INS", "MYGEMM_INSTALL")]
            nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
            subprocess.run(["cmake", "-S", SOURCE, "-B", f"{folder}/build", "-G", "Ninja",
                            "-DMYGEMM_PYTHON_WHEEL=ON", *options], check=True,
                           capture_output=True,
                           env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
                                "CUDACXX": nvcc})
            commands = pathlib.Path(f"{folder}/build/compile_commands.json").read_text()
            return "-DMYGEMM_WITH_CUDA=1" in commands, commands

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"),
                         "nvcc is not installed")
    def test_kernels_for_the_gpu_that_is_there(self):
        self.assertFalse(self.configured("exit 9")[0])
        cuda, commands = self.configured("echo 9.0")
        self.assertTrue(cuda)
        self.assertIn("sm_90a", commands)
        self.assertIn("sm_86", self.configured("echo 8.6; echo 8.0")[1])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
