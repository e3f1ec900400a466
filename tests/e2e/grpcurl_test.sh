#!/usr/bin/env bash
# The server as someone with grpcurl sees it: no proto files at hand, only reflection.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

if ! command -v grpcurl >/dev/null; then
  echo "grpcurl is not on the PATH"
  # Where every tool is said to be there, its absence is a fault.
  if [[ "${CI:-}" ]]; then exit 1; else exit 77; fi
fi

call() {
  grpcurl -plaintext -emit-defaults -d "$2" "127.0.0.1:$PORT" "waystar.v1.$1"
}

start_server --maps_dir="$SAMPLES"

expect_code 0 grpcurl -plaintext "127.0.0.1:$PORT" list
expect_text waystar.v1.MapService
expect_text waystar.v1.PathService
expect_text grpc.health.v1.Health
expect_text waystar.v1.ServerService

expect_code 0 grpcurl -plaintext "127.0.0.1:$PORT" describe waystar.v1.FindPathRequest
expect_text "start = 5"

expect_code 0 grpcurl -plaintext -d '{"service": "waystar.v1.PathService"}' "127.0.0.1:$PORT" \
  grpc.health.v1.Health/Check
expect_text '"SERVING"'

expect_code 0 call PathService/FindPath \
  '{"map": "ten-by-ten", "start": {"cell": {"x": 0, "y": 0}}, "goals": [{"cell": {"x": 7, "y": 7}}],
    "path_form": "PATH_FORM_CORNERS"}'
expect_text '"cost": 14,'
expect_text '"outcome": "OUTCOME_FOUND"'
expect_text '"revision": "1"'
expect_text '"search_time": "'

expect_code 0 call PathService/TraceSearch \
  '{"query": {"map": "ten-by-ten", "start": {"cell": {"x": 0, "y": 0}}, "goals": [{"cell": {"x": 1, "y": 0}}],
    "algorithm": "ALGORITHM_ASTAR"}, "max_events": 2}'
expect_text '"kind": "KIND_GENERATED"'
expect_text '"kind": "KIND_EXPANDED"'
expect_text '"outcome": "OUTCOME_FOUND"'
expect_text '"truncated": true'
expect_code 67 call PathService/TraceSearch '{"max_events": 2}'
expect_text '"field": "query"'

expect_code 0 call MapService/CreateMap \
  '{"map": "drawn", "rows": ["..~.", ".#~."], "grid": {"terrains": [{"symbol": "~", "name": "river", "cost": 3}]}}'
expect_text '"walkable_cells": "7"'
expect_text '"kind": "MAP_KIND_SQUARES"'
EPOCH="$(sed -nE 's/.*"epoch": "([0-9]+)".*/\1/p' "$WORK/out")"
readonly EPOCH

# A batch for one version of the map, which is told by epoch and revision together.
readonly BLOCK='"edits": [{"block": {"rectangles": [{"x": 2, "width": 1, "height": 2}]}}]'
readonly FIRST_VERSION="{\"epoch\": \"$EPOCH\", \"revision\": \"1\"}"
expect_code 67 call MapService/UpdateObstacles "{\"map\": \"drawn\", \"expected_version\": {\"revision\": 1}, $BLOCK}"
expect_text '"reason": "BAD_VALUE"'
expect_text '"field": "expected_version.epoch"'
expect_code 73 call MapService/UpdateObstacles \
  "{\"map\": \"drawn\", \"expected_version\": {\"epoch\": \"1\", \"revision\": \"1\"}, $BLOCK}"
expect_text '"reason": "MAP_REPLACED"'
expect_text '"field": "expected_version.epoch"'
expect_code 0 call MapService/UpdateObstacles "{\"map\": \"drawn\", \"expected_version\": $FIRST_VERSION, $BLOCK}"
expect_text '"revision": "2"'
expect_text '"changed_cells": "2"'
expect_code 74 call MapService/UpdateObstacles "{\"map\": \"drawn\", \"expected_version\": $FIRST_VERSION, $BLOCK}"
expect_text '"reason": "STALE_REVISION"'
expect_text '"field": "expected_version"'

