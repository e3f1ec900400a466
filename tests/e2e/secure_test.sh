#!/usr/bin/env bash
# A server with certificates and tokens, as docs/security.md sets it up.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
need grpcurl openssl
make_certificate

# What is asked for goes for HTTP too.
expect 1 "would send without encryption what --tls_cert is to encrypt: --http_tls encrypts it as well" timeout 120 "$BIN/waystar-server" --listen=127.0.0.1:0 --http_listen=0.0.0.0:0 \
  --tls_cert="$WORK/cert.pem" --tls_key="$WORK/key.pem"

designer="$(new_token designer 'admin:*')"
player="$(new_token player 'read:t*')"

start_server --maps_dir="$SAMPLES" --tls_cert="$WORK/cert.pem" --tls_key="$WORK/key.pem" --tokens_file="$WORK/tokens"

# call TOKEN RPC JSON
call() {
  grpcurl -cacert "$WORK/cert.pem" -H "authorization: Bearer $1" -d "$3" "localhost:$PORT" "waystar.v1.$2"
}
# Codes of grpcurl: 64 and that of the status.
expect 80 "BAD_TOKEN" call none MapService/GetMap '{"map": "tiles"}'
expect_code 0 call "$player" MapService/GetMap '{"map": "tiles"}'
expect 71 'the token "player" may not read the map "river"' call "$player" MapService/GetMap '{"map": "river"}'
expect_code 71 call "$player" MapService/DeleteMap '{"map": "tiles"}'
expect_code 0 call "$designer" MapService/GetMap '{"map": "river"}'
# For probes.
expect 0 "SERVING" grpcurl -cacert "$WORK/cert.pem" "localhost:$PORT" grpc.health.v1.Health/Check
expect_code 0 grpcurl -cacert "$WORK/cert.pem" "localhost:$PORT" list

# The tool takes all of that from the environment too, as a container's health check does.
export WAYSTAR_SERVER="127.0.0.1:$PORT" WAYSTAR_CA="$WORK/cert.pem"
expect_code 0 waystar health
expect 4 "WAYSTAR_TOKEN" waystar map show tiles
echo "$player" >"$WORK/token"
WAYSTAR_TOKEN_FILE="$WORK/token" expect_code 0 waystar map show tiles
WAYSTAR_SERVER_NAME=elsewhere expect_code 5 waystar health

# wait_for_log TEXT
wait_for_log() {
  timeout 60 grep -qF -m 1 -- "$1" <(tail --pid="$SERVER_PID" -n +1 -f "$WORK/log") || fail "no \"$1\" in the log"
}
# What strangers make the RPC library write is a line of the server's log like any other.
exec 3<>"/dev/tcp/127.0.0.1/$PORT"
printf 'GET / HTTP/1.1\r\n\r\n' >&3
timeout 60 cat <&3 >/dev/null || fail "the server does not close a connection without TLS"
exec 3>&-
wait_for_log "level=warning event=rpc_library source="
wait_for_log " latest_addresses=127.0.0.1 "
if grep -v '^ts=' "$WORK/log" >"$WORK/out"; then
  fail "lines of another form: $(cat "$WORK/out")"
fi

cp "$WORK/tokens" "$WORK/good"
echo "player nonsense" >"$WORK/draft"
mv "$WORK/draft" "$WORK/tokens"
wait_for_log "tokens_file_refused"
wait_for_log "line 1: "
expect_code 0 call "$player" MapService/GetMap '{"map": "tiles"}'
grep designer "$WORK/good" >"$WORK/draft"
mv "$WORK/draft" "$WORK/tokens"
wait_for_log "tokens_loaded"
expect_code 80 call "$player" MapService/GetMap '{"map": "tiles"}'
expect_code 0 call "$designer" MapService/GetMap '{"map": "tiles"}'
# Without any token nobody gets in.
echo "# nobody" >"$WORK/draft"
mv "$WORK/draft" "$WORK/tokens"
wait_for_log "level=warning event=tokens_let_nobody_in"
expect_code 80 call "$designer" MapService/GetMap '{"map": "tiles"}'
stop_server TERM || fail "the server ended with $?"
if grep -q open_to_the_network "$WORK/log"; then
  fail "a warning of a server that is closed"
fi

# A server that asks for certificates: probes show one as well.
start_server --tls_cert="$WORK/cert.pem" --tls_key="$WORK/key.pem" --tls_client_ca="$WORK/cert.pem"
export WAYSTAR_SERVER="127.0.0.1:$PORT"
expect_code 5 waystar health
WAYSTAR_CERT="$WORK/cert.pem" WAYSTAR_KEY="$WORK/key.pem" expect_code 0 waystar health
stop_server TERM || fail "the server ended with $?"
echo "passed"
