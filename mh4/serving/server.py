"""Running a server, from its start to its graceful end."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn

from mh4.errors import InputError, reason
from mh4.serving import answering
from mh4.serving.answering import Files
from mh4.serving.app import Limits, application
from mh4.serving.connections import connection
from mh4.serving.log_and_metrics import LOG, log_to
from mh4.serving.workers import Workers

_HEADERS = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")]
_MORE_CONNECTIONS = 100  # than those whose requests are parsed or wait


def serve(models: Mapping[str, Files], host: str, port: int, workers: int, limits: Limits, ready: Callable[[str], Any]) -> None:
    """Serve models, by name, until SIGTERM or SIGINT; requests that have begun are still answered then.

    port: 0 for any that is free. workers: how many processes parse. ready: is called with the address once requests are answered.
    Raises InputError if the address cannot be used, and as Parser.load and Segmenter do.
    """
    with _listening(host, port) as listening:
        asyncio.run(_serve(models, listening, workers, limits, ready))


async def _serve(
    models: Mapping[str, Files], listening: socket.socket, size: int, limits: Limits, ready: Callable[[str], Any]
) -> None:
    log_to(sys.stderr)
    workers = Workers(
        size, limits.waiting, limits.seconds, (answering.load, dict(models), answering.checksums_of(models.values()))
    )
    try:
        abilities = await workers.start()
        config = uvicorn.Config(
            application(workers, abilities, limits),
            http=connection(limits.seconds),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            headers=_HEADERS,
            limit_concurrency=limits.waiting + size + _MORE_CONNECTIONS,
            timeout_graceful_shutdown=int(2 * limits.seconds) + 1,
        )
        with _ended_by_uvicorn():
            ready("http://%s:%d" % _name(listening))
            LOG.info("started", extra={"facts": {"models": abilities, "workers": size}})
            await uvicorn.Server(config).serve(sockets=[listening])
    finally:
        workers.stop()
    LOG.info("ended")


def _listening(host: str, port: int) -> socket.socket:
    if not host:
        raise InputError("--host is empty, expected the address or name to listen to, such as 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError("cannot listen to %s, port %d: %s" % (host, port, reason(error).partition(" (")[0])) from None


def _name(listening: socket.socket) -> tuple[str, int]:
    host, port = listening.getsockname()[:2]
    return ("[%s]" % host if ":" in host else host), port


@contextmanager
def _ended_by_uvicorn() -> Iterator[None]:
    """Keep signals from ending the command at once: uvicorn handles them, ends gracefully, and then raises them again."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
