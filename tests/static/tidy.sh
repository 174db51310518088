#!/bin/bash
# Static test: clang-tidy over the library's C++ sources, with the checks of .clang-tidy. CUDA
# sources are left out; the kernels are tested by running them.
#
# Usage: tidy.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
cd "$2"
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
# The database names g++'s options; OpenMP's header is the one thing clang lacks.
find src -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 \
  "$clang_tidy" -p "$build" --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-pragmas