expect_code 0 call PathService/FindPath \
  '{"map": "drawn", "start": {"cell": {"x": 0, "y": 0}}, "goals": [{"cell": {"x": 3, "y": 0}}]}'
expect_text '"outcome": "OUTCOME_UNREACHABLE"'
expect_text '"reason": "REASON_NO_ROUTE"'

# An agent for whom the river is a road, and one that the map gives a name.
expect_code 0 call MapService/CreateMap \
  '{"map": "shore", "rows": ["..~.", ".#~."], "grid": {"terrains": [{"symbol": "~", "cost": 3}]}}'
expect_code 0 call PathService/FindPath \
  '{"map": "shore", "start": {"cell": {"x": 0, "y": 0}}, "goals": [{"cell": {"x": 3, "y": 0}}],
    "with_summary": true, "agent": {"profile": {"terrain_costs": [{"terrain": "~", "cost": 0.5}]}}}'
expect_text '"cost": 2.5,'
expect_text '"terrain": "~"'
expect_code 0 call MapService/UpdateObstacles \
  '{"map": "shore", "edits": [{"put_profile": {"named": {"name": "crab", "profile": {"no_diagonals": true}}}}]}'
expect_code 0 call PathService/FindPath \
  '{"map": "shore", "start": {"position": {"x": 0.5, "y": 0.5}}, "goals": [{"position": {"x": 0, "y": 1}}],
    "agent": {"profile_name": "crab"}}'
expect_text '"cost": 1,'
expect_text '"y": 1.5'
expect_code 67 call PathService/FindPath \
  '{"map": "shore", "start": {"cell": {}}, "goals": [{"cell": {}}], "agent": {"profile": {"forbidden_terrains": [".", "~"]}}}'
expect_text '"reason": "BAD_PROFILE"'
expect_text '"field": "agent.profile.forbidden_terrains"'
expect_code 67 call PathService/FindPath '{"map": "shore", "start": {}, "goals": [{"cell": {}}]}'
expect_text '"reason": "MISSING_FIELD"'
expect_text '"field": "start"'
expect_code 67 call PathService/FindPath '{"map": "shore", "start": {"cell": {}}}'
expect_text '"field": "goals"'

# A wall moves a start only as far as a snap lets it.
readonly FROM_THE_WALL='"map": "shore", "start": {"position": {"x": 1.4, "y": 1.5}}, "goals": [{"cell": {"x": 0, "y": 0}}]'
expect_code 73 call PathService/FindPath "{$FROM_THE_WALL}"
expect_text '"reason": "START_BLOCKED"'
expect_code 73 call PathService/FindPath "{$FROM_THE_WALL, \"snap\": {\"radius\": 0.5}}"
expect_code 0 call PathService/FindPath "{$FROM_THE_WALL, \"snap\": {\"radius\": 1}}"
expect_text '"cost": 1,'
expect_code 67 call PathService/FindPath "{$FROM_THE_WALL, \"snap\": {}}"
expect_text '"field": "snap.radius"'

# A ray is drawn from the centre of a cell, and what it meets is a place in the world.
expect_code 0 call PathService/CastRay \
  '{"map": "shore", "from": {"cell": {"x": 0, "y": 1}}, "to": {"position": {"x": 3.5, "y": 1.5}}}'
expect_text '"x": 1,'
expect_text '"y": 1.5'
expect_code 0 call PathService/ComputeCostMatrix \
  '{"map": "shore", "starts": [{"cell": {"x": 0, "y": 0}}], "goals": [{"cell": {"x": 1, "y": 0}}]}'
expect_text '"costs": ['

# An obstacle with a name: the shortest way, along row 3, goes round it until it is moved away.
expect_code 0 call MapService/CreateMap \
  '{"map": "field", "blank": {"width": 9, "height": 7}, "grid": {"squares": {"connectivity": "CONNECTIVITY_FOUR"}}}'
