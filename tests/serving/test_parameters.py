"""Parse the bodies of requests: forms and JSON, well-formed or not."""

import asyncio
import json
import threading

import pytest
from asking import FORM
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request

from mh4.serving import parameters as module
from mh4.serving.parameters import parameters
from mh4.serving.tasks import PARAMETERS, SWITCHES

MULTIPART = "multipart/form-data; boundary=XX"


def received(body, kind, query=b"", chunks=1, late=False, most_bytes=10**6, encoding="", seconds=60):
    """Return the parameters of a request whose body arrives in this many chunks."""
    size = len(body) // chunks + 1
    parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
    messages = [{"type": "http.request", "body": part, "more_body": late or part is not parts[-1]} for part in parts]

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": query}
    scope["headers"] = [(b"content-type", kind.encode("latin-1"))] if kind else []
    scope["headers"] += [(b"content-encoding", encoding.encode())] if encoding else []
    return asyncio.run(parameters(Request(scope, receive), most_bytes, 0.01 if late else seconds))


def multipart(pairs, filename=""):
    head = '--XX\r\nContent-Disposition: form-data; name="%s"' + filename + "\r\n\r\n%s\r\n"
    return ("".join(head % pair for pair in pairs.items()) + "--XX--\r\n").encode()


def refused(status, body, kind, **options):
    with pytest.raises(HTTPException) as error:
        received(body, kind, **options)
    assert error.value.status_code == status
    return error.value.detail


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS, st.integers(1, 3))
def test_all_say_the_same(data, chunks):
    from urllib.parse import urlencode

    pairs = {"data": data, "parser": ""}
    form = urlencode(pairs).encode()
    assert received(form, FORM, chunks=chunks) == received(b"", "", form) == pairs
    assert received(json.dumps(pairs).encode(), "application/json", chunks=chunks) == pairs
    assert received(json.dumps({**pairs, "parser": True, "tagger": None}).encode(), "Application/JSON; charset=utf-8") == pairs
    if "--XX" not in data:
        for filename in ("", '; filename="../x"'):
            assert received(multipart(pairs, filename), MULTIPART, chunks=chunks) == pairs


def test_what_curl_sends():
    """UTF-8 may be unescaped, a name without a value has an empty one, and the body overrides the address."""
    assert received("tokenizer=&data=Děti+%2B a".encode(), FORM) == {"tokenizer": "", "data": "Děti + a"}
    assert received(b"data=x", FORM, b"tokenizer&data=y") == {"tokenizer": "", "data": "x"}


def test_what_is_malformed():
    assert refused(400, b"data=%ff", FORM) == refused(400, b"data=\xff", FORM) == "the form is not UTF-8"
    assert refused(400, b"", "", query=b"data=%ff") == "the address is not UTF-8"
    assert refused(400, b"&".join(b"a=1" for _ in range(101)), FORM) == "the form has more than 100 parameters"
    for filename in ("", '; filename="f"'):
        many = multipart({str(k): "" for k in range(101)}, filename)
        assert refused(400, many, MULTIPART) == "the form has more than 100 parameters"
    for body in (b"", b"x", multipart({"data": "x"})[:-6], b"--XX\r\n\r\nx\r\n--XX--\r\n"):
        assert refused(400, body, MULTIPART) == "the form is malformed or incomplete, expected multipart/form-data"
    assert refused(400, multipart({"data": "x"}), "multipart/form-data").startswith("the form is malformed")
    assert refused(400, multipart({"data": "x"}).replace(b"x", b"\xff"), MULTIPART) == "the form is not UTF-8"
    for body in (b"{", b"\xff", b"[" * 100_000, b""):
        assert refused(400, body, "application/json") == "the body cannot be read as JSON in UTF-8"
    assert refused(400, b"[]", "application/json") == "the body is JSON, but not an object of parameters"
    for name in PARAMETERS:
        for value in (1, 0.5, [], {}, True, False):
            allowed = {"best": (int, float)} | dict.fromkeys((*SWITCHES, "tokenizer"), (bool,))
            if type(value) not in allowed.get(name, ()):
                assert refused(400, json.dumps({name: value}).encode(), "application/json") == name + " is not a string"
    values = {"tokenizer": True, "parser": True, "tagger": False, "data": "x", "model": None, "best": -12}
    expected = {"tokenizer": "", "parser": "", "data": "x", "best": "-12"}
    assert received(json.dumps(values).encode(), "application/json") == expected
    assert refused(400, b'{"data": "\\ud800"}', "application/json") == "data has half a surrogate pair, which is no character"
    for value, text in ((3, "3"), (3.0, "3"), (2.5, "2.5"), (10**400, "1" + "0" * 400), (float("inf"), "inf")):
        assert received(json.dumps({"best": value}).encode(), "application/json") == {"best": text}
    assert refused(415, b"x", "text/html").startswith("the content type of the request is none of ")


@pytest.mark.parametrize("encoding", ["gzip", "br", "x"])
def test_a_compressed_body_is_refused(encoding):
    assert received(b"data=x", FORM, encoding="identity") == {"data": "x"}
    sentence = "the body is compressed ('%s'), expected it as it is" % encoding
    assert refused(415, b"\x1f\x8b", FORM, encoding=encoding) == sentence


def test_what_is_given_twice():
    """A parameter given twice in one place is rejected, because one of its values would be lost."""
    once = "'data' is given more than once"
    assert refused(400, b"data=x&data=y", FORM) == refused(400, b"", "", query=b"data=x&data=y") == once
    assert refused(400, multipart({"data": "x"})[:-8] + multipart({"data": "y"}), MULTIPART) == once
    assert refused(400, b'{"data": "x", "data": "y"}', "application/json") == once


def test_what_is_too_large_or_too_slow():
    assert refused(413, b"data=xxx", FORM, most_bytes=7) == "a request may have up to 7 bytes: send several"
    assert received(b"data=xxx", FORM, most_bytes=8) == {"data": "xxx"}
    assert refused(408, b"data=", FORM, late=True) == "the request did not arrive within 0.01 seconds"


def test_a_body_is_decoded_in_a_thread(monkeypatch):
    """Bodies are decoded in a thread, so that other requests are answered meanwhile, and within limited time."""
    ended = threading.Event()
    monkeypatch.setattr(module, "_parsed", lambda *body: {"data": str(ended.wait(1))})
    assert refused(504, b"x", FORM, seconds=0.01) == "this took more than 0.01 seconds: send fewer or shorter sentences"
    ended.set()
    assert received(b"x", FORM) == {"data": "True"}


def test_only_data_is_long():
    """Only data may be long: comparing a long unknown name with all known names would take long."""
    for pairs in ({"a;" * 501: ""}, {"data": "x", "model": "a;" * 501}):
        for body, kind in ((json.dumps(pairs).encode(), "application/json"), (multipart(pairs), MULTIPART)):
            assert refused(400, body, kind).endswith(" has more than 1000 characters")
    assert refused(400, b"", "", query=b"a" * 1001).startswith("a parameter, 'aaa")
    assert received(b"data=" + b"x" * 1001, FORM, b"model=" + b"x" * 1000) == {"data": "x" * 1001, "model": "x" * 1000}


@given(
    st.binary(),
    st.sampled_from([FORM, MULTIPART, "multipart/form-data", "application/json", "", "x", "\xe9"]),
    st.binary(max_size=9),
)
def test_anything_is_understood_or_refused(body, kind, query):
    try:
        found = received(body, kind, query)
    except HTTPException as error:
        assert 400 <= error.status_code < 500 and "\n" not in error.detail
    else:
        assert all(isinstance(text, str) for pair in found.items() for text in pair)
