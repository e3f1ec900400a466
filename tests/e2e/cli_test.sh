#!/usr/bin/env bash
# A session with the waystar tool against a real server.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

start_server --maps_dir="$SAMPLES"
export WAYSTAR_SERVER="127.0.0.1:$PORT"

expect 0 SERVING waystar health

expect 0 "algorithms     astar" waystar info
expect 0 "REQUESTS/S" waystar top --count 1 --interval 50ms
expect_text "ServerService/GetServerInfo"
expect 0 "The log level is debug now; it was info." waystar log-level debug
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

expect 0 '"cost":14' waystar --json find ten-by-ten 0,0 7,7

expect 0 "14 cells expanded" waystar trace ten-by-ten 0,0 7,7 --algorithm astar
expect_text "left open: 20 cells"
expect 0 "generated 1,0 from 0,0 g=1 f=14" waystar trace ten-by-ten 0,0 7,7 --algorithm astar --events
expect 0 '"truncated":false' waystar --json trace ten-by-ten 0,0 7,7

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
expect 0 "tank, 2 x 2 cells, ^ cost 1.5" waystar map show coast
expect 0 '{"x":3,"y":3}' waystar --json find coast 1,0 1,5 --profile hovercraft
expect 0 '{"x":6,"y":3}' waystar --json find coast 1,0 1,4 --profile tank
expect 0 '{"x":9,"y":3}' waystar --json find coast 1,0 1,5
expect 0 "Path found: 1 step at cost 1" waystar find coast --start-position -7,-9 --goal-position -9.5,-5.5 --snap 3 --profile hovercraft --summary
expect_text "Length 2.82843, 0 turns"
expect 4 "goals[0]" waystar find coast --start-position -7,-9 --goal-position -9.5,-5.5
expect 4 "no profile" waystar find coast 1,0 1,5 --profile ghost

# Many at once, and the nearest of several places.
printf '1,0 1,5\n0,0 9,5 # far\n' >"$WORK/queries.txt"
expect 0 "1,0    1,5   found" waystar paths coast "$WORK/queries.txt" --profile hovercraft
expect 4 "refused" waystar paths coast "$WORK/queries.txt" --block 9,5
expect 0 "0,0    9,5   yes" waystar reachable coast 1,0 1,5 0,0 9,5
expect 3 "1,0    1,5   no" waystar reachable coast 1,0 1,5 --block 0,2..9,2
expect 0 "-7,-9 -9,-7" waystar find coast 1,0 --goal-position 9.5,1.5 --goal-position -9.5,-7 --no-picture

expect 0 "revision 2" waystar block ten-by-ten 0,1..9,1 --expect-revision 1
expect_code 3 waystar find ten-by-ten 0,0 7,7
expect_code 3 waystar find ten-by-ten 0,0 7,7 --nearest
expect_code 4 waystar block ten-by-ten 5,5 --expect-revision 1
expect_code 0 waystar unblock ten-by-ten 4,1
expect_code 3 waystar find ten-by-ten 0,0 7,7
expect_code 0 waystar unblock ten-by-ten 1,1
expect_code 0 waystar find ten-by-ten 0,0 7,7

expect 0 "revision 5" waystar block ten-by-ten 9,9 --request-id once
expect 0 "applied already" waystar block ten-by-ten 9,9 --request-id once
expect 4 "request-id" waystar block ten-by-ten 8,9 --request-id once
expect 0 "Watching ten-by-ten, which is at revision 5." waystar watch ten-by-ten --from 2 --edits --count 4
expect_text "Revision 2 at "
expect_text "  block 0,1+10x1"
expect_text "Revision 5 at "
expect 4 "latest revision" waystar watch ten-by-ten --from 7

expect 0 " 0 failed" waystar bench twenty-by-fifty --rate 50 --duration 300ms --warm-up 0 --deadline 1m

printf 'type octile\nheight 2\nwidth 4\nmap\n.S.@\n..T.\n' >"$WORK/little.map"
expect_code 0 waystar map import "$WORK/little.map"
expect_code 4 waystar map import "$WORK/little.map"
expect_code 0 waystar map import - --as piped --connectivity 4 --terrain '~=river:3' <<<'..~'
expect 0 "Imported hamlet: 28 x 16 cells" waystar map import "$SAMPLES/village.tmj" --as hamlet
expect 0 "Imported islet: 32 x 20 cells" waystar map import "$SAMPLES/isle.png" --as islet --terrains "$SAMPLES/isle.terrains"
expect 4 "pixel (16, 2) of colour #50a0d0ff" waystar map import "$SAMPLES/isle.png" --as islet2 --terrains <(echo '#204890 sea impassable')
printf 'version 1\n0 little.map 4 2 0 0 2 0 2.00000000\n' >"$WORK/little.map.scen"
expect 0 "1 queries, 1 paths as long as the file says." waystar paths little --scenario "$WORK/little.map.scen"
expect_code 0 waystar map delete hamlet islet
expect 0 little waystar map list
expect_text piped
expect_text twenty-by-fifty
expect 0 "~ river, cost 3" waystar map show piped
expect_code 0 waystar map export little --format moving_ai -o "$WORK/again.map"
diff "$WORK/little.map" "$WORK/again.map" || fail "the map has changed on its way"
expect_code 0 waystar obstacle put little crate 1,0
expect 2 "leave out what little has: 1 named obstacle" waystar map export little -o "$WORK/again.txt"
expect_code 0 waystar map export little -o "$WORK/again.txt" --lossy
expect_code 0 waystar map export little -o "$WORK/copy.waymap"
expect_code 0 waystar map import "$WORK/copy.waymap"
expect 0 crate waystar obstacle list copy
expect_code 0 waystar map delete little piped copy
expect_code 4 waystar map show little
expect_text "no map \"little\""

