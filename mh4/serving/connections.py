"""Limit connections: their number, the chunks of a request, and the time to send its head or receive the answer.

`parameters.py` limits the time for the body of a request. Between requests, uvicorn waits some seconds.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mh4.serving.parameters import late

_HEAD = b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"

_MOST_CHUNKS = 1 << 15  # of a request: even a short chunk takes some time


class _FewChunks(h11.Connection):
    """The state of a connection, which treats a request with too many chunks as malformed."""

    chunks = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.chunks = 0
        elif isinstance(event, h11.Data):
            self.chunks += event.chunk_start
            if self.chunks > _MOST_CHUNKS:
                raise h11.RemoteProtocolError("too many chunks")
        return event


def connection(seconds: float, most: int) -> type[H11Protocol]:
    """Return a class of connections that wait at most `seconds`. Connections beyond `most` are closed at once."""

    class Connection(H11Protocol):
        conn: _FewChunks
        _asking: asyncio.TimerHandle | None = None  # runs while a request is expected
        _taking: asyncio.TimerHandle | None = None  # runs while the client does not receive the answer

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.conn = _FewChunks(h11.SERVER, self.config.h11_max_incomplete_event_size)  # type: ignore[arg-type]

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.abort()
            else:
                self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait()

        def send_400_response(self, msg: str) -> None:
            """Answer a malformed request with 400. If an answer has already begun, close the connection instead."""
            if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
                self.transport.close()
            elif self.conn.chunks > _MOST_CHUNKS:
                super().send_400_response("the request has more than %d chunks: send longer ones\n" % _MOST_CHUNKS)
            else:
                super().send_400_response(msg)

        def _unsupported_upgrade_warning(self) -> None:
            """Log nothing: requests to upgrade to WebSocket are answered like any other."""

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch()

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self._taking)

        def _watch(self) -> None:
            left = self.transport.get_write_buffer_size()
            self._taking = self.loop.call_later(seconds, self._check, left)

        def _check(self, left_before: int) -> None:
            if self.transport.get_write_buffer_size() < left_before:
                self._watch()
            else:
                self.transport.abort()

        def connection_lost(self, error: Exception | None) -> None:
            _cancel(self._asking)
            _cancel(self._taking)
            super().connection_lost(error)

        def _wait(self) -> None:
            if self.cycle and not self.cycle.response_complete:
                _cancel(self._asking)
                self._asking = None
            elif not self._asking:
                self._asking = self.loop.call_later(seconds, self._late)

        def _late(self) -> None:
            begun = self.cycle is None or self.conn.trailing_data[0]  # the first request, or one after an answer
            if begun and not self.transport.is_closing():
                sentence = late(seconds).encode() + b"\n"
                self.transport.write(_HEAD % (len(sentence), sentence))
            self.transport.close()

    return Connection


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer:
        timer.cancel()
