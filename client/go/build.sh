#!/usr/bin/env bash
# build.sh OUT: makes the modules waystar.dev/client and waystar.dev/proto in the folders OUT and OUT/stubs. Generates
# the stubs beside the sources first, unless they are there and as new as the protos.
set -euo pipefail
OUT="$(realpath -m "${1:?give the folder for the package, as in build.sh OUT}")"
readonly OUT
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly PROTO=../../proto STUBS=stubs/waystar/v1

if [[ ! -f "$STUBS/types.pb.go" || -n "$(find "$PROTO"/waystar/v1/ stubs/go.mod -newer "$STUBS/types.pb.go")" ]]; then
  # A proto that is gone leaves no stub.
  rm -f "$STUBS"/*.pb.go
  mkdir -p build/bin
  # The versions are those of stubs/go.mod.
  (cd stubs && GOBIN="$OLDPWD/build/bin" go install tool)
  PATH="$PWD/build/bin:$PATH" protoc -I "$PROTO" -I "$PROTO/third_party" \
    --go_out=stubs --go_opt=module=waystar.dev/proto \
    --go-grpc_out=stubs --go-grpc_opt=module=waystar.dev/proto "$PROTO"/waystar/v1/*.proto
fi
rm -f "$OUT"/*.go
rm -rf "$OUT/stubs"
mkdir -p "$OUT"
cp -r ./*.go go.mod go.sum README.md stubs "$OUT"