readonly ALONG_ROW_3='"map": "field", "start": {"cell": {"x": 0, "y": 3}}, "goals": [{"cell": {"x": 8, "y": 3}}]'
expect_code 0 call PathService/FindPath "{$ALONG_ROW_3}"
expect_text '"cost": 8,'
expect_code 0 call MapService/UpdateObstacles \
  '{"map": "field", "edits": [{"put_obstacle": {"obstacle": {
    "id": "crater", "shape": {"discs": [{"center": {"x": 4, "y": 3}, "radius": 2}]}, "lifetime": "3600s"}}}]}'
expect_text '"changed_cells": "13"'
expect_code 0 call MapService/ListObstacles '{"map": "field"}'
expect_text '"id": "crater"'
expect_text '"radius": 2'
expect_text '"lifetime": "3'
expect_code 0 call PathService/FindPath "{$ALONG_ROW_3}"
expect_text '"cost": 14,'
expect_code 0 call PathService/FindPath "{$ALONG_ROW_3, \"view\": {\"overlay\": {\"ignored_obstacles\": [\"crater\"]}}}"
expect_text '"cost": 8,'

expect_code 70 call MapService/UpdateObstacles \
  '{"map": "field", "edits": [{"put_obstacle": {"obstacle": {"id": "crater", "shape": {"cells": [{}]}}}}]}'
expect_text "OBSTACLE_EXISTS"
# The part that leaves the map is clipped.
expect_code 0 call MapService/UpdateObstacles \
  '{"map": "field", "edits": [{"move_obstacle": {"id": "crater", "dy": -3}}]}'
expect_text '"clipped_cells": "4"'
expect_code 0 call PathService/FindPath "{$ALONG_ROW_3}"
expect_text '"cost": 8,'
expect_text '"revision": "3"'
expect_code 0 call MapService/UpdateObstacles '{"map": "field", "edits": [{"remove_obstacle": {"id": "crater"}}]}'
expect_text '"changed_cells": "9"'
expect_code 0 call MapService/ListObstacles '{"map": "field"}'
expect_text '"obstacles": []'
expect_code 69 call MapService/UpdateObstacles \
  '{"map": "field", "edits": [{"remove_obstacle": {"id": "crater"}}]}'
expect_text "OBSTACLE_NOT_FOUND"
expect_text '"edits[0].remove_obstacle.id"'

# Two batches on one stream: one applied, one refused.
expect_code 0 call MapService/StreamObstacleUpdates \
  '{"update": {"map": "drawn", "edits": [{"unblock": {"cells": [{"x": 2, "y": 1}]}}]}}
   {"update": {"map": "drawn", "edits": [{"block": {"cells": [{"x": 9, "y": 1}]}}]}}'
expect_text '"revision": "3"'
expect_text '"index": "1"'
expect_text '"reason": "OFF_MAP"'

# A watch goes on until the map is deleted.
expect_code 67 call MapService/WatchMap '{"map": "drawn", "after": {"revision": 1}}'
expect_text '"field": "after.epoch"'
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
expect_code 0 call MapService/CreateMap '{"map": "drawn", "rows": ["..~.", ".#~."], "grid": {"terrains": [{"symbol": "~"}]}}'

# grpcurl ends with 64 plus the code of the answer, and prints the details.
expect_code 69 call PathService/FindPath '{"map": "nowhere", "start": {"cell": {}}, "goals": [{"cell": {}}]}'
expect_text "NotFound"
expect_text "MAP_NOT_FOUND"
expect_code 67 call MapService/CreateMap '{"map": "../x", "rows": ["."]}'
expect_text "BAD_MAP_ID"
expect_code 75 call PathService/FindPath '{"map": "drawn", "start": {"cell": {"x": 9}}, "goals": [{"cell": {}}]}'
expect_text '"field": "start"'

stop_server TERM || fail "the server ended with $?"
echo "passed"
