#!/bin/sh
# Lists the Debian packages that programs are made of, as CycloneDX (https://cyclonedx.org) in JSON:
#
#   sbom.sh loaded PROGRAM...      prints the packages of the shared libraries that the programs load
#   sbom.sh components PACKAGE...  prints a component for each of these installed packages
#   sbom.sh document VERSION       prints the document of that version of Waystar, of the components on standard input
set -eu

loaded() {
  # The loader knows libraries below / whose package has them below /usr.
  ldd "$@" | awk '$2 == "=>" { sub("^/usr", "", $3); print "*" $3 }' | sort -u | xargs dpkg-query --search | cut -d : -f 1 | sort -u
}

# In a package URL (https://github.com/package-url/purl-spec), "+" is escaped.
components() {
  # shellcheck source=/dev/null
  distribution=$(. /etc/os-release && echo "$ID${VERSION_ID:+-$VERSION_ID}")
  purl="pkg:deb/debian/\${Package}@\${Version}?arch=\${Architecture}&distro=$distribution"
  dpkg-query --show --showformat "$purl \${Package} \${Version}\n" "$@" | while read -r url name version; do
    printf '{"type": "library", "bom-ref": "%s", "name": "%s", "version": "%s", "purl": "%s"}\n' \
      "$name" "$name" "$version" "$(echo "$url" | sed 's/+/%2B/g')"
  done
}

document() {
  cat <<JSON
{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {
    "component": {"type": "application", "bom-ref": "waystar", "name": "waystar", "version": "$1"}
  },
  "components": [
$(sort -u | sed 's/^/    /; $!s/$/,/')
  ]
}
JSON
}

"$@"
