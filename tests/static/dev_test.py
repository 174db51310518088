"""Test of ./dev: what the demo builds, and where, by a copy that runs in a folder of stand-ins.

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


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
