#!/usr/bin/env bash
# The example in C++. The client libraries test those in other languages.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

start_server --maps_dir="$SAMPLES"
expect 0 "tick 20: 1000 agents, " "$BIN/game_loop" "127.0.0.1:$PORT" 40
expect_text "tick 40: 1000 agents, "
stop_server TERM || fail "the server ended with $?"
echo "passed"
