#!/usr/bin/env bash
# test.sh BIN: tests the client library against servers from folder BIN. Exits 77 if build.sh does.
set -euo pipefail
BIN="$(cd "$1" && pwd)"
cd "$(dirname "${BASH_SOURCE[0]}")"
ROOT="$(cd ../.. && pwd)"
WORK="$ROOT/build/clients/typescript"
./build.sh "$WORK/package"

# The tests and the example import the package as its users do.
rm -rf "$WORK"/{tests,example}
cp -r "$ROOT/tests/clients/typescript" "$WORK/tests"
cp -r example "$WORK/example"
cd "$WORK"
node_modules/.bin/tsc --project tests
WAYSTAR_BIN="$BIN" exec timeout 120 node --test --test-reporter=spec build/tests/
