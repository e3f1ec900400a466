#!/usr/bin/env bash
# arm64_test.sh PACKAGE...: compiles both programs for arm64 on this machine, in a root folder of Debian 12 with a cross
# compiler, and finds a path with them under QEMU. PACKAGEs are what a build needs. The root is made once and kept in
# build/root-arm64: delete it for newer packages. The build goes to build/arm64. Needs root, for chroot and for mounts,
# which nobody else sees and which end with this script.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/debian.sh
source tests/e2e/debian.sh

readonly ROOT="$PWD/build/root-arm64"

in_root() {
  chroot "$1" env -i --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# Tools are of this machine's architecture, and libraries of the other one.
make_root() {
  local new="$ROOT.new" packages=() package
  for package in "$@"; do
    case "$package" in
      g++) packages+=(g++-aarch64-linux-gnu) ;;
      *-dev) packages+=("$package:arm64") ;;
      *) packages+=("$package") ;;
    esac
  done
  rm -rf --one-file-system "$new"
  make_debian bookworm "$new"
  # Debian's installer writes the one, and this machine's network the other.
  cp /etc/hosts /etc/resolv.conf "$new/etc/"
  # Packages start no services.
  printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
  chmod 755 "$new/usr/sbin/policy-rc.d"
  in_root "$new" dpkg --add-architecture arm64
  in_root "$new" apt-get update
  in_root "$new" apt-get install -y --no-install-recommends "${packages[@]}" qemu-user-static
  mv "$new" "$ROOT"
}

# Runs in the root, beside the sources.
# shellcheck disable=SC2016  # its own shell expands it
readonly TRY='
cmake --preset arm64
cmake --build build/arm64 --parallel "$(nproc)" --target waystar-server waystar
cd build/arm64/bin
qemu-aarch64-static ./waystar-server --version
qemu-aarch64-static ./waystar-server --maps_dir=../../../server/samples --listen=127.0.0.1:0 --port_file=port &
server=$!
trap "kill $server" EXIT
until [ -s port ]; do
  kill -0 "$server"
  sleep 0.2
done
qemu-aarch64-static ./waystar --server "127.0.0.1:$(cat port)" find ten-by-ten 0,0 7,7
rm port
'

main() {
  if ((EUID != 0)); then
    echo "This test changes its root folder, so it must be run as root." >&2
    exit 1
  fi
  # In a mount namespace of its own.
  if [[ -z "${WAYSTAR_ARM64_MOUNTS:-}" ]]; then
    WAYSTAR_ARM64_MOUNTS=own exec unshare --mount tests/e2e/arm64_test.sh "$@"
  fi
  if [[ ! -d "$ROOT" ]]; then
    make_root "$@"
  fi
  mkdir -p "$ROOT$PWD"
  mount --bind . "$ROOT$PWD"
  mount -t proc proc "$ROOT/proc"
  in_root "$ROOT" sh -euc "cd '$PWD'; rm -f build/arm64/bin/port; $TRY"
}

main "$@"
