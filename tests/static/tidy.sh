#!/bin/bash
# Static test: clang-tidy over the library's C++ sources, with the checks of .clang-tidy. CUDA
# sources are left out; the kernels are tested by running them.
#
# Usage: tidy.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
cd "$2"
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
# clang-tidy checks a source once for each command that compiles it: here, the library's alone, not
# those of the emulated library and of the unit tests.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
python3 - "$build/compile_commands.json" > "$commands/compile_commands.json" <<'END'
import json, sys
entries = json.load(open(sys.argv[1]))
json.dump([e for e in entries if "CMakeFiles/mygemm.dir/" in e["command"]], sys.stdout)
END
# Files of one call share nothing, so the short calls only spread the work.
find src -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 \
  "$clang_tidy" -p "$commands" --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-pragmas
