# shellcheck shell=bash
# Sourced by what makes roots of Debian: they take their packages from where this machine's apt takes its own.

# install_missing PACKAGE...
install_missing() {
  local missing=() package
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} > 0)); then
    echo "Installing ${missing[*]}"
    apt-get update
    env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
  fi
}

# debian_sources RELEASE: prints one line for each source of that release of Debian, or of all if it is empty, that this
# machine's apt uses: URI SUITE COMPONENT.
debian_sources() {
  # shellcheck disable=SC2016  # the names are for apt to expand
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
    awk -v release="$1" '$4 == "Debian" && index($2, release) == 1 { print $1, $2, $3 }' | sort -u
}

# Prints where the packages of any release are.
debian_mirror() {
  local mirror
  mirror=$(debian_sources '' | awk '$2 !~ /-security/ { print $1; exit }')
  echo "${mirror:-http://deb.debian.org/debian}"
}

# make_debian RELEASE ROOT: a bare one. Its apt takes packages from where this machine's apt does, trusts or doubts the
# clock as that does, and goes through the same proxies.
make_debian() {
  local release=$1 root=$2 sources
  install_missing debian-archive-keyring debootstrap
  debootstrap --variant=minbase "$release" "$root" "$(debian_mirror)" || return
  sources=$(debian_sources "$release" | awk '{ print "deb", $0 }')
  if [[ "$sources" ]]; then
    echo "$sources" >"$root/etc/apt/sources.list"
  fi
  apt-config dump | { grep -E '^Acquire::(Check-|https?::Proxy )' || true; } >"$root/etc/apt/apt.conf.d/99machine"
}
