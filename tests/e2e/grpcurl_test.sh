#!/usr/bin/env bash
# The server as someone with grpcurl sees it: no proto files at hand, only reflection. docs/api.md, which is run as
# well, shows what answers look like.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

need grpcurl

call() {
  grpcurl -plaintext -emit-defaults -d "$2" "127.0.0.1:$PORT" "waystar.v1.$1"
}

start_server --maps_dir="$SAMPLES"

expect 0 waystar.v1.MapService grpcurl -plaintext "127.0.0.1:$PORT" list
expect_text waystar.v1.PathService
expect_text waystar.v1.PictureService
expect_text grpc.health.v1.Health
expect_text waystar.v1.ServerService

expect 0 "start = 5" grpcurl -plaintext "127.0.0.1:$PORT" describe waystar.v1.FindPathRequest

expect 0 '"SERVING"' grpcurl -plaintext -d '{"service": "waystar.v1.PathService"}' "127.0.0.1:$PORT" \
  grpc.health.v1.Health/Check

expect 67 '"field": "query"' call PictureService/TraceSearch '{"max_events": 2}'

expect 0 '"kind": "MAP_KIND_SQUARES"' call MapService/CreateMap \
  '{"map": "drawn", "rows": ["..~.", ".#~."], "grid": {"terrains": [{"symbol": "~", "name": "river", "cost": 3}]}}'
EPOCH="$(sed -nE 's/.*"epoch": "([0-9]+)".*/\1/p' "$WORK/out")"
readonly EPOCH

# A batch for one version of the map, which is told by epoch and revision together.
readonly BLOCK='"edits": [{"block": {"rectangles": [{"x": 2, "width": 1, "height": 2}]}}]'
readonly FIRST_VERSION="{\"epoch\": \"$EPOCH\", \"revision\": \"1\"}"
expect 0 '"revision": "2"' call MapService/UpdateMap "{\"map\": \"drawn\", \"expected_version\": $FIRST_VERSION, $BLOCK}"
expect_text '"changed_cells": "2"'
expect 74 '"reason": "STALE_REVISION"' call MapService/UpdateMap "{\"map\": \"drawn\", \"expected_version\": $FIRST_VERSION, $BLOCK}"
expect_text '"field": "expected_version"'

expect 0 '"changed_cells": "1"' call MapService/UpdateMap \
  '{"map": "ten-by-ten", "edits": [{"add_obstacle": {"id": "crater", "shape": {"cells": [{"x": 5, "y": 8}]}}}]}'
expect 70 "OBSTACLE_EXISTS" call MapService/UpdateMap \
  '{"map": "ten-by-ten", "edits": [{"add_obstacle": {"id": "crater", "shape": {"cells": [{}]}}}]}'
expect 69 "OBSTACLE_NOT_FOUND" call MapService/UpdateMap \
  '{"map": "ten-by-ten", "edits": [{"remove_obstacle": "hole"}]}'
expect_text '"edits[0].remove_obstacle"'

# Two batches on one stream: one applied, one refused.
expect 0 '"revision": "3"' call MapService/StreamUpdates \
  '{"update": {"map": "drawn", "edits": [{"unblock": {"cells": [{"x": 2, "y": 1}]}}]}}
   {"update": {"map": "drawn", "edits": [{"block": {"cells": [{"x": 9, "y": 1}]}}]}}'
expect_text '"index": "1"'
expect_text '"reason": "OFF_MAP"'

# A watch goes on until the map is deleted.
expect 67 '"field": "after.epoch"' call MapService/WatchMap '{"map": "drawn", "after": {"revision": 1}}'
mkfifo "$WORK/watch"
call MapService/WatchMap "{\"map\": \"drawn\", \"after\": $FIRST_VERSION, \"with_edits\": true}" >"$WORK/watch" 2>&1 &
WATCH_PID=$!
exec {WATCH}<"$WORK/watch"
while IFS= read -r -t 60 -u "$WATCH" line || fail "the watch does not tell of revision 3"; do
  echo "$line" >>"$WORK/watched"
  [[ "$line" != *'"revision": "3"'* ]] || [[ "$(grep -c '"revision": "3"' "$WORK/watched")" -lt 2 ]] || break
done
expect_code 0 call MapService/DeleteMap '{"map": "drawn"}'
timeout 60 cat <&"$WATCH" >>"$WORK/watched" || fail "the watch does not end"
code=0
wait "$WATCH_PID" || code=$?
((code == 69)) || fail "the watch ended with $code: $(cat "$WORK/watched")"
cp "$WORK/watched" "$WORK/out"
expect_text '"watching"'
expect_text '"commit"'
expect_text '"unblock"'
expect_text "MAP_NOT_FOUND"

# grpcurl ends with 64 plus the code of the answer, and prints the details.
expect 69 "NotFound" call PathService/FindPath '{"map": "nowhere", "start": {"cell": {}}, "goals": [{"cell": {}}]}'
expect_text "MAP_NOT_FOUND"
expect 67 "BAD_MAP_ID" call MapService/CreateMap '{"map": "../x", "rows": ["."]}'
expect 75 '"field": "start"' call PathService/FindPath '{"map": "tiles", "start": {"cell": {"x": 99}}, "goals": [{"cell": {}}]}'

stop_server TERM || fail "the server ended with $?"
echo "passed"
