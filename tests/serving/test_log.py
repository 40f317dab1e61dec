"""The log of the server: lines of JSON without control characters, shortened, and counted if repeated."""

import io
import json
import logging
import warnings

import pytest
from asking import ask, served

from mh4.serving import log_and_metrics
from mh4.serving.log_and_metrics import LOG, logging_to


@pytest.fixture
def lines():
    """A function that returns the lines of the log that this test has written."""
    stream = io.StringIO()

    def read():
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    read.text = stream.getvalue
    with logging_to(stream):
        yield read


def test_no_character_of_a_client_controls_a_terminal(lines):
    """Control characters of clients are escaped in the log, and stay escaped when its JSON is decoded."""
    LOG.info("request", extra={"facts": {"path": "/\x9b2J\x7f\u202e\u2028\u2029\u2066é"}})
    assert lines()[0]["path"] == r"/\x9b2J\x7f\u202e\u2028\u2029\u2066é"
    assert lines.text().rstrip("\n").isprintable()


def test_what_a_client_makes_long_is_cut_off(lines):
    """Long methods and paths are cut off in the log, also of requests with a foreign host."""
    for host, status in (("localhost", 404), ("evil.example", 421)):
        assert ask(served({"toy": []}), "/" + "x" * 10**6, host=host, method="M" * 10**6)[0] == status
    assert {(line["method"], line["path"]) for line in lines()} == {("M" * 100 + "...", "/" + "x" * 99 + "...")}


def test_libraries_use_the_same_log(lines):
    logging.getLogger("asyncio").error("no more\nfiles")
    logging.getLogger("uvicorn.error").warning("invalid")
    logging.getLogger("uvicorn.error").info("ready")
    logging.getLogger("python_multipart.multipart").warning("no boundary")
    warnings.warn("soon", RuntimeWarning, stacklevel=1)
    assert [line["event"].split(": ")[-1].split("\n")[0] for line in lines()] == ["no more", "invalid", "soon"]


def test_what_is_repeated_is_counted(lines, monkeypatch):
    def fail(times):
        for number in range(times):
            LOG.info("request", extra={"facts": {"number": number}})
            for name in ("a", "b"):
                try:
                    raise OSError(name)
                except OSError:
                    logging.getLogger("asyncio").exception("failed")

    fail(3)
    errors = [line for line in lines() if line["level"] == "error"]
    assert len(lines()) == 5 and [error["traceback"][-1] for error in errors] == ["a", "b"]
    monkeypatch.setattr(log_and_metrics, "_SECONDS", -1)
    LOG.info("request")
    assert [line.get("repeated") for line in lines()[5:]] == [2, 2, None] and lines()[5]["traceback"] == errors[0]["traceback"]


def test_what_is_still_counted_is_written_at_the_end():
    stream = io.StringIO()
    with logging_to(stream):
        for number in range(2500):
            LOG.warning("warning", extra={"facts": {"text": str(number // 2)}})
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(lines) == 2501 and all(line.get("repeated", 1) == 1 for line in lines) and lines[-1]["event"] == "ended"
