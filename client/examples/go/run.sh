#!/usr/bin/env bash
# run.sh [SERVER]: generates what the example imports, if need be, and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly PROTO=../../../proto

if [[ ! -f stubs/waystar.dev/proto/waystar/v1/path_service.pb.go ]]; then
  mkdir -p build/bin
  # The versions are those of go.mod.
  GOBIN="$PWD/build/bin" go install google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
  PATH="$PWD/build/bin:$PATH" protoc -I "$PROTO" -I "$PROTO/third_party" --go_out=stubs --go-grpc_out=stubs \
    "$PROTO"/waystar/v1/*.proto
fi
exec go run . "$@"
