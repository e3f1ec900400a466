#!/usr/bin/env bash
# package_install_test.sh PACKAGE: on a Debian of its own, of this machine's release, the Debian package is installed
# as its users install it, served from, installed again, removed and purged, after which nothing of it is left. Needs
# root, for chroot and for a mount, which nobody else sees and which ends with this script.
set -euo pipefail

HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/e2e/debian.sh
source "$HERE/debian.sh"
PACKAGE=${1:?names the package to install}
WORK=${WAYSTAR_INSTALL_WORK:-}
ROOT=$WORK/root
ENTER=(chroot "$ROOT" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
SERVER=

step() { echo "== $* (${SECONDS}s)"; }

fail() {
  echo "FAILED: $*" >&2
  if [[ -s "$WORK/log" ]]; then
    tail -n 40 "$WORK/log" >&2
  fi
  exit 1
}

quietly() { "$@" >>"$WORK/log" 2>&1 || fail "$*"; }

# expect WHAT WANTED ACTUAL
expect() {
  [[ "$3" == "$2" ]] || fail "$1: wanted \"$2\", got \"$3\""
  echo "ok  $1: $3"
}

in_root() { "${ENTER[@]}" "$@"; }

clean_up() {
  if [[ -n "$SERVER" ]]; then
    kill -KILL "$SERVER" 2>/dev/null || true
  fi
  umount "$ROOT/proc" 2>/dev/null || true
  rm -rf --one-file-system "$WORK"
}

# make_root RELEASE
make_root() {
  quietly make_debian "$1" "$ROOT"
  mount -t proc proc "$ROOT/proc"
  quietly in_root apt-get update
}

install_package() {
  cp "$PACKAGE" "$ROOT/tmp/new.deb"
  # As apt itself: it must be able to read the package as its own user.
  chmod 644 "$ROOT/tmp/new.deb"
  quietly in_root apt-get install -y --no-install-recommends "$@" /tmp/new.deb
  rm "$ROOT/tmp/new.deb"
}

# serve COMMAND...: runs it beside a server, which runs as the service would, without the sandbox of systemd.
serve() {
  rm -f "$ROOT/tmp/port"
  mkfifo "$ROOT/tmp/port"
  in_root chown waystar /tmp/port
  "${ENTER[@]}" WAYSTAR_DATA_DIR=/var/lib/waystar WAYSTAR_LISTEN=127.0.0.1:0 \
    setpriv --reuid=waystar --regid=waystar --clear-groups waystar-server --port_file=/tmp/port 2>>"$WORK/log" &
  SERVER=$!
  local port
  port=$(timeout 60 cat "$ROOT/tmp/port") || fail "the server does not start"
  WAYSTAR_PORT=$port "$@"
  kill "$SERVER"
  wait "$SERVER" || fail "the server ended with $?"
  SERVER=
}

tool() { in_root waystar --server "127.0.0.1:$WAYSTAR_PORT" "$@"; }

ask_for_a_path() {
  quietly tool map import /usr/share/waystar/maps/ten-by-ten.txt
  expect "cost found" 14 "$(tool find ten-by-ten 0,0 7,7 --json | grep -oE '"cost": ?[0-9.]+' | grep -oE '[0-9.]+$')"
}

show_the_map() { expect "the map is kept" ten-by-ten "$(tool map list --names)"; }

main() {
  if ((EUID != 0)); then
    echo "This test changes its root folder, so it must be run as root." >&2
    exit 1
  fi
  if [[ -z "$WORK" ]]; then
    # In a mount namespace of its own.
    WAYSTAR_INSTALL_WORK=$(mktemp --directory) exec unshare --mount "${BASH_SOURCE[0]}" "$PACKAGE"
  fi
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM

  step "Making a Debian"
  make_root "$(. /etc/os-release && echo "$VERSION_CODENAME")"

  step "Installing"
  install_package
  expect "version" "$(dpkg-deb --field "$PACKAGE" Version)" "$(in_root waystar --version | sed 's/^waystar //')"
  [[ -L "$ROOT/etc/systemd/system/multi-user.target.wants/waystar.service" ]] || fail "the service is not enabled"
  echo "ok  the service starts with the machine"

  step "Serving"
  # systemd would make it.
  in_root install -d -o waystar -g waystar -m 700 /var/lib/waystar
  serve ask_for_a_path

  step "Installing again"
  echo "WAYSTAR_MAX_MAPS=3" >>"$ROOT/etc/default/waystar"
  install_package --reinstall
  expect "changed settings are kept" WAYSTAR_MAX_MAPS=3 "$(tail -n 1 "$ROOT/etc/default/waystar")"
  serve show_the_map

  step "Removing"
  quietly in_root apt-get remove -y waystar
  expect "programs left" "" "$(find "$ROOT/usr" -name '*waystar*')"
  [[ -f "$ROOT/etc/default/waystar" && -d "$ROOT/var/lib/waystar" ]] || fail "settings or maps are gone"
  echo "ok  settings and maps are kept"

  step "Purging"
  quietly in_root apt-get purge -y waystar
  expect "files left" "" "$(find "$ROOT" -xdev -name '*waystar*')"
  expect "users left" "" "$(grep waystar "$ROOT"/etc/{passwd,group} || true)"
  step "Passed"
}

main
