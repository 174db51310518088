#!/bin/bash
# Static test: clang-tidy over the library's C++ sources, with the checks of .clang-tidy. CUDA
# sources are left out; the kernels are tested by running them.
#
# Usage: tidy.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
cd "$2"
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
# Files of one call share nothing, so the short calls only spread the work.
find src -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 \
  "$clang_tidy" -p "$build" --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-pragmas
