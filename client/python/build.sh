#!/usr/bin/env bash
# build.sh OUT: makes the wheel and the source package in folder OUT, and OUT/package, which they are made of.
# $PYTHON is the interpreter, with setuptools and wheel. Stubs are made by its grpcio-tools, or else by protoc
# and grpc_python_plugin.
set -euo pipefail
PYTHON=${PYTHON:-/usr/bin/python3}
mkdir -p "${1:?give the folder for the package, as in build.sh OUT}"
OUT="$(cd "$1" && pwd)"
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PROTO="$(cd "$HERE/../../proto" && pwd)"
VERSION="$(sed -n 's/^project(waystar VERSION \([0-9.]*\).*/\1/p' "$HERE/../../CMakeLists.txt")"
PACKAGE="$OUT/package"

rm -rf "$PACKAGE" "$OUT"/waystar-*
mkdir -p "$PACKAGE/waystar/third_party"
cp "$HERE/README.md" "$PACKAGE"
sed "s/^version = .*/version = \"$VERSION\"/" "$HERE/pyproject.toml" >"$PACKAGE/pyproject.toml"
cp "$HERE"/waystar/*.py "$HERE/waystar/py.typed" "$HERE/../service_config.json" "$PACKAGE/waystar"

PROTOC=(protoc "--plugin=protoc-gen-grpc_python=$(command -v grpc_python_plugin || true)")
if "$PYTHON" -c 'import grpc_tools' 2>/dev/null; then
  PROTOC=("$PYTHON" -m grpc_tools.protoc)
fi
PROTOC+=(-I "$PROTO" -I "$PROTO/third_party")
mapfile -t FILES < <(cd "$PROTO" && find waystar -name '*.proto' | sort)
"${PROTOC[@]}" --python_out="$PACKAGE" --pyi_out="$PACKAGE" --grpc_python_out="$PACKAGE" "${FILES[@]}"
# Only files with a service need a module of it.
(cd "$PACKAGE" && grep -L 'class .*Stub' waystar/v1/*_pb2_grpc.py | xargs rm -f)
"${PROTOC[@]}" --python_out="$PACKAGE/waystar/third_party" google/rpc/status.proto google/rpc/error_details.proto

cd "$PACKAGE"
"$PYTHON" - "$OUT" >"$OUT/build.log" 2>&1 <<'END' || { cat "$OUT/build.log" >&2 && exit 1; }
import sys
from setuptools import build_meta
out = sys.argv[1]
build_meta.build_sdist(out)
build_meta.build_wheel(out)
END
rm -rf build ./*.egg-info
