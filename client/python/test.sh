#!/usr/bin/env bash
# test.sh BIN: installs the wheel where nothing else of this project is, and tests it and the examples against servers
# from folder BIN. Exits with 77 to be skipped.
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
for module in grpc google.protobuf pip setuptools wheel; do
  "$PYTHON" -c "import $module" 2>/dev/null || skip "$PYTHON has no $module"
done
"$PYTHON" -c 'import grpc_tools' 2>/dev/null || command -v protoc grpc_python_plugin >/dev/null ||
  skip "neither grpcio-tools nor protoc and grpc_python_plugin are there"

WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT
"$HERE/build.sh" "$WORK/out"
"$PYTHON" -m venv --system-site-packages --without-pip "$WORK/installed"
PYTHON="$WORK/installed/bin/python"
unset PYTHONPATH
"$PYTHON" -m pip install -q --no-index "$WORK"/out/waystar-*.whl
cd "$HERE/../../tests/clients/python"
export PYTHONDONTWRITEBYTECODE=1 GRPC_VERBOSITY=NONE
jobs=()
for file in test_*.py; do
  timeout -k 5 120 "$PYTHON" -W error::ResourceWarning -m unittest -q "${file%.py}" &
  jobs+=($!)
done
status=0
for job in "${jobs[@]}"; do
  wait "$job" || status=1
done
((status == 0)) || exit 1
if [[ -n "${WAYSTAR_OVERHEAD:-}" ]]; then
  ../overhead.py "$BIN" python "$PYTHON overhead.py" "$PYTHON $HERE/../examples/python/game_loop.py"
fi
