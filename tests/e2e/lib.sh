# What the end-to-end tests share. Sourced with $1, the folder of the programs.
# shellcheck shell=bash disable=SC2034

readonly BIN=$1
SAMPLES="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../server/samples" && pwd)"
readonly SAMPLES
WORK="$(mktemp -d)"
readonly WORK
SERVER_PID=
PORT=

cleanup() {
  if [[ -n "$SERVER_PID" ]]; then
    kill -KILL "$SERVER_PID" 2>/dev/null || true
  fi
  rm -rf "$WORK"
}
trap cleanup EXIT

fail() {
  echo "FAILED: $*" >&2
  if [[ -f "$WORK/log" ]]; then
    echo "The server's log:" >&2
    cat "$WORK/log" >&2
  fi
  exit 1
}

# The tool, for which a busy machine may be as slow as it likes.
waystar() {
  "$BIN/waystar" --timeout 2m "$@"
}

# start_server [FLAG...]: on a free port, which becomes $PORT. Returns when the server answers.
start_server() {
  # Opening a pipe for reading waits until the server opens it for writing.
  rm -f "$WORK/port"
  mkfifo "$WORK/port"
  # A machine that is busy with other tests is no reason to refuse a call.
  "$BIN/waystar-server" --listen=127.0.0.1:0 --port_file="$WORK/port" --max_queue_time=1m --queue_target=1m "$@" \
    2>"$WORK/log" &
  SERVER_PID=$!
  PORT="$(timeout 60 cat "$WORK/port")" || fail "the server does not start"
}

# stop_server SIGNAL: and returns its exit code.
stop_server() {
  kill "-$1" "$SERVER_PID"
  timeout 60 tail --pid="$SERVER_PID" -f /dev/null || fail "the server does not stop"
  local code=0
  wait "$SERVER_PID" || code=$?
  SERVER_PID=
  return "$code"
}

# need PROGRAM...: skips the test without one. Where grpcurl is said to be there, its absence is a fault.
need() {
  local program
  for program in "$@"; do
    if ! command -v "$program" >/dev/null; then
      echo "skipped: no $program on the PATH"
      if [[ "${CI:-}" && "$program" == grpcurl ]]; then exit 1; else exit 77; fi
    fi
  done
}

# wait_until WHAT COMMAND...: again and again until it succeeds.
wait_until() {
  local what=$1 deadline=$((SECONDS + 120))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || fail "waited in vain for $what: $(cat "$WORK/out")"
    sleep 0.02
  done
}

# make_certificate: $WORK/cert.pem and $WORK/key.pem, of this machine.
make_certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 365 -subj /CN=waystar \
    -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$WORK/key.pem" -out "$WORK/cert.pem" 2>/dev/null
}

# new_token NAME PERMISSION...: adds its line to $WORK/tokens, and prints the token.
new_token() {
  "$BIN/waystar" token "$@" >"$WORK/made"
  sed -n 4p "$WORK/made" >>"$WORK/tokens"
  sed -n 2p "$WORK/made"
}

# expect_code CODE COMMAND...: the output of both streams goes to $WORK/out.
expect_code() {
  local expected=$1
  shift
  local code=0
  "$@" >"$WORK/out" 2>&1 || code=$?
  ((code == expected)) || fail "\"$*\" ended with $code, not $expected: $(cat "$WORK/out")"
}

# expect CODE TEXT COMMAND...: it ends so, and its output has the text.
expect() {
  local code=$1 text=$2
  shift 2
  expect_code "$code" "$@"
  expect_text "$text"
}

# expect_text TEXT: $WORK/out has it.
expect_text() {
  grep -qF -- "$1" "$WORK/out" || fail "no \"$1\" in: $(cat "$WORK/out")"
}
