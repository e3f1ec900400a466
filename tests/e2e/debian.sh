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

# use_machines_apt_settings ROOT: its apt trusts or doubts the clock, and goes through proxies, as this machine's does.
use_machines_apt_settings() {
  apt-config dump | { grep -E '^Acquire::(Check-|https?::Proxy )' || true; } >"$1/etc/apt/apt.conf.d/99machine"
}
