#!/usr/bin/env bash
# An example of a client, as its README says to run it: examples_test.sh PROGRAMS LANGUAGE.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh" "$1"

skip() {
  echo "Skipped: $*"
  exit 77
}

# copy_example LANGUAGE: to $WORK, with the protos, so that nothing is written where the sources are.
copy_example() {
  local root
  root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
  EXAMPLE="$WORK/client/examples/$1"
  mkdir -p "$(dirname "$EXAMPLE")"
  cp -r "$root/client/examples/$1" "$EXAMPLE"
  rm -rf "$EXAMPLE/build" "$EXAMPLE/node_modules" "$EXAMPLE"/stubs/waystar.dev/proto/waystar
  ln -s "$root/proto" "$WORK/proto"
}

expect_walk() {
  expect_text "cost 9.8284 by 0,1 1,0 6,0 7,1 9,1"
  expect_text "2 cells changed"
  expect_text "cost 10.6569 by 0,1 2,3 6,3 8,1 9,1"
  expect_text "OFF_MAP (goals[0]): the goal (10, 1) is off the map"
}

run_cpp() {
  expect 0 "tick 20: 1000 agents, " "$BIN/game_loop" "127.0.0.1:$PORT" 40
  expect_text "tick 40: 1000 agents, "
}

run_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import grpc, google.protobuf' 2>/dev/null; then
      copy_example python
      PYTHON="$python" expect_code 0 "$EXAMPLE/run.sh" "127.0.0.1:$PORT"
      expect_walk
      PYTHON="$python" expect 0 "100 ticks, 50 agents: " "$EXAMPLE/run.sh" follow "127.0.0.1:$PORT" 100
      return
    fi
  done
  skip "no Python here has grpc"
}

run_go() {
  command -v go >/dev/null || skip "there is no Go here"
  copy_example go
  (cd "$EXAMPLE" && timeout 240 go mod download) || skip "the modules of the example cannot be fetched"
  expect_code 0 "$EXAMPLE/run.sh" "127.0.0.1:$PORT"
  expect_walk
}

run_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "there is no Node.js here"
  fi
  copy_example node
  if ! (cd "$EXAMPLE" && timeout 240 npm ci --no-audit --no-fund --silent); then
    ! timeout 60 npm ping >/dev/null 2>&1 || fail "the packages of the example cannot be installed"
    skip "the packages of the example cannot be fetched"
  fi
  expect_code 0 "$EXAMPLE/run.sh" "127.0.0.1:$PORT"
  expect_walk
  expect 0 "100 ticks, 50 agents: " "$EXAMPLE/run.sh" follow "127.0.0.1:$PORT" 100
}

start_server --maps_dir="$SAMPLES"
"run_$2"
stop_server TERM || fail "the server ended with $?"
echo "passed"
