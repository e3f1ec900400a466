#!/usr/bin/env bash
# run.sh [SERVER]: generates what the example imports, if need be, and runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
./generate.sh
exec go run . "$@"
