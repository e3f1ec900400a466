#!/usr/bin/env bash
# run.sh [follow] [ARGUMENT...]: installs what the examples need, if need be, and runs walk.js, or follow.js.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [[ ! -d node_modules ]]; then
  npm ci --no-audit --no-fund --silent
fi
PROGRAM=walk
if [[ "${1:-}" == follow ]]; then
  PROGRAM=$1
  shift
fi
exec node "$PROGRAM.js" "$@"
