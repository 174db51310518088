#!/bin/bash
# Builds libmygemm for recipe.yaml and installs it into $PREFIX, from the checkout in $SRC_DIR.
# $backend is host or cuda. MYGEMM_BUILD_DIR names a folder that is built already.
set -euo pipefail
folder=${MYGEMM_BUILD_DIR-}
if [[ -z $folder ]]; then
  folder=$SRC_DIR/build/conda
  case ${backend:?host or cuda} in
    host) preset=host-only ;;
    cuda) preset=release ;;
    *) echo "backend is $backend, and not host or cuda" >&2; exit 1 ;;
  esac
  cmake -S "$SRC_DIR" --preset "$preset" -B "$folder" -DMYGEMM_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "$folder" --parallel "${CPU_COUNT:-$(nproc)}"
fi
cmake --install "$folder" --prefix "$PREFIX" --strip

# The package says which C library it needs.
library=$(find "$PREFIX" -name 'libmygemm.so.0.*')
needed=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
stated=GLIBC_${MYGEMM_GLIBC:-2.36}
if [[ $(printf '%s\n' "$needed" "$stated" | sort -V | tail -n 1) != "$stated" ]]; then
  echo "the library needs $needed: build with MYGEMM_GLIBC=${needed#GLIBC_}" >&2
  exit 1
fi
