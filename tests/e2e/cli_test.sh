#!/usr/bin/env bash
# A session with the waystar tool against a real server: what the pages below docs/, which are run as well, do not show.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

start_server --maps_dir="$SAMPLES"
export WAYSTAR_SERVER="127.0.0.1:$PORT"

expect 0 SERVING waystar health
expect 0 "jump point search" waystar info
expect 0 "generated 1,0 from 0,0 g=1 f=14" waystar trace ten-by-ten 0,0 7,7 --algorithm astar --events
expect_text "left open: 20 cells"
expect 0 '"truncated":false' waystar --json trace ten-by-ten 0,0 7,7

# What is asked for and cannot be has exit codes of its own.
expect 4 "goals[0]" waystar find ten-by-ten 0,0 --goal-position -9.5,-5.5
expect 4 "no profile" waystar find ten-by-ten 0,0 7,7 --profile ghost
expect 4 "a grid has neither nodes nor edges" waystar find ten-by-ten 0,0 7,7 --block-node ford
expect 4 "off the map" waystar find ten-by-ten -1,0 7,7
expect 4 "the map is a grid" waystar find ten-by-ten zero 7,7
expect_code 2 waystar find ten-by-ten "0;0" 7,7
expect 2 "find" waystar fnid
printf '0,0 7,7\n0,0 9,9 # far\n' >"$WORK/queries.txt"
expect 0 "0,0    7,7   found" waystar paths ten-by-ten "$WORK/queries.txt" --footprint 1
expect 4 "refused" waystar paths ten-by-ten "$WORK/queries.txt" --block 9,9
expect 0 "0,0    7,7   yes" waystar reachable ten-by-ten 0,0 7,7
expect 3 "0,0    7,7   no" waystar reachable ten-by-ten 0,0 7,7 --block 0,1..9,1

expect 0 "revision 2" waystar block ten-by-ten 0,1..9,1 --expect-revision 1
expect_code 3 waystar find ten-by-ten 0,0 7,7
expect_code 3 waystar find ten-by-ten 0,0 7,7 --nearest
expect_code 0 waystar unblock ten-by-ten 1,1 --request-id once
expect 4 "request-id" waystar unblock ten-by-ten 8,9 --request-id once
expect_code 0 waystar find ten-by-ten 0,0 7,7
expect 0 "Watching ten-by-ten, which is at revision 3." waystar watch ten-by-ten --from 2 --edits --count 2
expect_text "  block 0,1+10x1"
expect_text "Revision 3 at "
expect 4 "latest revision" waystar watch ten-by-ten --from 7

printf 'type octile\nheight 2\nwidth 4\nmap\n.S.@\n..T.\n' >"$WORK/little.map"
expect_code 0 waystar map import "$WORK/little.map"
expect_code 4 waystar map import "$WORK/little.map"
expect_code 0 waystar map import - --as piped --connectivity 4 --terrain '~=river:3' <<<'..~'
expect 4 "pixel (16, 2) of colour #50a0d0ff" waystar map import "$SAMPLES/isle.png" --as islet2 --terrains <(echo '#204890 sea impassable')
printf 'version 1\n0 little.map 4 2 0 0 2 0 2.00000000\n' >"$WORK/little.map.scen"
expect 0 "1 queries, 1 paths as long as the file says." waystar paths little --scenario "$WORK/little.map.scen"
expect 0 little waystar map list
expect 0 "~       river   3" waystar map show piped
expect_code 0 waystar map export little --format moving_ai -o "$WORK/again.map"
diff "$WORK/little.map" "$WORK/again.map" || fail "the map has changed on its way"
expect_code 0 waystar obstacle put little crate 1,0
expect_code 0 waystar map export little -o "$WORK/copy.waymap"
expect_code 0 waystar map import "$WORK/copy.waymap"
expect 0 crate waystar obstacle list copy
expect_code 0 waystar map delete little piped copy
expect_code 4 waystar map show little
expect_text "no map \"little\""

expect 0 "4 nodes, 8 one-way edges" waystar map create islands --graph "$(dirname "${BASH_SOURCE[0]}")/islands.json"
expect 0 "ford 6, bridge 10" waystar map show islands
expect 0 "generated ford from harbour g=6 f=" waystar trace islands harbour lighthouse --events
expect 4 "agent.footprint" waystar find islands harbour lighthouse --footprint 2
expect_code 4 waystar find islands harbour nowhere
expect_code 4 waystar find islands 0,0 1,1
expect_code 2 waystar find islands harbour
expect 4 "start" waystar find islands --start-position 1,-1 bridge
expect 0 "harbour  lighthouse  yes" waystar reachable islands harbour lighthouse
expect 3 "Blocked after 0.4 of the way" waystar ray islands harbour bridge --block disc:3,4,1
expect 0 "Walkable at cost 20" waystar validate islands harbour bridge lighthouse
expect 0 "harbour bridge lighthouse" waystar paths islands <(echo harbour lighthouse) --block-node ford

eval "$("$BIN/waystar" completion bash)" || fail "bash does not accept its completions"
COMP_LINE="$BIN/waystar map show ten" COMP_POINT=${#COMP_LINE}
_waystar waystar ten
[[ ${COMPREPLY[*]} == ten-by-ten ]] || fail "bash completes ten to ${COMPREPLY[*]}"

stop_server TERM || fail "the server ended with $?"
# The port that the server has given back may be another program's by now.
export WAYSTAR_SERVER=127.0.0.1:1
expect_code 5 waystar health
expect 5 "$WAYSTAR_SERVER" waystar find ten-by-ten 0,0 7,7
echo "passed"
