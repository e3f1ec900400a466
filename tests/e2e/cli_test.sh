#!/usr/bin/env bash
# A session with the waystar tool against a real server.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

start_server --maps_dir="$SAMPLES"
export WAYSTAR_SERVER="127.0.0.1:$PORT"

expect_code 0 waystar health
expect_text SERVING

expect_code 0 waystar info
expect_text "algorithms     astar"
expect_code 0 waystar top --count 1 --interval 50ms
expect_text "REQUESTS/S"
expect_text "ServerService/GetServerInfo"
expect_code 0 waystar log-level debug
expect_text "The log level is debug now; it was info."
expect_code 0 waystar log-level info

expect_code 0 waystar find ten-by-ten 0,0 7,7 --algorithm astar
cat >"$WORK/expected" <<'TEXT'
  0    5
0 S*#.......
  .*******..
  ..#....*..
  ..#....*..
  ..#...#*#.
5 .......*..
  .......*..
  .......G..
  ..........
  ..........
S start  G goal  * path  # obstacle
TEXT
head -n 12 "$WORK/out" | diff "$WORK/expected" - || fail "the picture differs"
expect_text "14 steps at cost 14"

expect_code 0 waystar --json find ten-by-ten 0,0 7,7
expect_text '"cost":14'

expect_code 0 waystar trace ten-by-ten 0,0 7,7 --algorithm astar
expect_text "14 cells expanded"
expect_text "left open: 20 cells"
expect_code 0 waystar trace ten-by-ten 0,0 7,7 --algorithm astar --events
expect_text "generated 1,0 from 0,0 g=1 f=14"
expect_code 0 waystar --json trace ten-by-ten 0,0 7,7
expect_text '"truncated":false'

# Agents of three kinds, at places in the world.
cat >"$WORK/coast.txt" <<'TEXT'
origin -10 -10
cell_size 2
terrain ~ water impassable
terrain ^ rubble 8
profile hovercraft ~ 1 ^ forbidden
profile tank footprint 2 ^ 1.5
map
..........
..........
###~##^^#.
###~##^^#.
..........
..........
TEXT
expect_code 0 waystar map import "$WORK/coast.txt"
expect_code 0 waystar map show coast
expect_text "tank, 2 x 2 cells, ^ cost 1.5"
expect_code 0 waystar --json find coast 1,0 1,5 --profile hovercraft
expect_text '{"x":3,"y":3}'
expect_code 0 waystar --json find coast 1,0 1,4 --profile tank
expect_text '{"x":6,"y":3}'
expect_code 0 waystar --json find coast 1,0 1,5
expect_text '{"x":9,"y":3}'
expect_code 0 waystar find coast --start-position -7,-9 --goal-position -9.5,-5.5 --snap 3 --profile hovercraft --summary
expect_text "Path found: 1 step at cost 1"
expect_text "Length 2.82843, 0 turns"
expect_code 4 waystar find coast --start-position -7,-9 --goal-position -9.5,-5.5
expect_text "goals[0]"
expect_code 4 waystar find coast 1,0 1,5 --profile ghost
expect_text "no profile"

# Many at once, and the nearest of several places.
printf '1,0 1,5\n0,0 9,5 # far\n' >"$WORK/queries.txt"
expect_code 0 waystar paths coast "$WORK/queries.txt" --profile hovercraft
expect_text "1,0    1,5   found"
expect_code 4 waystar paths coast "$WORK/queries.txt" --block 9,5
expect_text "refused"
expect_code 0 waystar reachable coast 1,0 1,5 0,0 9,5
expect_text "0,0    9,5   yes"
expect_code 3 waystar reachable coast 1,0 1,5 --block 0,2..9,2
expect_text "1,0    1,5   no"
expect_code 0 waystar find coast 1,0 --goal-position 9.5,1.5 --goal-position -9.5,-7 --no-picture
expect_text "-7,-9 -9,-7"

