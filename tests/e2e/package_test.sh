#!/usr/bin/env bash
# The Debian package: made of the programs as they are built, looked into, and served from a folder.
# package_install_test.sh installs it.
set -euo pipefail

for TOOL in cpack dpkg-shlibdeps file; do
  if ! command -v "$TOOL" >/dev/null; then
    echo "Skipped: there is no $TOOL"
    exit 77
  fi
done

BUILT=$1
MADE=$(mktemp -d)
readonly BUILT MADE ROOT="$MADE/root"
trap 'rm -rf "$MADE"' EXIT
cpack --config "$BUILT/../CPackConfig.cmake" -B "$MADE" >"$MADE/log" 2>&1 || {
  cat "$MADE/log"
  exit 1
}
PACKAGE=$(echo "$MADE"/*.deb)
readonly PACKAGE
dpkg-deb --raw-extract "$PACKAGE" "$ROOT"

# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$ROOT/usr/bin"
trap 'cleanup; rm -rf "$MADE"' EXIT

# expect_same WHAT WANTED ACTUAL
expect_same() {
  [[ "$2" == "$3" ]] || fail "$1: wanted \"$2\", got \"$3\""
}

# What the package says of itself.
VERSION=$("$BUILT/waystar-server" --version)
expect_same "version" "${VERSION#waystar-server }" "$(dpkg-deb --field "$PACKAGE" Version)"
expect_same "architecture" "$(dpkg --print-architecture)" "$(dpkg-deb --field "$PACKAGE" Architecture)"
dpkg-deb --field "$PACKAGE" Depends >"$WORK/out"
expect_text libgrpc++
expect_text adduser
expect_same "files that an administrator may change" /etc/default/waystar "$(<"$ROOT/DEBIAN/conffiles")"
for SCRIPT in postinst prerm postrm; do
  [[ -x "$ROOT/DEBIAN/$SCRIPT" ]] || fail "$SCRIPT cannot be run"
  sh -n "$ROOT/DEBIAN/$SCRIPT" || fail "$SCRIPT is not a script"
done

# The bill of materials has the packages that the package depends on, in JSON that a program can read.
SBOM="$(dirname "${BASH_SOURCE[0]}")/../../server/package/sbom.sh"
"$SBOM" loaded "$BUILT/waystar-server" | xargs "$SBOM" components | "$SBOM" document "${VERSION#waystar-server }" >"$WORK/sbom"
expect_same "faults of the bill of materials" "" "$(python3 - "$WORK/sbom" <<'PYTHON'
import json, re, sys
bill = json.load(open(sys.argv[1], encoding="utf-8"))
names = [component["name"] for component in bill["components"]]
assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["version"], bill["metadata"]
assert len(set(names)) == len(names) and {"libc6", "libssl3"} <= {name.removesuffix("t64") for name in names}, names
for component in bill["components"]:
    assert re.fullmatch(r"pkg:deb/debian/[\w.%-]+@[\w.:~%-]+\?arch=\w+&distro=debian[\w.-]*", component["purl"]), component
PYTHON
)"

# Nobody but root may change what is installed.
expect_same "files of others" "" "$(dpkg-deb --contents "$PACKAGE" | awk '$2 != "root/root" || $1 ~ /^[^l].......?w/')"
expect_same "folders" "etc/default usr/bin usr/lib/systemd usr/share/bash-completion usr/share/doc usr/share/fish \
usr/share/man usr/share/waystar usr/share/zsh" \
  "$(cd "$ROOT" && find etc usr -type f | sed -E 's#^(etc/default|usr/bin|usr/[^/]+/[^/]+)/.*#\1#' | sort -u | xargs)"
diff -r "$SAMPLES" "$ROOT/usr/share/waystar/maps" || fail "other maps than the samples"

# What else it brings can be read by what reads it.
for PAGE in man1/waystar.1 man8/waystar-server.8; do
  gzip -dc "$ROOT/usr/share/man/$PAGE.gz" >"$WORK/${PAGE#*/}"
  grep -q '^\.SH NAME' "$WORK/${PAGE#*/}" || fail "$PAGE is not a manual page"
  if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$WORK/${PAGE#*/}" | grep -v "missing date" >"$WORK/out" || true
    [[ ! -s "$WORK/out" ]] || fail "$(cat "$WORK/out")"
  fi
done
bash -n "$ROOT/usr/share/bash-completion/completions/waystar" || fail "bash does not accept its completions"
for SHELL_FILE in zsh/vendor-completions/_waystar fish/vendor_completions.d/waystar.fish; do
  grep -q waystar "$ROOT/usr/share/$SHELL_FILE" || fail "$SHELL_FILE completes nothing"
done
if command -v systemd-analyze >/dev/null; then
  # From 0, which may do nothing, to 100, which may do everything.
  expect_code 0 systemd-analyze security --offline=yes --threshold=20 "$ROOT/usr/lib/systemd/system/waystar.service"
fi

# Every variable that the settings propose is a flag.
expect_code 1 "$BIN/waystar-server" --help
while read -r VARIABLE; do
  expect_text "--${VARIABLE,,} "
done < <(sed -nE 's/^#WAYSTAR_([A-Z_]+)=.*/\1/p' "$ROOT/etc/default/waystar")

# As the service starts it, but for the folder and the port.
set -a
# shellcheck disable=SC1091  # it is made above
source "$ROOT/etc/default/waystar"
set +a
start_server --data_dir="$WORK/data"
export WAYSTAR_SERVER="127.0.0.1:$PORT"
expect_code 0 waystar map import "$ROOT/usr/share/waystar/maps/ten-by-ten.txt"
expect 0 "14 steps at cost 14" waystar find ten-by-ten 0,0 7,7
stop_server TERM || fail "the server ended with $?"
echo "passed"
