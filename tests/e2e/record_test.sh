#!/usr/bin/env bash
# A session through `waystar record`, played back against the servers that should and should not agree.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

start_server --maps_dir="$SAMPLES"
mkfifo "$WORK/announcement"
"$BIN/waystar" record "$WORK/session.rec" --listen 127.0.0.1:0 --server "127.0.0.1:$PORT" >"$WORK/announcement" &
RECORDER=$!
exec {ANNOUNCEMENT}<"$WORK/announcement"
read -r -t 60 -u "$ANNOUNCEMENT" line || fail "the recorder does not start"
PROXY="$(sed -E 's/^Recording what is said at ([^ ]+) to .*/\1/' <<<"$line")"

export WAYSTAR_SERVER="$PROXY"
expect_code 0 waystar health
expect_code 0 waystar find ten-by-ten 0,0 7,7
expect_code 0 waystar block ten-by-ten 3,4..6,4 --expect-revision 1
expect_code 0 waystar find ten-by-ten 0,0 7,7
expect_code 4 waystar find ten-by-ten 0,0 70,7
expect_code 0 waystar map create pond 4x3
expect_code 0 waystar find pond 0,0 3,2
expect_code 0 waystar bench tiles --duration 200ms --warm-up 0 --deadline 1m --in-flight 4 --mode stream
kill -TERM "$RECORDER"
timeout 60 cat <&"$ANNOUNCEMENT" >"$WORK/out" || fail "the recorder does not end"
wait "$RECORDER" || fail "the recorder ended with $?"
expect_text "Recorded "
stop_server TERM || fail "the server ended with $?"

start_server --maps_dir="$SAMPLES"
export WAYSTAR_SERVER="127.0.0.1:$PORT"
expect_code 0 waystar replay "$WORK/session.rec"
expect_text "no differences"
# What was blocked is blocked already.
expect_code 1 waystar replay "$WORK/session.rec"
expect_text "MapService/CreateMap"
expect_text "MAP_EXISTS"
expect_code 1 waystar replay "$WORK/session.rec" --json
expect_text '"differences":[{"call":'
expect_code 2 waystar replay "$SAMPLES/tiles.txt"
expect_text "is no recording"
stop_server TERM || fail "the server ended with $?"
expect_code 5 waystar replay "$WORK/session.rec"
echo "passed"
