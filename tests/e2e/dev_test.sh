#!/usr/bin/env bash
# What ./dev says of its commands. What they do is tried by those who use them.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
DEV="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/dev"

expect_code 2 "$DEV" nonsense
expect_text 'there is no command "nonsense"'
expect_code 2 "$DEV" release-check nonsense
expect_text 'There is no step "nonsense"'
expect_code 2 "$DEV" distribution-test nonsense
expect_text "usage: ./dev distribution-test"
expect_code 2 "$DEV" test --nonsense
expect_text 'there is no flag --nonsense'

# A name selects whole tests and single cases, and nothing has to be built to see which.
expect_code 2 "$DEV" test --list ThereIsNoSuchName
expect_text 'no test and no case has ThereIsNoSuchName in its name'
expect_code 0 "$DEV" test --list OpenListTest.Pops core_shape
[[ "$(<"$WORK/out")" == $'core_shape_test\ncore_search_test, cases' ]] || fail "selected: $(cat "$WORK/out")"

# The help lists all that can be measured.
expect_code 2 "$DEV" bench
KINDS=$(sed -nE 's/^usage: .*bench ([a-z|]+) .*/\1/p' "$WORK/out" | tr '|' ' ')
[[ "$KINDS" ]] || fail "no kinds in: $(cat "$WORK/out")"
expect_code 0 "$DEV" help
for KIND in $KINDS; do
  expect_text "./dev bench $KIND "
done
echo "passed"
