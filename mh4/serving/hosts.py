"""Check which host names the server answers to, and whether a request comes from a page of another origin.

This prevents DNS rebinding: the host name of a foreign page is made to resolve to this server, so that the browser
takes both for one origin and the page could read the server's answers. The browser's requests contain that host name,
and the server rejects it. IP addresses cannot be rebound: a server that listens on the network answers to all of them.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress

from mh4.errors import InputError, shown

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_HOST = re.compile(r"(?:\[([\da-f:.]+)\]|([^\[\]:/?#@]+))(?::\d*)?", re.IGNORECASE | re.ASCII)


class Hosts:
    """The host names of a server that listens on `address`.

    host: the name or address from which `address` was found. more: further names. on_network: whether other machines
    can reach the server. Raises InputError if an element of `more` is neither a name without a port nor an address.
    """

    def __init__(self, address: str, host: str, more: Iterable[str] = ()) -> None:
        self.on_network = not ipaddress.ip_address(address).is_loopback
        own = {host, socket.gethostname()} if self.on_network else {address}
        self._names = {name.lower().strip("[]").removesuffix(".") for name in {*_LOOPBACK, *own, *map(_checked, more)}}

    def has(self, header: str | None) -> bool:
        """Return whether the server answers to the name in a Host header, which may end with a port."""
        parts = _HOST.fullmatch(header or "")
        name = (parts[1] or parts[2]).lower().removesuffix(".") if parts else ""  # full domain names may end with a dot
        return name in self._names or self.on_network and _is_address(name)


def is_from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Return whether a page of another origin sent a request with these headers, which browsers report there."""
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _checked(name: str) -> str:
    if not (re.fullmatch(r"[\w.-]+", name, re.ASCII) or _is_address(name.strip("[]"))):
        raise InputError("--host-name %s: expected a name such as tree.example, without a port or a path" % shown(name))
    return name


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False
