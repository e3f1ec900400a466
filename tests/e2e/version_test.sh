#!/usr/bin/env bash
# What bears the project's version has that of CMakeLists.txt. package_test.sh looks at the package.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
PROJECT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

# expect_version WHAT VERSION
expect_version() {
  [[ "$2" == "$VERSION" ]] || fail "$1 has the version \"$2\", and the project \"$VERSION\""
}

VERSION=$(sed -nE 's/^project\(waystar VERSION ([^ ]+) .*/\1/p' "$PROJECT/CMakeLists.txt")
expect_version "waystar-server" "$("$BIN/waystar-server" --version | sed 's/^waystar-server //')"
expect_version "waystar" "$("$BIN/waystar" --version | sed 's/^waystar //')"
expect_version "the manual page" "$("$BIN/waystar" man | sed -nE '1s/.*"waystar ([^"]+)"$/\1/p')"
start_server --maps_dir="$SAMPLES"
expect_version "a server that is asked" "$(waystar --server "127.0.0.1:$PORT" info --json | grep -oE '"version": ?"[^"]+"' | cut -d '"' -f 4)"
stop_server TERM || fail "the server ended with $?"
expect_version "docker/Dockerfile" "$(sed -nE 's/^ARG VERSION=//p' "$PROJECT/docker/Dockerfile")"
expect_version "the chart" "$(sed -nE 's/^version: //p' "$PROJECT/docker/helm/Chart.yaml")"
expect_version "the image of the chart" "$(sed -nE 's/^appVersion: //p' "$PROJECT/docker/helm/Chart.yaml")"
expect_version "the newest chapter of CHANGELOG.md" "$(sed -nE 's/^## ([0-9][^, ]*).*/\1/p' "$PROJECT/CHANGELOG.md" | head -n 1)"
echo "passed"
