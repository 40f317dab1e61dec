"""Define the routes of the server and their responses.

These are UDPipe's REST API (/models, /process), the page (/, with /view and /download for its form), the page to
correct trees (/annotate, with /file), /health and /metrics. Every error response is a status and one sentence, as text.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mh4.errors import InputError, OutOfMemory, one_line, shown
from mh4.serving import answering
from mh4.serving.answering import Answer, TooManyWords
from mh4.serving.correcting import Correcting
from mh4.serving.hosts import Hosts, is_from_elsewhere
from mh4.serving.log_and_metrics import LOG, Observed
from mh4.serving.parameters import LEAST_BYTES, parameters, too_long
from mh4.serving.queue import Busy, TooLong, Workers
from mh4.serving.tasks import CONLLU, PAGE, SVG, Abilities, Task, task
from mh4.util.processes import Killed

_BYTES_PER_WORD = 300  # limits the body of a request: a line of CoNLL-U with many features has 200
_RETRY_AFTER = 5  # seconds
ANNOTATING = "mh4.annotating"  # the package with the page to correct trees, at /annotate
_WHOLE = re.compile("https?://([^/]*)(/.*)?", re.IGNORECASE | re.DOTALL)  # a full URL, with the name of the server
_ACKNOWLEDGEMENT = "https://aclanthology.org/P18-1248"

# The page loads its script and style from files, and shows /view in a frame. /view contains its script and style.
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; frame-src 'self'; connect-src 'self'; "
_POLICY += "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_POLICY_OF_VIEW = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
_POLICY_OF_VIEW += "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"


@dataclass(frozen=True)
class Limits:
    """Limits of requests.

    words: the most words in a request. seconds: the time limit for each step of a request: to arrive, to be decoded, to
    wait in the queue, and to be parsed. waiting: how many requests may wait in the queue.
    """

    words: int = 10_000
    seconds: float = 60
    waiting: int = 100


def application(
    workers: Workers, abilities: Abilities, limits: Limits, hosts: Hosts, correcting: Correcting | None = None
) -> Observed:
    """Return the ASGI application.

    abilities: the abilities of each model that the workers have loaded. hosts: the host names of the server.
    correcting: the endpoint for the file to correct, if there is one.
    """
    endpoints = _Endpoints(workers, abilities, limits)
    both = ["GET", "POST"]
    routes = [
        _page("/", abilities, limits),
        *(_part("/", name) for name in ("page.js", "page.css")),
        _page("/annotate", abilities, limits, ANNOTATING),
        *(_part("/annotate/", name, ANNOTATING) for name in ("conllu.js", "tree.js", "page.js", "page.css")),
        Route("/models", endpoints.models),
        Route("/process", endpoints.process, methods=both),
        Route("/view", endpoints.view, methods=both),
        Route("/download", endpoints.download, methods=both),
        Route("/health", endpoints.health),
        Route("/metrics", endpoints.metrics),
        *([Route("/file", correcting.file, methods=both)] if correcting else []),
    ]
    handlers: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
        HTTPException: _refusal,
        ClientDisconnect: _nobody_there,
        Exception: _failure,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False

    async def asked_by_name(scope: Scope, receive: Receive, send: Send) -> None:
        header = Headers(scope=scope).get("host")
        if whole := _WHOLE.fullmatch(scope["path"]):  # proxies send it, and servers must accept it (RFC 9112)
            header, scope["path"] = whole[1], whole[2] or "/"
        if hosts.has(header) or header is None and scope["http_version"] == "1.0":  # browsers always send the header
            return await app(scope, receive, send)
        sentence = "this server has no name %s; to add it, start it with --host-name" % shown(header or "")
        await PlainTextResponse(sentence + "\n", 421)(scope, receive, send)

    return Observed(asked_by_name, workers, [route.path for route in routes])


class _Endpoints:
    def __init__(self, workers: Workers, abilities: Abilities, limits: Limits) -> None:
        self._workers, self._abilities, self._limits = workers, abilities, limits

    async def models(self, request: Request) -> Response:
        return JSONResponse({"models": self._abilities, "default_model": next(iter(self._abilities))})

    async def process(self, request: Request) -> Response:
        asked = await self._parameters(request)
        wanted, answer = await self._answer(request, asked)
        return JSONResponse({"model": wanted.models[0], "acknowledgements": [_ACKNOWLEDGEMENT], "result": answer.result})

    async def view(self, request: Request) -> Response:
        """Return the trees as `mh4 view --html` draws them."""
        _, answer = await self._answer_form(request, PAGE)
        return HTMLResponse(answer.result, headers={"Content-Security-Policy": _POLICY_OF_VIEW, "Cache-Control": "no-store"})

    async def download(self, request: Request) -> Response:
        """Return the result as a file."""
        wanted, answer = await self._answer_form(request, CONLLU, SVG)
        kind, name = ("image/svg+xml", "trees.svg") if wanted.output == SVG else ("text/plain", "trees.conllu")
        headers = {"Content-Disposition": 'attachment; filename="%s"' % name, "Content-Security-Policy": "default-src 'none'"}
        return Response(answer.result, media_type=kind, headers=headers)

    async def health(self, request: Request) -> Response:
        workers = self._workers
        counts = {name: getattr(workers, name) for name in ("busy", "waiting", "started")}
        return JSONResponse({"status": "ok", "workers": workers.size, **counts})

    async def metrics(self, request: Request) -> Response:
        return Response(request.state.metrics(), media_type=CONTENT_TYPE_LATEST)

    async def _parameters(self, request: Request) -> dict[str, str]:
        if is_from_elsewhere(request.headers):  # such a page could fill the queue
            raise HTTPException(403, "a page from elsewhere cannot have anything parsed")
        most_bytes = max(LEAST_BYTES, self._limits.words * _BYTES_PER_WORD)
        return await parameters(request, most_bytes, self._limits.seconds)

    async def _answer_form(self, request: Request, *outputs: str) -> tuple[Task, Answer]:
        """Return the task and the answer for the page's form, which always requests all that the models can do.

        outputs: the allowed output formats, the default first.
        """
        asked = await self._parameters(request)
        for name, values in {"tagger": ("",), "parser": ("",), "confidence": ("",), "output": outputs}.items():
            if asked.setdefault(name, values[0]) not in values:
                raise HTTPException(400, "%s is %s, which cannot be chosen at this address" % (name, shown(asked[name])))
        if "data" in asked:
            asked["data"] = asked["data"].replace("\r\n", "\n")  # browsers end the lines of a form with CRLF
        return await self._answer(request, asked, if_possible=True)

    async def _answer(self, request: Request, asked: dict[str, str], if_possible: bool = False) -> tuple[Task, Answer]:
        limits = self._limits
        try:
            wanted = task(asked, self._abilities, if_possible)
            request.state.facts["model"] = "+".join(wanted.models)
            answer: Answer = await _unless_gone(request, self._workers.call(answering.answer, wanted, limits.words))
        except (TooManyWords, OutOfMemory) as error:
            raise HTTPException(413, str(error)) from None
        except InputError as error:
            raise HTTPException(400, str(error)) from None
        except Busy:
            later = {"Retry-After": str(_RETRY_AFTER)}
            raise HTTPException(503, "too many requests are waiting: try again later", later) from None
        except TooLong:
            raise HTTPException(504, too_long(limits.seconds)) from None
        except (Killed, MemoryError):
            sentence = "the process that parses was killed, perhaps because memory ran out: send shorter sentences"
            raise HTTPException(500, sentence) from None
        request.state.facts.update(sentences=answer.sentences, words=answer.words)
        for text in answer.warnings:
            LOG.warning("warning", extra={"facts": {"text": text}})
        return wanted, answer


async def _unless_gone(request: Request, work: Any) -> Any:
    """Return the result of the work. Cancel it if the client closes the connection, to free its place in the queue."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _refusal(request: Request, error: HTTPException) -> Response:
    sentences = {404: "there is nothing at this address", 405: "this address does not take this method"}  # Starlette's own errors
    sentence = sentences.get(error.status_code, one_line(error.detail))
    return PlainTextResponse(sentence + "\n", error.status_code, error.headers)


async def _nobody_there(request: Request, error: ClientDisconnect) -> Response:
    request.state.facts["gone"] = True
    return Response(status_code=499)  # nginx's code for this case; nobody reads the response


async def _failure(request: Request, error: Exception) -> Response:
    return PlainTextResponse("this is an error of the server, which its log describes\n", 500)


def _page(path: str, abilities: Abilities, limits: Limits, package: str = "mh4.serving") -> Route:
    options = "".join("<option>%s</option>" % escape(name) for name in abilities)
    text = _file("page.html", package).replace("{{models}}", options)
    text = text.replace("{{most words}}", str(limits.words)).replace("{{too many words}}", answering.too_many(limits.words))
    can_split = "tokenizer" in next(iter(abilities.values()))
    text = text.replace("{{without tokenizer}}", "" if can_split else " selected")
    # Without the second header, a foreign page that opens this one could have one text after another parsed in it.
    headers = {"Content-Security-Policy": _POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
    return Route(path, lambda request: HTMLResponse(text, headers=headers))


def _part(folder: str, name: str, package: str = "mh4.serving") -> Route:
    """Return the route of a script or style of a page."""
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Route(folder + name, lambda request: Response(_file(name, package), media_type=kind))


def _file(name: str, package: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
