"""The names that the server answers to, and which requests come from pages elsewhere.

A page from elsewhere whose name is made to lead to this server (DNS rebinding) could read what it serves: the browser takes both for
one site, and asks for that name. No such name is an address, so where a server listens to the network, all addresses are its names.
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
    """The names of a server that listens to `address`. host: the one by which the address was given. more: those that it has besides.

    on_network: whether other machines can reach it. Raises InputError for one of `more` that is no name without a port or an address.
    """

    def __init__(self, address: str, host: str, more: Iterable[str] = ()) -> None:
        self.on_network = not ipaddress.ip_address(address).is_loopback
        own = {host, socket.gethostname()} if self.on_network else {address}
        self._names = {name.lower().strip("[]").removesuffix(".") for name in {*_LOOPBACK, *own, *map(_checked, more)}}

    def has(self, header: str | None) -> bool:
        """Return whether the name in a header Host, which may end with a port, is one of them."""
        parts = _HOST.fullmatch(header or "")
        name = (parts[1] or parts[2]).lower().removesuffix(".") if parts else ""  # as in a domain name that is written in full
        return name in self._names or self.on_network and _is_address(name)


def is_from_elsewhere(headers: Mapping[str, str]) -> bool:
    """Return whether a page from elsewhere has sent a request with these headers: browsers say which page a request comes from."""
    return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _checked(name: str) -> str:
    if not (re.fullmatch(r"[\w.-]+", name, re.ASCII) or _is_address(name.strip("[]"))):
        raise InputError("--host-name %s: expected a name such as tree.example, without a port or a path" % shown(name))
    return name


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False
