#!/bin/bash
# Static test: programs of the build tree find libmygemm.so relative to themselves, so that a build
# folder can be carried to another machine and run there.
#
# Usage: moved_build_test.sh BUILD_DIR
set -euo pipefail
build=$1
for program in "$build"/bin/* "$build"/bin/examples/*; do
  [[ -f $program ]] || continue
  for entry in $(readelf -dW "$program" | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p' | tr ':' ' '); do
    if [[ $entry != '$ORIGIN'* ]]; then
      echo "$program looks for libraries in $entry" >&2
      exit 1
    fi
  done
done

moved=$(mktemp -d)
trap 'rm -rf "$moved"' EXIT
mkdir "$moved/bin" "$moved/lib"
cp "$build/bin/mygemm" "$moved/bin"
cp -P "$build"/lib/libmygemm.so* "$moved/lib"
libraries=$(env -u LD_LIBRARY_PATH ldd "$moved/bin/mygemm")
if [[ $libraries != *"=> $moved/"* ]]; then
  echo "the moved command does not take the moved library" >&2
  exit 1
fi
env -u LD_LIBRARY_PATH "$moved/bin/mygemm" info
