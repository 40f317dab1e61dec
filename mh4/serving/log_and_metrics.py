"""Log each request as a line of JSON, and count requests for Prometheus. Neither contains the text to parse."""

import asyncio
import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mh4.errors import cut, one_line
from mh4.serving.queue import Workers

LOG = logging.getLogger("mh4.serving")


_SECONDS = 60  # repetitions of a warning within this time are counted, not logged
_MOST = 1000  # warnings that are remembered
_LONGEST = 100  # characters of a path or a method in the log


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a log line except the time: the level, the event and its facts."""
    line = {"level": record.levelname.lower(), "event": record.getMessage(), **getattr(record, "facts", {})}
    if record.exc_info:
        line["traceback"] = logging.Formatter().formatException(record.exc_info)
    return line


def _json(line: Mapping[str, Any]) -> str:
    """Return the line as JSON without terminal control characters, raw or escaped; only line breaks stay, escaped."""
    shown = {name: one_line(value, kept="\n") if isinstance(value, str) else value for name, value in line.items()}
    return json.dumps(shown, ensure_ascii=False)


class Log(logging.StreamHandler[Any]):
    """A handler that writes records to a text stream as JSON objects, with the time in UTC.

    Repetitions of a warning or an error within a minute are not written but counted, in a field `repeated`.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        # For each line, its first record and the number of repetitions; the oldest line comes first.
        self._seen: dict[str, tuple[logging.LogRecord, int]] = {}

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return _json({"time": when, **_fields(record)})

    def emit(self, record: logging.LogRecord) -> None:
        self.count(record.created - _SECONDS)
        if record.levelno >= logging.WARNING:
            line = _json(_fields(record))
            if line in self._seen:
                first, times = self._seen[line]
                self._seen[line] = first, times + 1
                return
            self._seen[line] = record, 0
        super().emit(record)

    def count(self, until: float = float("inf")) -> None:
        """Write how often the lines from before `until`, by default all, were repeated, and forget these lines."""
        while self._seen and (len(self._seen) > _MOST or next(iter(self._seen.values()))[0].created < until):
            first, times = self._seen.pop(next(iter(self._seen)))
            if times:
                first.created, first.facts = time.time(), {**getattr(first, "facts", {}), "repeated": times}
                super().emit(first)


@contextmanager
def logging_to(stream: Any) -> Iterator[None]:
    """Send the log of the server and the warnings of all libraries to a text stream. Log "ended" at a regular end."""
    root, handler = logging.getLogger(), Log(stream)
    LOG.setLevel(logging.INFO)
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # the response describes errors in a form
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
        handler.count()
        LOG.info("ended")
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        handler.count()


class Observed:
    """An application whose requests are logged and counted. Endpoints add to the log line by `request.state.facts`."""

    def __init__(self, app: ASGIApp, workers: Workers, paths: Iterable[str]) -> None:
        self._app, self._workers, self._paths = app, workers, frozenset(paths)
        self._registry = CollectorRegistry()
        self._requests = Counter("mh4_requests", "Requests answered.", ["path", "status"], registry=self._registry)
        self._seconds = Histogram("mh4_request_seconds", "From request to answer.", ["path"], registry=self._registry)
        self._sentences = Counter("mh4_sentences", "Sentences processed.", ["model"], registry=self._registry)
        self._words = Counter("mh4_words", "Words processed.", ["model"], registry=self._registry)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.monotonic(), 0
        facts: dict[str, Any] = {}
        scope.setdefault("state", {}).update(facts=facts, metrics=self.metrics)

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except asyncio.CancelledError:  # a second signal ends the server without waiting for answers
            if not status:
                await PlainTextResponse("the server has ended\n", 503)(scope, receive, noting)
        finally:
            self._note(scope, status, time.monotonic() - began, facts)

    def _note(self, scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        code = str(status) if status else "none"  # the client did not wait
        self._requests.labels(path, code).inc()
        self._seconds.labels(path).observe(seconds)
        if "words" in facts:
            self._sentences.labels(facts["model"]).inc(facts["sentences"])
            self._words.labels(facts["model"]).inc(facts["words"])
        asked = {name: cut(scope[name], _LONGEST) for name in ("method", "path")}
        about = {"client": (scope.get("client") or [None])[0], **asked, "status": status}
        LOG.info("request", extra={"facts": {**about, "seconds": round(seconds, 4), **facts}})

    def metrics(self) -> bytes:
        """Return all counts, in the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Any]:
        """Yield the numbers of processes and waiting requests at the moment, whenever Prometheus requests them."""
        workers = self._workers
        yield GaugeMetricFamily("mh4_workers", "Processes that parse.", value=workers.size)
        yield GaugeMetricFamily("mh4_workers_busy", "Processes that are parsing, or starting.", value=workers.busy)
        yield GaugeMetricFamily("mh4_requests_waiting", "Requests in the queue.", value=workers.waiting)
        yield CounterMetricFamily("mh4_workers_started", "Processes started, also in place of others.", value=workers.started)
