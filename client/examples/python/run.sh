#!/usr/bin/env bash
# run.sh [follow] [ARGUMENT...]: generates what the examples import, if need be, and runs walk.py, or follow.py.
# $PYTHON is the interpreter, $OUT where what is generated goes.
set -euo pipefail
PYTHON=${PYTHON:-python3}
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OUT=${OUT:-$HERE/build}
PROTO="$(cd "$HERE/../../../proto" && pwd)"

if [[ ! -d "$OUT/waystar" ]]; then
  mkdir -p "$OUT"
  ROOTS=(-I "$PROTO" -I "$PROTO/third_party")
  mapfile -t FILES < <(cd "$PROTO" && find waystar -name '*.proto')
  if ! "$PYTHON" -c 'import google.rpc.status_pb2' 2>/dev/null; then
    # Debian does not package googleapis-common-protos.
    FILES+=(google/rpc/status.proto google/rpc/error_details.proto)
  fi
  if "$PYTHON" -c 'import grpc_tools' 2>/dev/null; then
    "$PYTHON" -m grpc_tools.protoc "${ROOTS[@]}" --python_out="$OUT" --grpc_python_out="$OUT" "${FILES[@]}"
  else
    # As Debian packages it: python3-grpcio, protobuf-compiler and protobuf-compiler-grpc.
    protoc "${ROOTS[@]}" --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
      --python_out="$OUT" --grpc_python_out="$OUT" "${FILES[@]}"
  fi
fi
PROGRAM=walk
if [[ "${1:-}" == follow ]]; then
  PROGRAM=$1
  shift
fi
PYTHONPATH="$OUT" exec "$PYTHON" "$HERE/$PROGRAM.py" "$@"
