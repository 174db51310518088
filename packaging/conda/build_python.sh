#!/bin/bash
# Installs the Python package for recipe.yaml into $PREFIX: modules alone, which find the library of
# the package libmygemm. The folder's version of Python is of no matter: conda puts the modules where
# the Python of an environment looks.
set -euo pipefail
site=${SP_DIR:-$PREFIX/lib/python3/site-packages}
version=$(sed -n 's/^project(mygemm VERSION \([0-9.]*\).*/\1/p' "$SRC_DIR/CMakeLists.txt")
mkdir -p "$site/mygemm" "$site/mygemm-$version.dist-info"
cp "$SRC_DIR"/bindings/python/mygemm/*.py "$SRC_DIR/bindings/python/mygemm/py.typed" "$site/mygemm"
printf 'Metadata-Version: 2.1\nName: mygemm\nVersion: %s\nRequires-Dist: numpy\n' "$version" \
  > "$site/mygemm-$version.dist-info/METADATA"
echo conda > "$site/mygemm-$version.dist-info/INSTALLER"
