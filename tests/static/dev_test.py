"""Test of ./dev: what the demo builds, and where, by a copy that runs in a folder of stand-ins; and
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


class Demo(unittest.TestCase):
    def demo(self, gpu):
        """CMake's command lines, on a machine with nvcc."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copy(SOURCE / "dev", root / "dev")
            (root / "stand-ins").mkdir()
            for name, text in [("cmake", CMAKE), ("dpkg-query", "echo installed"),
                               ("nvcc", "echo release 13.0, V13.0"),
                               ("nvidia-smi", "echo 9.0" if gpu else "exit 9")]:
                (root / "stand-ins" / name).write_text(f"#!/bin/bash\n{text}\n")
                (root / "stand-ins" / name).chmod(0o755)
            subprocess.run([root / "dev", "demo"], check=True, stdout=subprocess.DEVNULL, env={
                **os.environ, "LOG": str(root / "log"),
                "PATH": f"{root / 'stand-ins'}:{os.environ['PATH']}"})
            return (root / "log").read_text()

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
