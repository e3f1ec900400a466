#!/usr/bin/env bash
# run.sh [SERVER]: generates what the example imports, if need be, and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly PROTO=../../../proto
readonly PACKAGE=waystar.example/walk/build/waystarpb

if [[ ! -f build/waystarpb/path_service.pb.go ]]; then
  mkdir -p build/bin
  # The versions are those of go.mod.
  GOBIN="$PWD/build/bin" go install google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
  # The protos say nothing of Go: here is where each goes.
  mapfile -t FILES < <(cd "$PROTO" && find waystar -name '*.proto')
  OPTIONS=("--go_opt=Mgoogle/rpc/status.proto=google.golang.org/genproto/googleapis/rpc/status")
  for FILE in "${FILES[@]}"; do
    OPTIONS+=("--go_opt=M$FILE=$PACKAGE" "--go-grpc_opt=M$FILE=$PACKAGE")
  done
  OPTIONS+=("--go-grpc_opt=Mgoogle/rpc/status.proto=google.golang.org/genproto/googleapis/rpc/status")
  PATH="$PWD/build/bin:$PATH" protoc -I "$PROTO" --go_out=. --go-grpc_out=. \
    --go_opt=module=waystar.example/walk --go-grpc_opt=module=waystar.example/walk "${OPTIONS[@]}" "${FILES[@]}"
fi
exec go run . "$@"
