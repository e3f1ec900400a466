#!/usr/bin/env bash
# docker/haproxy.cfg in front of a server: what it lets through, and what it refuses as gRPC clients understand it.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
CONFIGURATION="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../docker" && pwd)/haproxy.cfg"
need grpcurl haproxy openssl
make_certificate
cat "$WORK/cert.pem" "$WORK/key.pem" >"$WORK/gateway.pem"
token="$(new_token player 'update:*')"
start_server --maps_dir="$SAMPLES" --tokens_file="$WORK/tokens" --max_address_connections=8100

export WAYSTAR_GATEWAY_SERVER="127.0.0.1:$PORT" WAYSTAR_GATEWAY_CERT="$WORK/gateway.pem"
gateway_pid=
trap 'kill ${gateway_pid:+"$gateway_pid"} 2>/dev/null || true; cleanup' EXIT

# start_gateway: behind a socket that listens before haproxy starts, on a port that becomes $gateway_port.
start_gateway() {
  python3 -c '
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
listener.set_inheritable(True)
with open(sys.argv[2], "w") as file:
    print(listener.getsockname()[1], file=file)
os.environ["WAYSTAR_GATEWAY_LISTEN"] = f"fd@{listener.fileno()}"
os.execvp("haproxy", ["haproxy", "-db", "-f", sys.argv[1]])
' "$CONFIGURATION" "$WORK/gateway_port" >"$WORK/gateway.log" 2>&1 &
  gateway_pid=$!
  listens() {
    kill -0 "$gateway_pid" || fail "haproxy did not start: $(cat "$WORK/gateway.log")"
    [[ -s "$WORK/gateway_port" ]]
  }
  wait_until "the gateway to listen" listens
  gateway_port="$(cat "$WORK/gateway_port")"
  rm "$WORK/gateway_port"
}
WAYSTAR_GATEWAY_LISTEN=127.0.0.1:1 haproxy -c -q -f "$CONFIGURATION" || fail "haproxy does not take its configuration"
WAYSTAR_FLEET_LISTEN=127.0.0.1:1 WAYSTAR_FLEET_1=127.0.0.1:2 WAYSTAR_FLEET_2=127.0.0.1:3 WAYSTAR_FLEET_3=127.0.0.1:4 \
  haproxy -c -q -f "${CONFIGURATION%.cfg}-cluster.cfg" || fail "haproxy does not take the configuration of a fleet"
start_gateway

# call TOKEN [FLAG...] RPC
call() {
  local token=$1
  shift
  grpcurl -cacert "$WORK/cert.pem" -H "authorization: Bearer $token" "${@:1:$#-1}" "localhost:$gateway_port" "${@:$#}"
}
query='{"map": "ten-by-ten", "start": {"cell": {"x": 0, "y": 0}}, "goals": [{"cell": {"x": 7, "y": 7}}]}'
expect 0 OUTCOME_FOUND call "$token" -d "$query" waystar.v1.PathService/FindPath
# Statuses, errors' details and deadlines are the server's.
expect 80 BAD_TOKEN call wrong -d "$query" waystar.v1.PathService/FindPath
expect_code 69 call "$token" -d '{"map": "nowhere"}' waystar.v1.MapService/GetMap
# A slow machine may come to the watch only after its time; then it is made again.
watches_until_its_time() {
  local code=0
  call "$token" -max-time 1 -d '{"map": "ten-by-ten"}' waystar.v1.MapService/WatchMap >"$WORK/out" 2>&1 || code=$?
  ((code == 68)) && grep -qF watching "$WORK/out"
}
wait_until "a watch that begins, and ends at its time" watches_until_its_time
expect_code 0 call "$token" -d '{"map": "ten-by-ten"}' waystar.v1.MapService/ExportMap
expect 0 '"id": "2"' call "$token" -d "{\"queries\": [{\"id\": 1, \"query\": $query}]} {\"queries\": [{\"id\": 2, \"query\": $query}]}" \
  waystar.v1.PathService/StreamFindPath

# restart_gateway NAME=VALUE: with this variable.
restart_gateway() {
  kill "$gateway_pid"
  wait "$gateway_pid" || true
  local -x "${1?}"
  start_gateway
}

# More open calls than one address may have are refused, until one of them ends. Reflection would be one more.
proto="$(dirname "$CONFIGURATION")/../proto"
protos=(-import-path "$proto" -import-path "$proto/third_party"
  -proto waystar/v1/map_service.proto -proto waystar/v1/path_service.proto)
restart_gateway WAYSTAR_GATEWAY_ADDRESS_CALLS=1
grpcurl -cacert "$WORK/cert.pem" -H "authorization: Bearer $token" "${protos[@]}" -d '{"map": "ten-by-ten"}' \
  "localhost:$gateway_port" waystar.v1.MapService/WatchMap >"$WORK/watch" 2>&1 &
watch_pid=$!
wait_until "a watch that begins" grep -qF watching "$WORK/watch"
expect 72 "too many open calls from this address" call "$token" "${protos[@]}" -d "$query" waystar.v1.PathService/FindPath
kill "$watch_pid"
wait "$watch_pid" || true
finds_or_waits() {
  call "$token" "${protos[@]}" -d "$query" waystar.v1.PathService/FindPath >"$WORK/out" 2>&1 && return
  expect_text "too many open calls from this address"
  return 1
}
wait_until "the place of the watch that has ended" finds_or_waits
expect_text OUTCOME_FOUND

# More calls in a second than one token may make are refused as the server would refuse them.
restart_gateway WAYSTAR_GATEWAY_TOKEN_RATE=1
makes_one_too_many() {
  local calls=()
  for _ in {1..8}; do
    call "$token" -d "$query" waystar.v1.PathService/FindPath >>"$WORK/out" 2>&1 &
    calls+=("$!")
  done
  wait "${calls[@]}" || true
  grep -qF "too many calls with this token" "$WORK/out"
}
wait_until "a call that is one too many" makes_one_too_many
expect_text ResourceExhausted