expect_code 0 waystar block ten-by-ten 0,1..9,1 --expect-revision 1
expect_text "revision 2"
expect_code 3 waystar find ten-by-ten 0,0 7,7
expect_code 3 waystar find ten-by-ten 0,0 7,7 --nearest
expect_code 4 waystar block ten-by-ten 5,5 --expect-revision 1
expect_code 0 waystar unblock ten-by-ten 4,1
expect_code 3 waystar find ten-by-ten 0,0 7,7
expect_code 0 waystar unblock ten-by-ten 1,1
expect_code 0 waystar find ten-by-ten 0,0 7,7

expect_code 0 waystar block ten-by-ten 9,9 --request-id once
expect_text "revision 5"
expect_code 0 waystar block ten-by-ten 9,9 --request-id once
expect_text "applied already"
expect_code 4 waystar block ten-by-ten 8,9 --request-id once
expect_text "request-id"
expect_code 0 waystar watch ten-by-ten --from 2 --edits --count 4
expect_text "Watching ten-by-ten, which is at revision 5."
expect_text "Revision 2 at "
expect_text "  block 0,1+10x1"
expect_text "Revision 5 at "
expect_code 4 waystar watch ten-by-ten --from 7
expect_text "latest revision"

expect_code 0 waystar bench twenty-by-fifty --rate 50 --duration 300ms --warm-up 0 --deadline 1m
expect_text " 0 failed"

printf 'type octile\nheight 2\nwidth 4\nmap\n.S.@\n..T.\n' >"$WORK/little.map"
expect_code 0 waystar map import "$WORK/little.map"
expect_code 4 waystar map import "$WORK/little.map"
expect_code 0 waystar map import - --as piped --connectivity 4 --terrain '~=river:3' <<<'..~'
expect_code 0 waystar map import "$SAMPLES/village.tmj" --as hamlet
expect_text "Imported hamlet: 28 x 16 cells"
expect_code 0 waystar map import "$SAMPLES/isle.png" --as islet --terrains "$SAMPLES/isle.terrains"
expect_text "Imported islet: 32 x 20 cells"
expect_code 4 waystar map import "$SAMPLES/isle.png" --as islet2 --terrains <(echo '#204890 sea impassable')
expect_text "pixel (16, 2) of colour #50a0d0ff"
printf 'version 1\n0 little.map 4 2 0 0 2 0 2.00000000\n' >"$WORK/little.map.scen"
expect_code 0 waystar paths little --scenario "$WORK/little.map.scen"
expect_text "1 queries, 1 paths as long as the file says."
expect_code 0 waystar map delete hamlet islet
expect_code 0 waystar map list
expect_text little
expect_text piped
expect_text twenty-by-fifty
expect_code 0 waystar map show piped
expect_text "~ river, cost 3"
expect_code 0 waystar map export little --format moving_ai -o "$WORK/again.map"
diff "$WORK/little.map" "$WORK/again.map" || fail "the map has changed on its way"
expect_code 0 waystar obstacle put little crate 1,0
expect_code 2 waystar map export little -o "$WORK/again.txt"
expect_text "leave out what little has: 1 named obstacle"
expect_code 0 waystar map export little -o "$WORK/again.txt" --lossy
expect_code 0 waystar map export little -o "$WORK/copy.waymap"
expect_code 0 waystar map import "$WORK/copy.waymap"
expect_code 0 waystar obstacle list copy
expect_text crate
expect_code 0 waystar map delete little piped copy
expect_code 4 waystar map show little
expect_text "no map \"little\""

