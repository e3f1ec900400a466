#!/usr/bin/env bash
# The commands of docs/operating.md, one after the other as they stand there. A start of the server replaces the
# one that runs, and a command about the data folder's files is given while none does, as the page says.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
PAGE="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/operating.md"
readonly PAGE
readonly FOLDER=/var/lib/waystar

stop_if_running() {
  if [[ -n "$SERVER_PID" ]]; then
    stop_server TERM || fail "the server ended with $?"
  fi
}

cd "$WORK"
PATH="$BIN:$PATH"
commands=0
while read -r command <&3; do
  command="${command//"$FOLDER"/"$WORK/data"}"
  if [[ "$command" == "waystar-server --"* ]]; then
    stop_if_running
    read -ra words <<<"$command"
    start_server "${words[@]:1}"
    export WAYSTAR_SERVER="127.0.0.1:$PORT"
  else
    if [[ "$command" == *"$WORK/data"* ]]; then
      stop_if_running
    fi
    expect_code 0 bash -c "$command"
  fi
  case "$command" in
    "waystar map show arena") expect_text "revision 2 of epoch" ;;
    "waystar restore monday") expect_text "Restored arena as of revision 2" ;;
    "waystar-server data check "*) expect_text "All is well" ;;
    "waystar-server data list "*) expect_text "arena" ;;
    "waystar-server data dump "*) expect_text '"epoch"' ;;
  esac
  commands=$((commands + 1))
done 3< <(sed -n 's/^\$ //p' "$PAGE")
((commands >= 12)) || fail "only $commands commands are on the page"
echo "passed"
