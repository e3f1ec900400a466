#!/usr/bin/env bash
# run.sh [FLAG...]: runs the tests of a fleet's faults with these flags of "go test", such as -short. They are skipped
# where a program that they need is not. WAYSTAR_SERVER names the server, unless it is build/release/bin/waystar-server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

skip() {
  echo "Skipped: $*"
  exit 77
}

if [[ -n "${WAYSTAR_SERVER:-}" ]]; then
  WAYSTAR_SERVER="$(realpath "$WAYSTAR_SERVER")"
  export WAYSTAR_SERVER
fi
command -v go >/dev/null || skip "there is no Go here"
command -v protoc >/dev/null || skip "there is no protoc here"
for program in etcd etcdctl; do
  command -v "$program" >/dev/null || skip "there is no $program: apt-get install etcd-server etcd-client"
done
[[ -x "${WAYSTAR_SERVER:-../../../../build/release/bin/waystar-server}" ]] ||
  skip "there is no waystar-server: build it, or name it by WAYSTAR_SERVER"
timeout 240 go mod download || skip "the modules of the tests cannot be fetched"
# It generates the stubs.
../../../../client/go/build.sh ../../../../build/clients/go
exec go test -count=1 -timeout=20m -v "$@" .
