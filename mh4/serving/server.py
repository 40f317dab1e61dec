"""Run a server, from its start to its graceful end."""

import asyncio
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn

from mh4.annotating.correction import Correction
from mh4.errors import InputError, reason
from mh4.serving import answering
from mh4.serving.answering import Files
from mh4.serving.app import Limits, application
from mh4.serving.connections import connection
from mh4.serving.correcting import Correcting
from mh4.serving.hosts import Hosts
from mh4.serving.log_and_metrics import LOG, logging_to
from mh4.serving.queue import Workers
from mh4.util.processes import Killed

_HEADERS = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")]
# Connections in addition to those whose requests are parsed or wait. On connections beyond these, requests get 503.
# Beyond as many again, connections are closed at once.
_MORE_CONNECTIONS = 100
_HEAD = 1 << 18  # bytes of a request before its body; a longer head is rejected without an explanation
_BACKLOG = 64  # connections that asyncio accepts at once, perhaps several times before any beyond the limit is closed
_FILES = 64 + 4 * _BACKLOG  # files that the server may have open besides connections and the files of its processes
_FILES_OF_PROCESS = 4


def serve(
    models: Mapping[str, Files],
    host: str,
    port: int,
    workers: int,
    limits: Limits,
    ready: Callable[[str], Any],
    names: Iterable[str] = (),
    correction: Correction | None = None,
) -> None:
    """Serve models, by name, until SIGTERM, SIGINT or SIGHUP. Requests that have begun are then still answered.

    port: 0 for any free port. workers: the number of processes that parse. ready: called with the address once requests
    are answered. names: host names of the server in addition to those from its address; see Hosts. correction: a file
    to correct; `ready` then gets the address of the page to correct trees.
    Raises InputError if the address or a name cannot be used, if other machines could reach a file to correct, if the
    process may not open enough files, and as Parser.load and Segmenter do.
    """
    connections = limits.waiting + workers + _MORE_CONNECTIONS
    _may_open(connections + _MORE_CONNECTIONS + workers * _FILES_OF_PROCESS + _FILES)
    with _listening(host, port) as listening, logging_to(sys.stderr):
        address, port = listening.getsockname()[:2]
        hosts = Hosts(address, host, names)
        if correction and hosts.on_network:
            raise InputError("--host %s: %s can be corrected on this machine only" % (host, correction.path))
        correcting = Correcting(correction, limits.seconds) if correction else None

        async def run() -> None:
            load = answering.load, dict(models), answering.checksums_of(models.values())
            pool = Workers(workers, limits.waiting, limits.seconds, load)
            try:
                with _interrupted_once():
                    abilities = await pool.start()
                config = uvicorn.Config(
                    application(pool, abilities, limits, hosts, correcting),
                    http=connection(limits.seconds, connections + _MORE_CONNECTIONS),
                    ws="none",
                    lifespan="off",
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    proxy_headers=False,  # with them, any local process could put a false client address into the log
                    headers=_HEADERS,
                    limit_concurrency=connections,
                    backlog=_BACKLOG,
                    h11_max_incomplete_event_size=_HEAD,
                    timeout_graceful_shutdown=int(2 * limits.seconds) + 1,
                )
                server = _Server(config)
                with _ended_by(server):
                    page = "/annotate#" + correcting.key if correcting else ""
                    ready("http://%s:%d%s" % ("[%s]" % address if ":" in address else address, port, page))
                    LOG.info("started", extra={"facts": {"models": abilities, "workers": workers}})
                    await server.serve(sockets=[listening])
            except Killed:
                sentence = "a process that loads the models was killed, perhaps because memory ran out: lower --workers"
                raise InputError(sentence) from None
            finally:
                pool.stop()

        asyncio.run(run())


class _Server(uvicorn.Server):
    """A server that a second SIGINT ends at once. Since Python 3.12, asyncio waits for connections to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(super().shutdown(sockets))
        while not (ending.done() or self.force_exit):
            await asyncio.wait([ending], timeout=0.1)
        if not ending.cancel():
            ending.result()


def _may_open(number: int) -> None:
    """Make `number` the process's limit of open files, if it is lower. Raises InputError if the system forbids that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < number:
        mend = "raise that limit, or lower --queue or --workers"
        raise InputError("this needs %d open files, and a process may have %d (ulimit -Hn): %s" % (number, hard, mend))
    if soft != resource.RLIM_INFINITY and soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))


def _listening(host: str, port: int) -> socket.socket:
    if not host:
        raise InputError("--host is empty, expected the address or name to listen to, such as 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError("cannot listen to %s, port %d: %s" % (host, port, reason(error).partition(" (")[0])) from None


@contextmanager
def _interrupted_once() -> Iterator[None]:
    """Let the first SIGINT cancel the block, and ignore others, which would interrupt its cleanup with a traceback."""
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_IGN)
        before(number, frame)  # type: ignore[operator, misc]

    if callable(before):
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ended_by(server: uvicorn.Server) -> Iterator[None]:
    """Let signals end the server gracefully, even just before uvicorn handles them, and when uvicorn raises them again.

    uvicorn does not handle SIGHUP: it becomes SIGTERM here, unless it is ignored, as under nohup.
    """
    handlers: dict[int, Any] = dict.fromkeys((signal.SIGTERM, signal.SIGINT), server.handle_exit)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = lambda *_: signal.raise_signal(signal.SIGTERM)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
