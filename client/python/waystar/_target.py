"""The names of servers, as gRPC knows them."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

_SCHEME = re.compile(r"(ipv4:|ipv6:|dns:///|dns:)?(.*)")
_ADDRESS = re.compile(r"\s*(\[.+\]|[^:\[\]]+)(?::(\d+))?\s*")
_DEFAULT_PORT = 7450


class Target(NamedTuple):
    name: str
    # True if it may be more than one server.
    is_several: bool = False
    # True if all that is sent to it stays on this machine.
    is_here: bool = False
    # True if it is one IP address, and not a name.
    is_address: bool = False


def parse_target(text: str) -> Target:
    """Reads HOST:PORT, IP:PORT,IP:PORT..., unix:PATH or another name that gRPC resolves; the port may be missing."""
    if text.startswith(("unix:", "unix-abstract:")):
        return Target(text, is_here=True)
    scheme, bare = _SCHEME.fullmatch(text).groups("")  # type: ignore[union-attr]
    if "//" in bare and not bare.startswith(("http:", "https:")):
        return Target(text, is_several=True)
    addresses = [_ADDRESS.fullmatch(part) for part in bare.split(",")]
    if None in addresses:
        raise ValueError(f"'{text}' is not HOST:PORT")
    hosts = [address[1] for address in addresses if address]
    versions = {_ip_version(host) for host in hosts}
    is_list = len(hosts) > 1
    if is_list and not scheme:
        if len(versions) > 1 or 0 in versions:
            raise ValueError(f"'{text}' is no list of IP addresses of one family")
        scheme = f"ipv{versions.pop()}:"
    name = scheme + ",".join(f"{address[1]}:{address[2] or _DEFAULT_PORT}" for address in addresses if address)
    is_here = all(host.lower() == "localhost" or _ip_version(host, "is_loopback") for host in hosts)
    return Target(name, is_list or scheme.startswith("dns:"), is_here, not is_list and 0 not in versions)


def _ip_version(host: str, attribute: str = "version") -> int:
    """Returns that attribute of the address, or 0 if it is none."""
    try:
        return int(getattr(ipaddress.ip_address(host.strip("[]")), attribute))
    except ValueError:
        return 0
