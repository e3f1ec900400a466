#!/usr/bin/env bash
# run.sh [SERVER]: generates what the example imports, if need be, and runs it. $PYTHON is the interpreter, $OUT where
# what is generated goes.
set -euo pipefail
PYTHON=${PYTHON:-python3}
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OUT=${OUT:-$HERE/build}
PROTO="$(cd "$HERE/../../../proto" && pwd)"

if [[ ! -d "$OUT/waystar" ]]; then
  mkdir -p "$OUT"
  mapfile -t FILES < <(cd "$PROTO" && find waystar google -name '*.proto')
  if "$PYTHON" -c 'import grpc_tools' 2>/dev/null; then
    "$PYTHON" -m grpc_tools.protoc -I "$PROTO" --python_out="$OUT" --grpc_python_out="$OUT" "${FILES[@]}"
  else
    # As Debian packages it: python3-grpcio, protobuf-compiler and protobuf-compiler-grpc.
    protoc -I "$PROTO" --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
      --python_out="$OUT" --grpc_python_out="$OUT" "${FILES[@]}"
  fi
fi
PYTHONPATH="$OUT" exec "$PYTHON" "$HERE/walk.py" "$@"
