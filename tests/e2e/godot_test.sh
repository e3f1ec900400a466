#!/usr/bin/env bash
# client/godot exports levels that a server imports, and the script of docs/godot.md walks on one.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
need godot3-server curl
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export HOME=$WORK

# A project with the exporter, and the script of the page.
mkdir "$WORK/project" "$WORK/project/maps"
cd "$WORK/project"
touch project.godot
cp -R "$ROOT/client/godot" waystar
cp "$ROOT"/tests/e2e/godot/*.gd .
# shellcheck disable=SC2016
sed -n '/^```gdscript$/,/^```$/{/^```/!p}' "$ROOT/docs/godot.md" >walker.gd

# A fault in a script does not end Godot.
godot() {
  timeout 60 godot3-server --no-window -s "$@"
}

# export_scene NAME
export_scene() {
  godot waystar/export_waystar.gd "--scene=res://$1.tscn" --out=maps
}

godot make_level.gd >"$WORK/out" 2>&1 || fail "cannot make the level: $(cat "$WORK/out")"
expect 0 "waystar map import maps/yard.obj --mesh-agent-radius 0.5" export_scene yard
expect 0 "waystar map import maps/field.txt" export_scene field
expect 0 "waystar map import maps/plan.obj" export_scene plan
expect 1 "the scene has no tile map and no navigation mesh" export_scene empty
expect 1 'there is no scene "res://none.tscn"' export_scene none

# Layers are one grid: walls above ground, and holes. A hidden layer and what lies beyond is not in it.
printf '%s\n' "origin 16.000000 -16.000000" "cell_size 16.000000" map ..#.... ..#.... ..##... ....... |
  diff - maps/yard.txt || fail "another grid"
# With navigation polygons, they alone are ground.
sed -n 3,6p maps/field.txt | diff <(printf '%s\n' map .#. ..# .##) - || fail "another field"

start_server --http_listen=127.0.0.1:0
http() {
  grep -o 'event=serving_http .*' "$WORK/log" >"$WORK/out"
}
wait_until "the HTTP address" http
server="http://127.0.0.1:$(sed -n 's/.*port=\([0-9]*\).*/\1/p' "$WORK/out")"
expect 0 "24 of them walkable" waystar --server "127.0.0.1:$PORT" map import maps/yard.txt
expect 0 "2 polygons in 1 connected part" waystar --server "127.0.0.1:$PORT" map import maps/yard.obj --as yard-mesh \
  --mesh-agent-radius 0.5
expect 0 "1 connected part" waystar --server "127.0.0.1:$PORT" map import maps/plan.obj

# find_path MAP START GOAL POSITIONS: asks over HTTP.
find_path() {
  expect_code 0 curl -sS "$server/waystar.v1.PathService/FindPath" -d "{\"map\": \"$1\",
    \"start\": {\"position\": $2}, \"goals\": [{\"position\": $3}]}"
  expect_text "\"positions\":[$4]"
}
cells='{"x":24,"y":-8},{"x":40,"y":8},{"x":40,"y":24},{"x":40,"y":40},{"x":56,"y":40},'
cells+='{"x":72,"y":40},{"x":88,"y":40},{"x":104,"y":24},{"x":104,"y":8}'
find_path yard '{"x": 20, "y": -10}' '{"x": 100, "y": 0}' "$cells"
expect_text '"cost":8.8284271'
find_path yard-mesh '{"x": 101, "y": 51, "z": 2}' '{"x": 107, "y": 61, "z": 3}' \
  '{"x":101,"y":51,"z":2},{"x":106,"y":54,"z":2},{"x":107,"y":61,"z":2.875}'
expect_text '"cost":12.9020197'
find_path plan '{"x": 10, "y": 210}' '{"x": 110, "y": 250}' '{"x":10,"y":210},{"x":110,"y":250}'

expect 0 "at (104, 8)" godot walk.gd "--server=$server"
expect_text "path [(24, -8), (40, 8), (40, 24), (40, 40), (56, 40), (72, 40), (88, 40), (104, 24), (104, 8)]"
stop_server TERM || fail "the server stopped with $?"
echo "passed"
