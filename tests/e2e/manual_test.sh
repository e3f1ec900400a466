#!/usr/bin/env bash
# The manual page, as the tools that show such pages see it.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

"$BIN/waystar" man >"$WORK/waystar.1"
checked=
if command -v mandoc >/dev/null; then
  # It has no date of its own: it is as old as the program.
  mandoc -T lint -W warning "$WORK/waystar.1" | grep -v "missing date" >"$WORK/out" || true
  [[ ! -s "$WORK/out" ]] || fail "$(cat "$WORK/out")"
  checked=yes
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
  LC_ALL=C.UTF-8 MANROFFSEQ='' expect_code 0 man --warnings -E UTF-8 -l "$WORK/waystar.1"
  if grep -q warning: "$WORK/out"; then
    fail "$(grep warning: "$WORK/out")"
  fi
  checked=yes
fi
if [[ -z "$checked" ]]; then
  echo "Skipped: there is nothing here that reads manual pages"
  exit 77
fi
echo "passed"
