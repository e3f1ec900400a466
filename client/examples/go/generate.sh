#!/usr/bin/env bash
# Generates the module waystar.dev/proto into stubs, unless it is there and as new as the protos.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly PROTO=../../../proto STUB=stubs/waystar.dev/proto/waystar/v1/path_service.pb.go

if [[ -f "$STUB" && -z "$(find "$PROTO"/waystar/v1/ -name '*.proto' -newer "$STUB")" ]]; then
  exit
fi
# A proto that is gone leaves no stub.
rm -f "${STUB%/*}"/*.pb.go
mkdir -p build/bin
# The versions are those of go.mod.
GOBIN="$PWD/build/bin" go install google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
PATH="$PWD/build/bin:$PATH" protoc -I "$PROTO" -I "$PROTO/third_party" --go_out=stubs --go-grpc_out=stubs \
  "$PROTO"/waystar/v1/*.proto
