#!/usr/bin/env bash
# test.sh BIN: builds the client and tests it with the server and the tool in the folder BIN.
set -euo pipefail
WAYSTAR_BIN="$(realpath "$1")"
export WAYSTAR_BIN
cd "$(dirname "${BASH_SOURCE[0]}")"
WORK="$(mktemp -d)"
readonly WORK
trap 'rm -rf "$WORK"' EXIT

skip() {
  echo "Skipped: $*"
  exit 77
}

for program in go protoc; do
  command -v "$program" >/dev/null || skip "there is no $program here"
done
[[ "$(go env GOVERSION | sed 's/^go1\.\([0-9]*\).*/\1/')" -ge 24 ]] || skip "Go is older than 1.24"
for module in . stubs ../examples/go ../../tests/clients/go; do
  (cd "$module" && timeout 30 go mod download 2>"$WORK/log") || skip "the modules cannot be fetched: $(cat "$WORK/log")"
done

./build.sh "$WORK/package"
# The examples are modules of a user of the package.
cp -r ../examples/go "$WORK/examples"
export WAYSTAR_EXAMPLES="$WORK/bin"
mkdir "$WAYSTAR_EXAMPLES"
(cd "$WORK/examples" &&
  go mod edit -replace=waystar.dev/client="$WORK/package" -replace=waystar.dev/proto="$WORK/package/stubs" &&
  go build -o "$WAYSTAR_EXAMPLES" ./...)
unformatted="$(gofmt -l . ../examples/go ../../tests/clients/go)"
if [[ -n "$unformatted" ]]; then
  echo "gofmt would change: $unformatted"
  exit 1
fi
for module in . ../examples/go ../../tests/clients/go; do
  (cd "$module" && go vet ./...)
done
cd ../../tests/clients/go
race=()
# It is 1 by default where there is a C compiler.
if [[ "$(go env CGO_ENABLED)" == 1 ]]; then
  race=(-race)
fi
go test "${race[@]}" -count=1 -timeout=2m .
if [[ -n "${WAYSTAR_OVERHEAD:-}" ]]; then
  ../overhead.py "$WAYSTAR_BIN" go "go run ./overhead" "$WAYSTAR_EXAMPLES/game_loop"
fi
