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
  expect_code 1 server --listen=127.0.0.1:0 --maps_dir="$WORK/maps" "$@"
  expect_text "the server holds 2 maps, its limit"
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

expect_code 1 server --workers=-1
expect_text "--workers is from 0 to 1024, not -1"
expect_code 1 server --max_queue_time=0s
expect_text "--max_queue_time is more than 0"
expect_code 1 server --max_connection_age=-1s
expect_text "--max_connection_age is from 0 to 24h"
expect_code 1 server --keepalive_time=0s
expect_text "--keepalive_time is more than 0"
expect_code 1 server --max_concurrent_streams=0
expect_text "--max_concurrent_streams is from 1 to"
expect_code 1 server --listen=127.0.0.1:0 --metrics_listen=127.0.0.1:no
expect_text '--metrics_listen=127.0.0.1:no: port \"no\" is not a number from 0 to 65535; give HOST:PORT'
expect_code 1 server --listen=127.0.0.1:0 --metrics_listen=99999
expect_text '--metrics_listen=localhost:99999: port \"99999\" is not a number from 0 to 65535'
expect_code 1 server --listen=0.0.0.0:99999
expect_text '--listen=0.0.0.0:99999: port \"99999\" is not a number from 0 to 65535; give HOST:PORT'
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about a port: $(cat "$WORK/out")"
expect_code 1 server --listen=7470
expect_text "--listen=7470: it has no host, or no port; give HOST:PORT"
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about an address: $(cat "$WORK/out")"
start_server
expect_code 1 server "--listen=127.0.0.1:$PORT"
expect_text "--listen=127.0.0.1:$PORT: it is in use by another program"
[[ "$(wc -l <"$WORK/out")" == 1 ]] || fail "more than a line about a port in use: $(cat "$WORK/out")"
stop_server TERM || fail "the server ended with $?"
expect_code 1 server --listen=127.0.0.1:0 --http_listen=nowhere
expect_text "--http_listen: nowhere: it has no host, or no port; give HOST:PORT"
expect_code 1 server --listen=127.0.0.1:0 --http_listen=127.0.0.1:0 --http_allow_origin=game.example
expect_text "is no origin: write such as https://game.example"
expect_code 1 server --http_allow_origin=https://game.example
expect_text "--http_allow_origin needs --http_listen"
expect_code 1 server --http_calls=1
expect_text "--http_calls is from 4 to 65536"
expect_code 1 server --log_level=loud
expect_code 1 server --tls_cert="$WORK/cert.pem"
expect_text "--tls_cert and --tls_key go together"
expect_code 1 server --tls_client_ca="$WORK/ca.pem"
expect_text "--tls_client_ca needs --tls_cert and --tls_key"
expect_code 1 server --tls_cert="$WORK/c.pem" --tls_key="$WORK/k.pem" --tls_client_ca="$WORK/ca.pem" \
  --http_listen=127.0.0.1:0
expect_text "--http_listen asks for no certificates"
expect_code 1 server --http_tls --tls_cert="$WORK/c.pem" --tls_key="$WORK/k.pem"
expect_text "--http_tls needs --http_listen"
expect_code 1 server --http_tls --http_listen=127.0.0.1:0
expect_text "--http_tls needs --tls_cert and --tls_key"
expect_code 1 server --tls_cert="$WORK/cert.pem" --tls_key="$WORK/key.pem"
expect_text "cannot read $WORK/cert.pem: No such file"
expect_code 1 server --tokens_file="$WORK/tokens"
expect_text "cannot read $WORK/tokens: No such file"
expect_code 1 server --durability=safe
expect_text '--durability must be sync or relaxed, not \"safe\"'
expect_code 1 server --durability=relaxed
expect_text "--durability=relaxed needs --data_dir"
expect_code 1 server --data_dir="$WORK/data" --sync_interval=2s
expect_text "--sync_interval needs --durability=relaxed"
expect_code 1 server --max_log_mib=0
expect_text "--max_log_mib is from 1 to"
expect_code 1 server --cluster=http://127.0.0.1:2379
expect_text "--cluster: "
expect_code 1 server --cluster=etcd://127.0.0.1 --max_staleness=1s
expect_text "--max_staleness needs --cluster, and is 10s or more"
expect_code 1 server --image_dir="$WORK"
expect_text "--image_dir needs --cluster"
expect_code 1 server --cluster_password_file="$WORK/password"
expect_text "the flags that begin with --cluster_ need --cluster"
expect_code 1 server --listen=127.0.0.1:0 --cluster=etcd://127.0.0.1 --cluster_password_file="$WORK/password"
expect_text "$WORK/password"
expect_code 1 server --listen=127.0.0.1:0 --data_dir=/proc/waystar
expect_text "/proc/waystar"
expect_code 1 server --no_such_flag=1
expect_code 1 server stray
expect_text '\"stray\" is no flag'
expect_code 1 server --maps_dir="$WORK/nowhere"
expect_text "there is no folder"
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
expect_code 1 server --listen=127.0.0.1:0 --maps_dir="$WORK/maps"
expect_text "d.txt: line 1"
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
expect_code 1 server --help
expect_text "--max_queue_time"
expect_text "--keepalive_timeout"
expect_text "waystar-server data"
expect_code 0 server --version
expect_text "waystar-server "
expect_code 2 server data
expect_text "waystar-server data check DIR"
mkdir "$WORK/data"
expect_code 0 server data check "$WORK/data"
expect_text "All is well"

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
