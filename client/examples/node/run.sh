#!/usr/bin/env bash
# run.sh [SERVER]: installs what the example needs, if need be, and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [[ ! -d node_modules ]]; then
  npm ci --no-audit --no-fund --silent
fi
exec node walk.js "$@"
