#!/usr/bin/env bash
# What ./dev says of its commands, and how it checks the protos. What the others do is tried by those who use them.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
DEV="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/dev"
readonly PATH_BEFORE=$PATH

expect 2 'there is no command "nonsense"' "$DEV" nonsense
expect 2 'There is no step "nonsense"' "$DEV" release-check nonsense
expect 2 "usage: ./dev distribution-test" "$DEV" distribution-test nonsense
expect 2 'there is no flag --nonsense' "$DEV" test --nonsense

# A name selects whole tests and single cases, and nothing has to be built to see which.
expect 2 'no test and no case has ThereIsNoSuchName in its name' "$DEV" test --list ThereIsNoSuchName
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

# In a copy, since the image of the released protos would lie among the sources.
COPY="$WORK/copy"
mkdir "$COPY"
cp -r "$DEV" "$(dirname "$DEV")/proto" "$COPY"
rm -f "$COPY/proto/released.binpb"
# A check that cannot be made has not passed.
PATH=/usr/bin:/bin
if ! command -v buf >/dev/null; then
  expect 1 "buf is not on the PATH: ./dev tools installs it" "$COPY/dev" check-protos
fi
PATH=$PATH_BEFORE
if command -v buf >/dev/null; then
  expect 0 "no proto/released.binpb before the first release" "$COPY/dev" check-protos
  expect_code 0 "$COPY/dev" release-protos
  expect_code 0 "$COPY/dev" check-protos
  [[ ! -s "$WORK/out" ]] || fail "the released protos are not those that were released: $(cat "$WORK/out")"
  # An RPC that is no more, and a field that has another number.
  EDITED="$COPY/proto/waystar/v1/path_service.proto"
  cp "$EDITED" "$WORK/whole.proto"
  sed -i '/rpc CastRay(/d' "$EDITED"
  expect 100 'Previously present RPC "CastRay"' "$COPY/dev" check-protos
  expect_code 100 "$COPY/dev" release-protos
  cp "$WORK/whole.proto" "$EDITED"
  sed -i 's/^  string map = 1;/  string map = 1001;/' "$EDITED"
  expect 100 'Previously present field "1"' "$COPY/dev" check-protos
elif [[ "${CI:-}" ]]; then
  fail "buf is not on the PATH"
fi
echo "passed"
