#!/usr/bin/env bash
# test.sh BIN: tests the client library against servers from folder BIN. Exits 77 if build.sh does.
set -euo pipefail
BIN="$(cd "$1" && pwd)"
cd "$(dirname "${BASH_SOURCE[0]}")"
ROOT="$(cd ../.. && pwd)"
WORK="$ROOT/build/clients/typescript"
./build.sh "$WORK/package"

# The package is installed as users of the examples do it, and the tests import it from there. Of the modules of the
# build, which spare downloads, npm keeps only those that the package asks for.
rm -rf "$WORK/user"
cp -r "$ROOT/client/examples/node" "$WORK/user"
cd "$WORK/user"
rm -rf build node_modules
cp -r "$WORK/package" build
cp -r "$ROOT/tests/clients/typescript" tests
cp -r "$WORK/node_modules" .
npm install --offline --no-package-lock --ignore-scripts --no-audit --no-fund --silent
../node_modules/.bin/tsc --project tests
WAYSTAR_BIN="$BIN" timeout 120 node --test --test-concurrency=3 --test-reporter=spec build/tests/*.test.js
if [[ -n "${WAYSTAR_OVERHEAD:-}" ]]; then
  "$ROOT/tests/clients/overhead.py" "$BIN" typescript "node build/tests/overhead.js" "node game_loop.js"
fi
