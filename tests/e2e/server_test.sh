#!/usr/bin/env bash
# waystar-server as a process: its flags from three sources, its log, its signals.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

# For starts that must fail: one that does not is ended.
server() {
  timeout 120 "$BIN/waystar-server" "$@"
}

# max_maps as the server took it: how many maps of a folder with three it loads without an error.
mkdir "$WORK/maps"
for name in a b c; do
  echo '..' >"$WORK/maps/$name.txt"
done
expect_starts() {
  start_server --maps_dir="$WORK/maps" "$@"
  stop_server TERM || fail "the server ended with $?"
}
expect_refuses() {
  expect 1 "the server holds 2 maps, its limit" server --listen=127.0.0.1:0 --maps_dir="$WORK/maps" "$@"
}

expect_starts
expect_refuses --max_maps=2
echo '--max_maps=2' >"$WORK/flags"
expect_refuses --flagfile="$WORK/flags"
WAYSTAR_FLAGFILE="$WORK/flags" expect_refuses
WAYSTAR_MAX_MAPS=2 expect_refuses
# The command line wins over the environment, and that over the file, wherever each stands.
WAYSTAR_MAX_MAPS=2 expect_starts --max_maps=3
WAYSTAR_MAX_MAPS=3 expect_starts --flagfile="$WORK/flags"
expect_starts --max_maps=3 --flagfile="$WORK/flags"
WAYSTAR_MAX_MAPS=3 expect_starts --flagfile "$WORK/flags"

expect 1 "--workers must be 0 to 1024, got -1" server --workers=-1
expect 1 "--max_maps must be 1 to 1000000, got -3" server --max-maps=-3
expect 1 "--max_maps must be 1 to 1000000, got -3" server --max-maps -3
expect 1 "--max_queue_time must be more than 0" server --max_queue_time=0s
expect 1 "--max_connection_age must be 0 to 24h" server --max_connection_age=-1s
expect 1 "--keepalive_time must be more than 0" server --keepalive_time=0s
expect 1 "--max_concurrent_streams must be 1 to" server --max_concurrent_streams=0
expect 1 '--metrics_listen=127.0.0.1:no: port \"no\" is not a number from 0 to 65535; give HOST:PORT' server --listen=127.0.0.1:0 --metrics_listen=127.0.0.1:no
expect 1 '--metrics_listen=localhost:99999: port \"99999\" is not a number from 0 to 65535' server --listen=127.0.0.1:0 --metrics_listen=99999
expect 1 '--listen=0.0.0.0:99999: port \"99999\" is not a number from 0 to 65535; give HOST:PORT' server --listen=0.0.0.0:99999
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about a port: $(cat "$WORK/out")"
expect 1 '--listen=localhost:99999: port \"99999\" is not a number from 0 to 65535' server --listen=99999
expect 1 "--listen=game.example: it has no host, or no port; give HOST:PORT" server --listen=game.example
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about an address: $(cat "$WORK/out")"
start_server
expect 1 "--listen=127.0.0.1:$PORT: it is in use by another program" server "--listen=127.0.0.1:$PORT"
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about a port in use: $(cat "$WORK/out")"
stop_server TERM || fail "the server ended with $?"
expect 1 "--http_listen: nowhere: it has no host, or no port; give HOST:PORT" server --listen=127.0.0.1:0 --http_listen=nowhere
expect 1 "is not an origin: write such as https://game.example" server --listen=127.0.0.1:0 --http_listen=127.0.0.1:0 --http_allow_origin=game.example
expect 1 "--http_allow_origin needs --http_listen" server --http_allow_origin=https://game.example
expect 1 "--http_calls must be 4 to 65536" server --http_calls=1
expect 1 "--log_level must be one of debug, info, warning, error, got loud" server --log_level=loud
expect 1 "--tls_cert and --tls_key go together" server --tls_cert="$WORK/cert.pem"
expect 1 "--tls_client_ca needs --tls_cert and --tls_key" server --tls_client_ca="$WORK/ca.pem"
expect 1 "--http_listen asks for no certificates" server --tls_cert="$WORK/c.pem" --tls_key="$WORK/k.pem" --tls_client_ca="$WORK/ca.pem" \
  --http_listen=127.0.0.1:0
