#!/bin/bash
# Static test: the ABI of libmygemm.so against the committed baseline, by libabigail.
#
# Usage: abi.sh LIBRARY SOURCE_DIR [--update]
# Any difference fails, a new function too: --update (./dev abi) acknowledges it by rewriting the
# baseline, which is then reviewed as part of the change.
set -euo pipefail
library=$1 source=$2 update=${3-}
baseline=$source/abi/libmygemm.abixml

sections=$(readelf -SW "$library")
if [[ $sections != *.debug_info* ]]; then
  echo "$library has no debug information; its types cannot be compared"
  exit 77
fi
if [[ $update == --update ]]; then
  # No paths and line numbers: the baseline must not depend on where it was made, nor on whether
  # the library was built with CUDA.
  mkdir -p "$source/abi"
  abidw --headers-dir "$source/include" --drop-private-types --no-corpus-path --no-comp-dir-path \
    --no-show-locs --exported-interfaces-only "$library" |
    sed "s|path='$source/|path='|" > "$baseline"
  echo "wrote $baseline"
  exit 0
fi
# abidiff takes a file that it cannot read for an empty one, and an empty one for equal.
/usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$baseline"
if abidiff --headers-dir2 "$source/include" --drop-private-types --no-show-locs \
  "$baseline" "$library"; then
  echo "the ABI is that of the baseline"
  exit 0
fi
echo "The ABI differs from abi/libmygemm.abixml. Where that is intended, and the version and
CHANGELOG.md say so, './dev abi' rewrites the baseline." >&2
exit 1