expect_code 0 waystar map create islands --graph "$(dirname "${BASH_SOURCE[0]}")/islands.json"
expect_text "4 nodes, 8 one-way edges"
expect_code 0 waystar map show islands
expect_text "ford 6, bridge 10"
expect_code 0 waystar find islands harbour lighthouse
expect_text "harbour ford lighthouse"
expect_code 0 waystar trace islands harbour lighthouse
expect_text "open   lighthouse  12    12     ford"
expect_text "left open: 2 nodes"
expect_code 0 waystar trace islands harbour lighthouse --events
expect_text "generated ford from harbour g=6 f="
expect_code 0 waystar animate islands harbour lighthouse --algorithm astar --beside dijkstra -o "$WORK/beside.gif"
expect_text "2 nodes expanded"
expect_code 0 waystar obstacle put islands crate disc:3,0,0.5
expect_code 0 waystar find islands harbour lighthouse
expect_text "harbour bridge lighthouse"
expect_code 0 waystar map export islands -o "$WORK/isles.waymap"
expect_code 0 waystar map import "$WORK/isles.waymap"
expect_code 0 waystar find isles harbour lighthouse
expect_text "harbour bridge lighthouse"
expect_code 0 waystar find islands --start-position 1,-1 --goal-position 13,1 --snap 2
expect_text "1,-1 13,1"
expect_code 0 waystar find islands --start-position 0,0 bridge
expect_text "harbour bridge"
expect_code 4 waystar find islands --start-position 1,-1 bridge
expect_text "start"
expect_code 4 waystar find islands harbour lighthouse --footprint 2
expect_text "agent.footprint"
expect_code 0 waystar find islands harbour lighthouse --require-tag dry
expect_text "harbour bridge lighthouse"
expect_code 4 waystar find islands harbour nowhere
expect_code 4 waystar find islands 0,0 1,1
expect_code 2 waystar find islands harbour
expect_code 0 waystar find islands ford harbour lighthouse --summary
expect_text "ford lighthouse"
expect_text "Length 6, 0 turns"
expect_code 0 waystar find islands harbour lighthouse --ignore-obstacle crate --block-node bridge
expect_text "harbour ford lighthouse"
expect_code 3 waystar find islands harbour lighthouse --block-edge harbour,bridge
expect_text "no edges lead there"
expect_code 4 waystar find ten-by-ten 0,0 7,7 --block-node ford
expect_text "a grid has neither nodes nor edges"
expect_code 0 waystar reach islands harbour --max-cost 20
expect_text "20  lighthouse"
expect_text "3 nodes within reach"
expect_code 0 waystar flow islands lighthouse
expect_text "harbour -> bridge     20"
expect_code 0 waystar matrix islands --from harbour ford --to bridge lighthouse
expect_text "harbour  10      20"
expect_code 0 waystar reachable islands harbour lighthouse
expect_text "harbour  lighthouse  yes"
expect_code 3 waystar ray islands ford bridge
expect_text "Blocked by rock after 0.375 of the way, at 6,3"
expect_code 3 waystar ray islands harbour bridge --block disc:3,4,1
expect_text "Blocked after 0.4 of the way"
expect_code 0 waystar sample islands --count 2 --reachable-from harbour
expect_code 0 waystar sample islands --along-edges
expect_text " of it"
expect_code 0 waystar validate islands harbour bridge lighthouse
expect_text "Walkable at cost 20"
expect_code 3 waystar validate islands harbour ford lighthouse
expect_text "Blocked by crate on the way to node 1, ford"
printf 'harbour lighthouse\n' >"$WORK/queries.txt"
expect_code 0 waystar paths islands "$WORK/queries.txt"
expect_text "harbour bridge lighthouse"
expect_code 0 waystar watch-path islands harbour lighthouse --count 1
expect_text "harbour bridge lighthouse"

expect_code 4 waystar find ten-by-ten -1,0 7,7
expect_text "off the map"
expect_code 4 waystar find ten-by-ten zero 7,7
expect_text "the map is a grid"
expect_code 2 waystar find ten-by-ten "0;0" 7,7
expect_code 2 waystar fnid
expect_text "find"

for shell in bash zsh fish; do
  expect_code 0 waystar completion "$shell"
  expect_text unblock
done
eval "$("$BIN/waystar" completion bash)" || fail "bash does not accept its completions"

stop_server TERM || fail "the server ended with $?"
expect_code 5 waystar health
expect_code 5 waystar find ten-by-ten 0,0 7,7
expect_text "$WAYSTAR_SERVER"
echo "passed"
