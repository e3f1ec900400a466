#!/usr/bin/env bash
# test.sh BIN: tests the wheel against servers from folder BIN. Exits with 77 to be skipped.
set -euo pipefail
export PYTHON=${PYTHON:-/usr/bin/python3}
BIN="$(cd "$1" && pwd)"
export BIN
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

skip() {
  echo "skipped: $*"
  exit 77
}
command -v "$PYTHON" >/dev/null || skip "no $PYTHON"
for module in grpc google.protobuf setuptools wheel; do
  "$PYTHON" -c "import $module" 2>/dev/null || skip "$PYTHON has no $module"
done
"$PYTHON" -c 'import grpc_tools' 2>/dev/null || command -v protoc grpc_python_plugin >/dev/null ||
  skip "neither grpcio-tools nor protoc and grpc_python_plugin are there"

WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT
"$HERE/build.sh" "$WORK/out"
"$PYTHON" -m zipfile -e "$WORK"/out/waystar-*.whl "$WORK/installed"
cd "$HERE/../../tests/clients/python"
export PYTHONPATH="$WORK/installed" PYTHONDONTWRITEBYTECODE=1 GRPC_VERBOSITY=NONE
timeout -k 5 60 "$PYTHON" -W error::ResourceWarning -m unittest -q
