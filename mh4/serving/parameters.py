"""Read the parameters of a request from its URL and from its body, which is a form or JSON.

No files are read or written, and the names of uploaded files are ignored.
"""

import asyncio
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import Request

from mh4.data.cells import SURROGATE
from mh4.errors import counted, shown
from mh4.serving.tasks import SWITCHES

_URLENCODED, _MULTIPART, _JSON = "application/x-www-form-urlencoded", "multipart/form-data", "application/json"
_MOST = 100  # parameters of a request
_LONGEST = 1000  # characters of a name or a value; the value of "data" may be longer
_ADDRESS = 1 << 16  # bytes of parameters in a URL
LEAST_BYTES = 1 << 16  # every request may have a body of this size
_MORE = 10  # a body that is too large is read up to this many times the allowed size


async def parameters(request: Request, most_bytes: int, seconds: float) -> dict[str, str]:
    """Return the parameters of a request. Those in the body override those in the URL.

    Raises HTTPException, with a message for the user, if something is malformed or too long, if the body has more than
    `most_bytes`, and if receiving the body, or then decoding it, takes more than `seconds`.
    """
    if len(request.scope["query_string"]) > _ADDRESS:
        raise HTTPException(414, "an address may have up to %d bytes: send the data by POST" % _ADDRESS)
    found = _form(request.scope["query_string"], "the address")
    content = await body(request, most_bytes, seconds)
    if (encoding := request.headers.get("content-encoding", "identity")).lower() != "identity":
        raise HTTPException(
            415, "the body is compressed (%s), expected it as it is" % shown(encoding), {"Accept-Encoding": "identity"}
        )
    if content or request.method != "GET" and request.headers.get("content-type"):
        try:
            async with asyncio.timeout(seconds):  # in a thread, so that other requests are answered meanwhile
                found.update(await asyncio.to_thread(_parsed, content, request.headers.get("content-type", "")))
        except TimeoutError:
            raise HTTPException(504, too_long(seconds)) from None
    for name, value in found.items():
        if len(name) > _LONGEST or name != "data" and len(value) > _LONGEST:
            raise HTTPException(400, "a parameter, %s, has more than %d characters" % (shown(name), _LONGEST))
        if SURROGATE.search(value):  # JSON can have them
            raise HTTPException(400, "%s has half a surrogate pair, which is no character" % name[:20])
    return found


def late(seconds: float) -> str:
    """Return the message for a request that has not arrived within `seconds`."""
    return "the request did not arrive within %s" % counted(seconds, "second", "g")


def too_long(seconds: float) -> str:
    """Return the message for a request that was not decoded or parsed within `seconds`."""
    return "this took more than %s: send fewer or shorter sentences" % counted(seconds, "second", "g")


async def body(request: Request, most_bytes: int, seconds: float) -> bytes:
    """Return the body of a request. Raises HTTPException if the body is too large or too slow.

    If the body is too large, more of it is read and dropped: a client that is still sending might miss the answer.
    """
    found, size = bytearray(), 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= most_bytes:
                    found += chunk
                elif size > _MORE * most_bytes:
                    break
    except TimeoutError:
        raise HTTPException(408, late(seconds), {"Connection": "close"}) from None
    if size > most_bytes:
        raise HTTPException(413, "a request may have up to %d bytes: send several" % most_bytes)
    return bytes(found)


def _parsed(body: bytes, content_type: str) -> dict[str, str]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _URLENCODED:
        return _form(body, "the form")
    if kind == _MULTIPART:
        return _multipart(body, content_type)
    if kind == _JSON:
        return _json(body)
    raise HTTPException(415, "the content type of the request is none of %s, %s and %s" % (_URLENCODED, _MULTIPART, _JSON))


def _form(text: bytes, where: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(text.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MOST)
    except UnicodeDecodeError:
        raise HTTPException(400, "%s is not UTF-8" % where) from None
    except ValueError:
        raise HTTPException(400, "%s has more than %d parameters" % (where, _MOST)) from None
    return _each_once(pairs)


def _each_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs by name. Raises HTTPException if a name is given twice, since one of its values would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise HTTPException(400, "%s is given more than once" % shown(name))
        found[name] = value
    return found


def _multipart(body: bytes, content_type: str) -> dict[str, str]:
    found: list[tuple[str, bytes]] = []
    ends: list[bool] = []

    def add(name: bytes | None, value: bytes | None) -> None:
        if len(found) == _MOST:
            raise HTTPException(400, "the form has more than %d parameters" % _MOST)
        found.append(((name or b"").decode("utf-8", "replace"), value or b""))

    def field(field: Field) -> None:
        add(field.field_name, field.value)

    def file(file: File) -> None:
        file.file_object.seek(0)
        add(file.field_name, file.file_object.read())
        file.close()

    try:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        in_memory = {"MAX_MEMORY_FILE_SIZE": len(body) + 1}
        parser = FormParser(_MULTIPART, field, file, lambda: ends.append(True), boundary, config=in_memory)
        parser.write(body)
        parser.finalize()
    except (FormParserError, ValueError, AssertionError):
        ends.clear()
    if not ends:
        raise HTTPException(400, "the form is malformed or incomplete, expected multipart/form-data")
    try:
        return _each_once((name, value.decode("utf-8")) for name, value in found)
    except UnicodeDecodeError:
        raise HTTPException(400, "the form is not UTF-8") from None


def _json(body: bytes) -> dict[str, str]:
    """Return the parameters in a JSON object. Values are strings; a parameter that is null counts as missing.

    Switches and "tokenizer" may also be true (an empty string) or false (missing). "best" may also be a number.
    """
    try:
        given = json.loads(body, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body cannot be read as JSON in UTF-8") from None
    if not isinstance(given, dict):
        raise HTTPException(400, "the body is JSON, but not an object of parameters")
    found = {}
    for name, value in given.items():
        if isinstance(value, bool) and name in (*SWITCHES, "tokenizer"):
            value = "" if value else None
        elif name == "best" and type(value) in (int, float):
            value = str(int(value) if value % 1 == 0 else value)  # 3.0 is the number 3
        if not isinstance(value, str | None):
            raise HTTPException(
                400, "%s is not a string" % (name[:20].encode("ascii", "backslashreplace").decode() or "a parameter")
            )
        if value is not None:
            found[name] = value
    return found
