#!/bin/bash
# Static test: every C, C++ and CUDA source is formatted as .clang-format says.
#
# Usage: format.sh SOURCE_DIR [--fix]
set -euo pipefail
cd "$1"
clang_format=$(command -v clang-format-14 || command -v clang-format)
sources() {
  find include src bench bindings tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' \
    -o -name '*.cuh' | sort
}
if [[ ${2-} == --fix ]]; then
  sources | xargs "$clang_format" --style=file -i
else
  sources | xargs "$clang_format" --style=file --dry-run -Werror 2>&1 |
    sed -n 's/ error: code should be clang-formatted.*/ not as .\/dev format leaves it/p'
fi