expect 1 "--http_tls needs --http_listen" server --http_tls --tls_cert="$WORK/c.pem" --tls_key="$WORK/k.pem"
expect 1 "--http_tls needs --tls_cert and --tls_key" server --http_tls --http_listen=127.0.0.1:0
expect 1 "cannot read $WORK/cert.pem: No such file" server --tls_cert="$WORK/cert.pem" --tls_key="$WORK/key.pem"
expect 1 "cannot read $WORK/tokens: No such file" server --tokens_file="$WORK/tokens"
expect 1 '--durability must be one of sync, relaxed, got safe' server --durability=safe
expect 1 "--durability=relaxed needs --data_dir" server --durability=relaxed
expect 1 "--sync_interval needs --durability=relaxed" server --data_dir="$WORK/data" --sync_interval=2s
expect 1 "--max_log_mib must be 1 to" server --max_log_mib=0
expect 1 "--cluster: " server --cluster=http://127.0.0.1:2379
expect 1 "--max_staleness must be 0 or 10s to 24h, got 1s" server --cluster=etcd://127.0.0.1 --max_staleness=1s
expect 1 "--max_staleness needs --cluster" server --max_staleness=10s
expect 1 "--scratch_mib must be 0 or 2 to 1048576 MiB, got 1" server --scratch_mib=1
expect 1 "--image_dir needs --cluster" server --image_dir="$WORK"
expect 1 "the flags that begin with --cluster_ need --cluster" server --cluster_password_file="$WORK/password"
expect 1 "$WORK/password" server --listen=127.0.0.1:0 --cluster=etcd://127.0.0.1 --cluster_password_file="$WORK/password"
expect 1 "/proc/waystar" server --listen=127.0.0.1:0 --data_dir=/proc/waystar
expect_code 1 server --no_such_flag=1
expect 1 '\"stray\" is not a flag' server stray
expect 1 "there is no folder" server --maps_dir="$WORK/nowhere"
# What is no map is passed, and named.
echo 'Maps of the demo.' >"$WORK/maps/README.txt"
echo '{}' >"$WORK/maps/tiles.json"
expect_starts
cp "$WORK/log" "$WORK/out"
expect_text "event=file_passed"
expect_text "README.txt"
expect_text "tiles.json"
rm "$WORK/maps/README.txt" "$WORK/maps/tiles.json"
echo '..?' >"$WORK/maps/d.txt"
expect 1 "d.txt: line 1" server --listen=127.0.0.1:0 --maps_dir="$WORK/maps"
# With that flag it starts without the bad ones, and names them; that a limit is reached is no damage.
echo '..' >"$WORK/maps/A.map"
expect_starts --skip_damaged_maps
cp "$WORK/log" "$WORK/out"
expect_text "level=error event=map_skipped"
expect_text "d.txt: line 1"
expect_text "a.txt: there is a map"
expect_text "event=map_loaded map=c"
expect_refuses --skip_damaged_maps --max_maps=2
rm "$WORK/maps/d.txt" "$WORK/maps/A.map"

# A variable that nobody reads has a mistake; those of the tool and of orchestrators have none.
WAYSTAR_MAX_MAP=2 WAYSTAR_max_maps=2 WAYSTAR_TOKEN=t WAYSTAR_SERVICE_HOST=10.0.0.1 WAYSTAR_PORT=tcp://10.0.0.1:7450 \
  WAYSTAR_PORT_7450_TCP_ADDR=10.0.0.1 WAYSTAR_FLAGFILE=/dev/null WAYSTAR_LOG_LEVEL=info expect_starts
grep -o 'event=unknown_variable.*' "$WORK/log" >"$WORK/out" || true
[[ "$(cat "$WORK/out")" == $'event=unknown_variable variable=WAYSTAR_MAX_MAP\nevent=unknown_variable variable=WAYSTAR_max_maps' ]] ||
  fail "other variables than the two that nobody reads: $(cat "$WORK/out")"

# --help ends with 1, as it does in every program of its flag library.
expect 1 "--max_queue_time" server --help
expect_text "--keepalive_timeout"
expect_text "Workers and queues:"
expect_text "--flagfile"
expect_text "waystar-server data"
expect 0 "waystar-server " server --version
expect 2 "waystar-server data check DIR" server data
mkdir "$WORK/data"
expect 0 "All is well" server data check "$WORK/data"

for signal in TERM INT; do
  start_server --maps_dir="$WORK/maps"
  stop_server "$signal" || fail "the server ended with $? after SIG$signal"
  cp "$WORK/log" "$WORK/out"
  expect_text "level=info event=map_loaded map=a"
  expect_text "event=serving"
  expect_text "event=stopping"
  expect_text "event=stopped"
done
echo "passed"
