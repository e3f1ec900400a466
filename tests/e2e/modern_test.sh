#!/usr/bin/env bash
# Builds the project with the newest packaged gRPC, Protobuf and Abseil, and runs the tests: in a root of its own, of
# Debian sid with gRPC of experimental, which is made once and kept in build/modern-root (delete it to have it made
# anew). $PACKAGES names what the build and the tests need; flags go to ctest. Needs root, for chroot and for mounts,
# which nobody else sees and which end with this script.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/debian.sh
source tests/e2e/debian.sh

readonly MODERN_ROOT="$PWD/build/modern-root"
: "${PACKAGES:?names the packages to build and test with}"

in_root() {
  chroot "$MODERN_ROOT" env --chdir="$PWD" PATH="$PWD/build/tools/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root \
    TMPDIR=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# make_root MIRROR
make_root() {
  rm -rf --one-file-system "$MODERN_ROOT"
  debootstrap --variant=minbase sid "$MODERN_ROOT" "$1"
  printf 'deb %s sid main\ndeb %s experimental main\n' "$1" "$1" >"$MODERN_ROOT/etc/apt/sources.list"
  use_machines_apt_settings "$MODERN_ROOT"
  cp docker/hardened.pref "$MODERN_ROOT/etc/apt/preferences.d/"
  printf '#!/bin/sh\nexit 101\n' >"$MODERN_ROOT/usr/sbin/policy-rc.d"
  chmod 755 "$MODERN_ROOT/usr/sbin/policy-rc.d"
  # The packages that are installed, once they are.
  touch "$MODERN_ROOT/complete"
}

mount_root() {
  mkdir -p "$MODERN_ROOT$PWD"
  mount --bind . "$MODERN_ROOT$PWD"
  mount -t proc proc "$MODERN_ROOT/proc"
  mount --rbind /sys "$MODERN_ROOT/sys"
  mount --rbind /dev "$MODERN_ROOT/dev"
}

main() {
  if ((EUID != 0)); then
    echo "This test changes its root folder, so it must be run as root." >&2
    exit 1
  fi
  # In a mount namespace of its own.
  if [[ -z "${WAYSTAR_MODERN_MOUNTS:-}" ]]; then
    WAYSTAR_MODERN_MOUNTS=own exec unshare --mount tests/e2e/modern_test.sh "$@"
  fi
  if [[ ! -e "$MODERN_ROOT/complete" ]]; then
    install_missing debian-archive-keyring debootstrap
    make_root "$(debian_mirror)"
  fi
  mount_root
  if [[ "$(<"$MODERN_ROOT/complete")" != "$PACKAGES" ]]; then
    local packages
    read -ra packages <<<"$PACKAGES"
    in_root apt-get update
    in_root apt-get install -y --no-install-recommends "${packages[@]}"
    echo "$PACKAGES" >"$MODERN_ROOT/complete"
  fi
  in_root cmake --preset modern --log-level=WARNING
  in_root cmake --build build/modern --parallel "$(nproc)"
  # One more than there are cores, since some of the tests do little but wait.
  in_root ctest --test-dir build/modern --parallel "$(($(nproc) + 1))" --output-on-failure --no-tests=error "$@"
}

main "$@"
