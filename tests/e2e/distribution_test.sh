#!/usr/bin/env bash
# distribution_test.sh NAME [TEST...]: runs ./dev test, as on a bare machine, in a root folder of that distribution.
# NAME is a release of Debian that README.md promises, or "modern": Debian sid with the gRPC, Protobuf and Abseil of
# experimental, the newest that are packaged. The root is made once and kept in build/root-NAME:
# delete it for newer packages. The build goes to build/NAME. Needs root, for chroot and for mounts, which nobody else
# sees and which end with this script.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/debian.sh
source tests/e2e/debian.sh

readonly NAME=${1:-}
readonly ROOT="$PWD/build/root-$NAME"

make_root() {
  local new="$ROOT.new"
  rm -rf --one-file-system "$new"
  if [[ "$NAME" == modern ]]; then
    make_debian sid "$new"
    cp docker/hardened.pref "$new/etc/apt/preferences.d/"
    echo "deb $(debian_mirror) experimental main" >"$new/etc/apt/sources.list.d/experimental.list"
  else
    make_debian "$NAME" "$new"
  fi
  # Packages start no services.
  printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
  chmod 755 "$new/usr/sbin/policy-rc.d"
  mv "$new" "$ROOT"
}

mount_root() {
  mkdir -p "$ROOT$PWD" build/release "build/$NAME"
  mount --bind . "$ROOT$PWD"
  # The root has its own build folder where ./dev looks for one.
  mount --bind "build/$NAME" "$ROOT$PWD/build/release"
  # Debian's installer writes the one, and this machine's network the other.
  cp /etc/hosts /etc/resolv.conf "$ROOT/etc/"
  mount -t proc proc "$ROOT/proc"
  mount --rbind /sys "$ROOT/sys"
  mount --rbind /dev "$ROOT/dev"
}

main() {
  case "$NAME" in
    bookworm | trixie | modern) ;;
    *)
      echo "usage: ./dev distribution-test bookworm|trixie|modern [TEST...]" >&2
      exit 2
      ;;
  esac
  if ((EUID != 0)); then
    echo "This test changes its root folder, so it must be run as root." >&2
    exit 1
  fi
  # In a mount namespace of its own.
  if [[ -z "${WAYSTAR_DISTRIBUTION_MOUNTS:-}" ]]; then
    WAYSTAR_DISTRIBUTION_MOUNTS=own exec unshare --mount tests/e2e/distribution_test.sh "$@"
  fi
  if [[ ! -d "$ROOT" ]]; then
    make_root
  fi
  mount_root
  exec chroot "$ROOT" env -i --chdir="$PWD" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 ./dev test "${@:2}"
}

main "$@"