expect 0 "4 nodes, 8 one-way edges" waystar map create islands --graph "$(dirname "${BASH_SOURCE[0]}")/islands.json"
expect 0 "ford 6, bridge 10" waystar map show islands
expect 0 "harbour ford lighthouse" waystar find islands harbour lighthouse
expect 0 "open   lighthouse  12    12     ford" waystar trace islands harbour lighthouse
expect_text "left open: 2 nodes"
expect 0 "generated ford from harbour g=6 f=" waystar trace islands harbour lighthouse --events
expect 0 "2 nodes expanded" waystar animate islands harbour lighthouse --algorithm astar --beside dijkstra -o "$WORK/beside.gif"
expect_code 0 waystar obstacle put islands crate disc:3,0,0.5
expect 0 "harbour bridge lighthouse" waystar find islands harbour lighthouse
expect_code 0 waystar map export islands -o "$WORK/isles.waymap"
expect_code 0 waystar map import "$WORK/isles.waymap"
expect 0 "harbour bridge lighthouse" waystar find isles harbour lighthouse
expect 0 "1,-1 13,1" waystar find islands --start-position 1,-1 --goal-position 13,1 --snap 2
expect 0 "harbour bridge" waystar find islands --start-position 0,0 bridge
expect 4 "start" waystar find islands --start-position 1,-1 bridge
expect 4 "agent.footprint" waystar find islands harbour lighthouse --footprint 2
expect 0 "harbour bridge lighthouse" waystar find islands harbour lighthouse --require-tag dry
expect_code 4 waystar find islands harbour nowhere
expect_code 4 waystar find islands 0,0 1,1
expect_code 2 waystar find islands harbour
expect 0 "ford lighthouse" waystar find islands ford harbour lighthouse --summary
expect_text "Length 6, 0 turns"
expect 0 "harbour ford lighthouse" waystar find islands harbour lighthouse --ignore-obstacle crate --block-node bridge
expect 3 "no edges lead there" waystar find islands harbour lighthouse --block-edge harbour,bridge
expect 4 "a grid has neither nodes nor edges" waystar find ten-by-ten 0,0 7,7 --block-node ford
expect 0 "20  lighthouse" waystar reach islands harbour --max-cost 20
expect_text "3 nodes within reach"
expect 0 "harbour -> bridge     20" waystar flow islands lighthouse
expect 0 "harbour  10      20" waystar matrix islands --from harbour ford --to bridge lighthouse
expect 0 "harbour  lighthouse  yes" waystar reachable islands harbour lighthouse
expect 3 "Blocked by rock after 0.375 of the way, at 6,3" waystar ray islands ford bridge
expect 3 "Blocked after 0.4 of the way" waystar ray islands harbour bridge --block disc:3,4,1
expect_code 0 waystar sample islands --count 2 --reachable-from harbour
expect 0 " of it" waystar sample islands --along-edges
expect 0 "Walkable at cost 20" waystar validate islands harbour bridge lighthouse
expect 3 "Blocked by crate on the way to node 1, ford" waystar validate islands harbour ford lighthouse
printf 'harbour lighthouse\n' >"$WORK/queries.txt"
expect 0 "harbour bridge lighthouse" waystar paths islands "$WORK/queries.txt"
expect 0 "harbour bridge lighthouse" waystar watch-path islands harbour lighthouse --count 1

expect 4 "off the map" waystar find ten-by-ten -1,0 7,7
expect 4 "the map is a grid" waystar find ten-by-ten zero 7,7
expect_code 2 waystar find ten-by-ten "0;0" 7,7
expect 2 "find" waystar fnid

for shell in bash zsh fish; do
  expect 0 unblock waystar completion "$shell"
done
eval "$("$BIN/waystar" completion bash)" || fail "bash does not accept its completions"

stop_server TERM || fail "the server ended with $?"
# The port that the server has given back may be another program's by now.
export WAYSTAR_SERVER=127.0.0.1:1
expect_code 5 waystar health
expect 5 "$WAYSTAR_SERVER" waystar find ten-by-ten 0,0 7,7
echo "passed"
