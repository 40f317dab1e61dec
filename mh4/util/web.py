"""Sends a request to a web server, with limits on the size and the duration of what it answers."""

import io
import time
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib import request

from mh4.errors import InputError

ADDRESSES = ("http://", "https://")
TIMEOUT = 30  # seconds without a byte
PATIENCE, SLOWEST = 60, 1000  # seconds, and bytes per second: a connection slower than this for that long is given up
HEADERS = 1 << 20  # bytes before the content


def send(url: str, headers: dict[str, str]) -> Any:
    """The reply to a request for `url`, an HTTPResponse: its size is not limited, but reading it raises TimeoutError if it is slow.

    Raises the exceptions of urllib, and InputError if the server redirects to anything but one of ADDRESSES.
    """
    opener = request.OpenerDirector()  # not urllib's own, which also opens ftp: and file:
    for handler in (
        request.ProxyHandler(),
        request.UnknownHandler(),
        _Http(),
        _Https(),
        request.HTTPDefaultErrorHandler(),
        _Redirection(),
        request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener.open(request.Request(url, headers=headers), timeout=TIMEOUT)


class _Redirection(request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        fp.close()  # its text, which may have no end, would be read
        if not newurl.startswith(ADDRESSES):
            raise InputError("%s: the server redirects to %s, which is not an address on the web" % (req.full_url, newurl))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Reply(HTTPResponse):
    """Reads from _Received instead of the connection itself."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._received = _Received(self.fp.detach())  # type: ignore[attr-defined]
        self.fp = io.BufferedReader(self._received)

    def begin(self) -> None:
        super().begin()
        self._received.limit = None


class _Received(io.RawIOBase):
    """What comes from a server, as long as it comes fast enough. limit: how much may come; None after the headers."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw, self._seconds, self._bytes = raw, 0.0, 0
        self.limit: int | None = HEADERS

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        start = time.monotonic()
        count = self._raw.readinto(buffer)  # type: ignore[attr-defined]
        self._seconds += time.monotonic() - start
        self._bytes += count or 0
        if self.limit is not None and self._bytes > self.limit:
            raise OSError("headers of more than %d bytes" % self.limit)
        if self._seconds > PATIENCE:
            if self.limit is not None or self._bytes < PATIENCE * SLOWEST:
                raise TimeoutError("it is too slow")
            self._seconds, self._bytes = 0.0, 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Connection(HTTPConnection):
    response_class = _Reply


class _SecureConnection(HTTPSConnection):
    response_class = _Reply


class _Http(request.HTTPHandler):
    def http_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(_Connection, req)


class _Https(request.HTTPSHandler):
    def https_open(self, req: request.Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)
