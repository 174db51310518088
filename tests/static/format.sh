#!/bin/bash
# Static test: every C, C++ and CUDA source is formatted as .clang-format says.
#
# Usage: format.sh SOURCE_DIR [--fix]
set -euo pipefail
cd "$1"
clang_format=$(command -v clang-format-14 || command -v clang-format)
mode=(--dry-run -Werror)
[[ ${2-} == --fix ]] && mode=(-i)
find include src bench bindings tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' \
  -o -name '*.cuh' | sort | xargs "$clang_format" --style=file "${mode[@]}"
